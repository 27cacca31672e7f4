INSERT INTO session (id, agent, host, created_wall_ns, head, settings, deleted, open_turn) VALUES (?, ?, ?, ?, ?, ?, ?, ?);
