DELETE FROM turn_cancel WHERE turn IN (SELECT 'turn-' || id FROM work WHERE session = ?);
