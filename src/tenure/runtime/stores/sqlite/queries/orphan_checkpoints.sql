UPDATE checkpoint SET parent = NULL WHERE session = ? AND ns = ? AND parent = ?;
