DELETE FROM work WHERE session = ?;
