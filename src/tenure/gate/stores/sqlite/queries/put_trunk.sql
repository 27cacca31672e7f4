INSERT INTO trunk (ref) VALUES (:ref);
