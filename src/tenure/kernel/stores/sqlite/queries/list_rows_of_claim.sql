SELECT
    work, revision, claim, lane, generation, token, finished
FROM claim INDEXED BY rows_of_claim
WHERE claim = ?
ORDER BY work
