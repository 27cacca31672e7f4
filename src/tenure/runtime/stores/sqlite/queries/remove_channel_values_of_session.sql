DELETE FROM channel_value WHERE session = ?;
