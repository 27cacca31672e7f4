DELETE FROM item WHERE session = ? AND number >= ?;
