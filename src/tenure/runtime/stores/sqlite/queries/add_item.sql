INSERT INTO item (session, number, call, body) VALUES (?, ?, ?, ?);
