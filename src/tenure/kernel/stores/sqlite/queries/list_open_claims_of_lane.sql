SELECT
    work, revision, claim, lane, generation, token, finished
FROM claim INDEXED BY open_claims_of_lane
WHERE lane = ? AND finished = 0
ORDER BY work
