UPDATE claim
SET
    revision = :revision,
    claim = :claim,
    lane = :lane,
    generation = :generation,
    token = :token,
    finished = :finished
WHERE work = :work AND revision = :expected
