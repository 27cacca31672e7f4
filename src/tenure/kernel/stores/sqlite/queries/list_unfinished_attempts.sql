SELECT
    id, revision, sequence, run, repository, subject, kind, owner, evidence, token, lease,
    outcome, joined, settled_at, retired
FROM attempt INDEXED BY one_unfinished_attempt
WHERE repository = ? AND outcome IS NULL
ORDER BY sequence
