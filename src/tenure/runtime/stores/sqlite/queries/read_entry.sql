SELECT key, request_hash, generation, token, outcome FROM journal WHERE turn = :turn AND key = :key;
