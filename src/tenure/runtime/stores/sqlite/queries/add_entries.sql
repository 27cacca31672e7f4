INSERT INTO journal (turn, position, entries) VALUES (?, ?, ?);
