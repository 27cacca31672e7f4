INSERT INTO setup (repository, checkout, body) VALUES (:repository, :checkout, :body)
ON CONFLICT (repository, checkout) DO UPDATE SET body = excluded.body;
