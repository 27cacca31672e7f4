SELECT id, agent, host, created_wall_ns, head, settings, deleted, open_turn, key FROM session WHERE id = ?;
