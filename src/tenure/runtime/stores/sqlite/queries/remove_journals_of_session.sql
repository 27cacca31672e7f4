DELETE FROM journal WHERE turn IN (SELECT sequence FROM work WHERE session = ? AND state IN (0, 3));
