SELECT entries FROM journal WHERE turn = ? AND position >= ? ORDER BY position;
