SELECT body, key FROM program WHERE digest = ?;
