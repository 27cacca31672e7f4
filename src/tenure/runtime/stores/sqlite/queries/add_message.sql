INSERT INTO message (session, number, turn, body) VALUES (:session, :number, :turn, :body);
