INSERT INTO work (sequence, id, session, kind, content, content_hash, source_key, available_at, state, program, active_turn, active_boundary, turn, cancelled_wall_ns)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
