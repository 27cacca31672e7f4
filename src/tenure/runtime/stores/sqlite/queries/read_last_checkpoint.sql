SELECT number, session, ns, id, parent, run, versions, kind, body, metadata_kind, metadata FROM checkpoint INDEXED BY checkpoint_of_line WHERE session = ? AND ns = ? ORDER BY number DESC LIMIT 1;
