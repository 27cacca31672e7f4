DELETE FROM journal WHERE turn = :turn;
