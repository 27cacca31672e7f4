DELETE FROM checkpoint_write WHERE session = ?;
