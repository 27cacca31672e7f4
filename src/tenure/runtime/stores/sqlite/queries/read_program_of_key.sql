SELECT digest FROM program WHERE key = ?;
