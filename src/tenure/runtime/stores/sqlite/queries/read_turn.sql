SELECT
    session.id,
    work.id,
    program.digest,
    coalesce(turn.opened_at_head, session.head),
    session.drives,
    session.recorded,
    session.claim,
    work.state,
    turn.receipt,
    turn.committed_wall_ns,
    turn.ending
FROM work
INNER JOIN session ON session.key = work.session
LEFT JOIN program ON program.key = work.program
LEFT JOIN turn ON turn.work = work.sequence
WHERE work.id = ? AND (turn.work IS NOT NULL OR session.open_turn = 'turn-' || work.id);
