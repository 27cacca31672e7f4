SELECT id FROM session WHERE key = ?;
