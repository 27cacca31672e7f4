INSERT INTO channel_value (session, ns, channel, version, kind, body) SELECT ?2, ns, channel, version, kind, body FROM channel_value WHERE session = ?1 ORDER BY id;
