UPDATE lane
SET
    revision = :revision,
    generation = :generation,
    executor = :executor,
    token = :token,
    lease = :lease,
    displaced = :displaced,
    deleted = :deleted
WHERE id = :id AND revision = :expected
