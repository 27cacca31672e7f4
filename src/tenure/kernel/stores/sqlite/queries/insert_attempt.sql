INSERT INTO attempt (
    id, revision, sequence, run, repository, subject, kind, owner, evidence, token, lease,
    outcome, joined, settled_at, retired
)
VALUES (
    :id, :revision, :sequence, :run, :repository, :subject, :kind, :owner, :evidence,
    :token, :lease, :outcome, :joined, :settled_at, :retired
)
