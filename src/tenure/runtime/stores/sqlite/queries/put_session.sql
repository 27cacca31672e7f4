UPDATE session SET head = ?, settings = ?, deleted = ?, open_turn = ? WHERE key = ?;
