SELECT body FROM proof
WHERE repository = :repository AND candidate = :candidate
ORDER BY sequence DESC
LIMIT 1;
