SELECT entries FROM journal WHERE turn = ? ORDER BY position;
