INSERT INTO checkpoint (session, ns, id, parent, run, versions, kind, body, metadata_kind, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
