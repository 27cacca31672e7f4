INSERT OR IGNORE INTO checkpoint_write (session, ns, checkpoint, task, place, path, channel, kind, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);
