SELECT session, min(sequence) FROM (
    SELECT session.id AS session, work.sequence AS sequence
    FROM session
    INNER JOIN turn ON turn.id = session.open_turn
    INNER JOIN work ON work.id = turn.work
    WHERE session.open_turn IS NOT NULL AND session.deleted = 0
    UNION ALL
    SELECT work.session, work.sequence
    FROM work
    INNER JOIN session ON session.id = work.session AND session.deleted = 0
    WHERE work.state = 'pending'
        AND work.active_turn IS NULL
        AND work.program IS NOT NULL
        AND work.available_at <= :now
)
GROUP BY session
ORDER BY 2
LIMIT :limit;
