INSERT INTO proof (id, attempt, repository, candidate, tree, body)
VALUES (:id, :attempt, :repository, :candidate, :tree, :body)
RETURNING sequence;
