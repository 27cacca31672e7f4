DELETE FROM claim
WHERE work = ?
