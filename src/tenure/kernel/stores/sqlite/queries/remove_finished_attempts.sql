DELETE FROM attempt
WHERE repository = :repository
    AND run = :run
    AND outcome IS NOT NULL
    AND sequence < (SELECT max(last.sequence) FROM attempt AS last WHERE last.repository = :repository)
