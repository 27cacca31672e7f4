SELECT id, agent, host, head, open_turn, settings, created_wall_ns, deleted FROM session WHERE id = :id;
