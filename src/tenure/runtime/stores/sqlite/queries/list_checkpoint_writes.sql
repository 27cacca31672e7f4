SELECT task, path, place, channel, kind, body FROM checkpoint_write WHERE session = ? AND ns = ? AND checkpoint = ? ORDER BY path, task, place;
