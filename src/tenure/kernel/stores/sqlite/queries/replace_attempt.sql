UPDATE attempt
SET
    revision = :revision,
    sequence = :sequence,
    run = :run,
    repository = :repository,
    subject = :subject,
    kind = :kind,
    owner = :owner,
    evidence = :evidence,
    token = :token,
    lease = :lease,
    outcome = :outcome,
    joined = :joined,
    settled_at = :settled_at,
    retired = :retired
WHERE id = :id AND revision = :expected
