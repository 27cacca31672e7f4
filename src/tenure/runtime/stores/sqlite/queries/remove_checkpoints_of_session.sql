DELETE FROM checkpoint WHERE session = ?;
