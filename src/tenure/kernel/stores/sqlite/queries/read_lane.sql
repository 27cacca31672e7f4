SELECT
    id, revision, generation, executor, token, lease, displaced, deleted
FROM lane
WHERE id = ?
