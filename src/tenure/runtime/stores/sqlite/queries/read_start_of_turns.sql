SELECT opened_at_head FROM turn
WHERE session = :session AND state = 'committed'
ORDER BY opened_at_head DESC
LIMIT 1 OFFSET :turns - 1;
