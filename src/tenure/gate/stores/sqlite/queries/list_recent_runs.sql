SELECT body FROM run
WHERE repository = :repository
ORDER BY started_wall_ns DESC, id DESC
LIMIT :limit;
