SELECT sequence, body FROM receipt
WHERE repository = :repository AND identity = :identity
ORDER BY sequence DESC
LIMIT 1;
