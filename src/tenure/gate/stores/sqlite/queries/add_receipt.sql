INSERT INTO receipt (id, repository, requirement, identity, outcome, body)
VALUES (:id, :repository, :requirement, :identity, :outcome, :body)
RETURNING sequence;
