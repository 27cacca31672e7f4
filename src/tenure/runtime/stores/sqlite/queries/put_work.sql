UPDATE work SET
    state = ?,
    program = ?,
    active_turn = ?,
    active_boundary = ?,
    turn = ?,
    cancelled_wall_ns = ?
WHERE sequence = ?;
