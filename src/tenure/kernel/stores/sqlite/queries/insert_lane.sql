INSERT INTO lane (
    id, revision, generation, executor, token, lease, displaced, deleted
)
VALUES (
    :id, :revision, :generation, :executor, :token, :lease, :displaced, :deleted
)
