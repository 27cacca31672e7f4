DELETE FROM checkpoint_write WHERE session = ? AND ns = ? AND checkpoint = ?;
