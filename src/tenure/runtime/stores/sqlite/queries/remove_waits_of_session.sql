DELETE FROM wait WHERE session = ?;
