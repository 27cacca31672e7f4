UPDATE session SET open_turn = ?, drives = ?, recorded = ?, claim = ? WHERE key = ?;
