SELECT wait.id, session.id, 'turn-' || work.id, wait.name, wait.asked, wait.created_wall_ns, wait.due_at, wait.blocking, wait.word, wait.value, wait.resolved_wall_ns
FROM wait
INNER JOIN session ON session.key = wait.session
INNER JOIN work ON work.sequence = wait.turn
WHERE wait.session = ? AND wait.word IS NULL AND wait.id > ?
ORDER BY wait.id
LIMIT ?;
