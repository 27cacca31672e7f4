SELECT id FROM work WHERE session = ?;
