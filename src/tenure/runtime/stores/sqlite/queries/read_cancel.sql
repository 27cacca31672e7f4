SELECT reason FROM turn_cancel WHERE turn = ?;
