DELETE FROM turn WHERE session = ?;
