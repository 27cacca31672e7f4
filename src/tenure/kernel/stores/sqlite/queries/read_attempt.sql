SELECT
    id, revision, sequence, run, repository, subject, kind, owner, evidence, token, lease,
    outcome, joined, settled_at, retired
FROM attempt
WHERE id = ?
