SELECT
    work, revision, claim, lane, generation, token, finished
FROM claim
WHERE work = ?
