SELECT number, body FROM item WHERE session = ? ORDER BY number DESC LIMIT ?;
