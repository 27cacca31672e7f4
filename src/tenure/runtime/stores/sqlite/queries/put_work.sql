INSERT INTO work (id, session, sequence, kind, content, content_hash, source_key, program, active_turn, active_boundary, available_at, state, turn)
VALUES (:id, :session, :sequence, :kind, :content, :content_hash, :source_key, :program, :active_turn, :active_boundary, :available_at, :state, :turn)
ON CONFLICT (id) DO UPDATE SET
    program = excluded.program,
    active_turn = excluded.active_turn,
    active_boundary = excluded.active_boundary,
    state = excluded.state,
    turn = excluded.turn;
