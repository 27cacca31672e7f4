DELETE FROM turn_cancel WHERE turn = ?;
