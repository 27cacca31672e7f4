SELECT body FROM proof WHERE repository = :repository ORDER BY sequence DESC;
