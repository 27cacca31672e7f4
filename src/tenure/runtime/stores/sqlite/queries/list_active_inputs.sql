SELECT id, session, sequence, kind, content, content_hash, source_key, program, active_turn, active_boundary, available_at, state, turn FROM work
WHERE session = :session AND state = 'pending' AND active_turn = :turn
ORDER BY sequence;
