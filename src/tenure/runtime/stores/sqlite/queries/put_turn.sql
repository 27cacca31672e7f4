UPDATE session SET drives = ?, recorded = ?, claim = ? WHERE key = ?;
