SELECT body FROM proof
WHERE repository = :repository AND tree = :tree
ORDER BY sequence DESC;
