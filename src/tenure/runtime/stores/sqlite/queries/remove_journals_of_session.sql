DELETE FROM journal WHERE turn IN (SELECT id FROM turn WHERE session = :session);
