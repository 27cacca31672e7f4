DELETE FROM journal WHERE turn = ?;
