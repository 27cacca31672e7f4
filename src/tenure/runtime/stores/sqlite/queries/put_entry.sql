INSERT INTO journal (turn, key, request_hash, generation, token, outcome)
VALUES (:turn, :key, :request_hash, :generation, :token, :outcome)
ON CONFLICT (turn, key) DO UPDATE SET
    generation = excluded.generation,
    token = excluded.token,
    outcome = excluded.outcome;
