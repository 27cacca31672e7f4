SELECT sequence, body FROM receipt
WHERE repository = :repository AND requirement = :requirement
ORDER BY sequence DESC
LIMIT 1;
