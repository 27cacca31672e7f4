SELECT body FROM run ORDER BY started_wall_ns DESC, id DESC;
