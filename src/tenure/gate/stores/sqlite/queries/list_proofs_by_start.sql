SELECT body FROM proof
WHERE repository = :repository AND substr(id, 1, :length) = :start
ORDER BY sequence DESC
LIMIT 2;
