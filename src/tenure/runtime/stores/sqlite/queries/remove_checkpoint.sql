DELETE FROM checkpoint WHERE number = ?;
