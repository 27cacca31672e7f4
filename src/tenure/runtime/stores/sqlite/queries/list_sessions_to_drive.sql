SELECT session.id, min(work.sequence) AS since
FROM work
INNER JOIN session ON session.key = work.session
WHERE work.state < 2
    AND (
        work.state = 1 AND work.active_turn IS NULL AND work.available_at <= :now
        OR session.open_turn = 'turn-' || work.id
    )
    AND session.deleted = 0
    AND (:agents IS NULL OR session.agent IN (SELECT value FROM json_each(:agents)))
    AND (:host IS NULL OR session.host = :host)
GROUP BY work.session
HAVING since > :after
ORDER BY since
LIMIT :limit;
