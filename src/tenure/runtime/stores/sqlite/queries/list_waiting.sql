SELECT id, session, sequence, kind, content, content_hash, source_key, available_at, state, program, active_turn, active_boundary, turn, cancelled_wall_ns
FROM work
WHERE session = ? AND state < 2 AND state = 1
ORDER BY sequence
LIMIT ?;
