SELECT call FROM item WHERE session = ? AND number = ?;
