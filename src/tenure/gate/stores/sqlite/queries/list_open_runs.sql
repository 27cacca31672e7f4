SELECT body FROM run
WHERE repository = :repository AND ended = 0
ORDER BY started_wall_ns DESC, id DESC;
