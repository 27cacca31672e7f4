SELECT key, request_hash, generation, token, outcome FROM journal WHERE turn = :turn ORDER BY id;
