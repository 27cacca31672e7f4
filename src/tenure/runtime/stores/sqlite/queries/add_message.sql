INSERT INTO message (body) VALUES (?);
