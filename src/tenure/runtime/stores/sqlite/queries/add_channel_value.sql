INSERT OR IGNORE INTO channel_value (session, ns, channel, version, kind, body) VALUES (?, ?, ?, ?, ?, ?);
