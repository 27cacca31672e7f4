SELECT ended_at_head FROM turn
WHERE session = ?
ORDER BY ended_at_head DESC
LIMIT 1 OFFSET ?;
