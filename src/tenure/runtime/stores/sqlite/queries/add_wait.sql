INSERT INTO wait (id, session, turn, name, asked, created_wall_ns, due_at, blocking, word, value, resolved_wall_ns)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
