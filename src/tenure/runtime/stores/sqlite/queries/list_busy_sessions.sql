-- In this order, because little is to be done and sessions are many.
SELECT DISTINCT session.id
FROM work
CROSS JOIN session ON session.key = work.session
WHERE work.state < 2
    AND (work.state = 1 OR session.open_turn = 'turn-' || work.id)
    AND session.id > ?
ORDER BY session.id
LIMIT ?;
