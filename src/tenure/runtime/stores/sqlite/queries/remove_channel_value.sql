DELETE FROM channel_value WHERE session = ? AND ns = ? AND channel = ? AND version = ?;
