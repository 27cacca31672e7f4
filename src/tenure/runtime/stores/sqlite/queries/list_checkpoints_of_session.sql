SELECT number, session, ns, id, parent, run, versions, kind, body, metadata_kind, metadata FROM checkpoint WHERE session = ? AND number < ? ORDER BY number DESC LIMIT ?;
