SELECT session, min(sequence) FROM (
    SELECT session.id AS session, work.sequence AS sequence
    FROM session
    INNER JOIN turn ON turn.id = session.open_turn
    INNER JOIN work ON work.id = turn.work
    WHERE session.open_turn IS NOT NULL
        AND session.deleted = 0
        AND (:agents IS NULL OR session.agent IN (SELECT value FROM json_each(:agents)))
        AND (:host IS NULL OR session.host = :host)
    UNION ALL
    SELECT work.session, work.sequence
    FROM work
    INNER JOIN session ON session.id = work.session
    WHERE work.state = 'pending'
        AND work.active_turn IS NULL
        AND work.available_at <= :now
        AND session.deleted = 0
        AND (:agents IS NULL OR session.agent IN (SELECT value FROM json_each(:agents)))
        AND (:host IS NULL OR session.host = :host)
)
GROUP BY session
HAVING min(sequence) > :after
ORDER BY 2
LIMIT :limit;
