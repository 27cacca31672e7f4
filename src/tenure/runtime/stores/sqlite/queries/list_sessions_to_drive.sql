WITH due (session, sequence) AS (
    SELECT work.session, work.sequence
    FROM work
    INNER JOIN session ON session.key = work.session
    WHERE work.state < 2
        AND (
            work.state = 1
            AND work.active_turn IS NULL
            AND work.available_at <= :now
            AND session.open_turn IS NULL
            OR session.open_turn = 'turn-' || work.id
        )
    UNION ALL
    SELECT session, turn FROM wait WHERE blocking = 1 AND word IS NOT NULL
    UNION ALL
    SELECT session, turn FROM wait WHERE blocking = 1 AND word IS NULL AND due_at <= :now
)

SELECT session.id, min(due.sequence) AS since
FROM due
INNER JOIN session ON session.key = due.session
WHERE session.deleted = 0
    AND (:agents IS NULL OR session.agent IN (SELECT value FROM json_each(:agents)))
    AND (:host IS NULL OR session.host = :host)
GROUP BY due.session
HAVING since > :after
ORDER BY since
LIMIT :limit;
