INSERT INTO run (id, repository, started_wall_ns, ended, body)
VALUES (:id, :repository, :started_wall_ns, :ended, :body)
ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, body = excluded.body
RETURNING id;
