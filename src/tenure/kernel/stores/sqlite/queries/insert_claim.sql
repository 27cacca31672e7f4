INSERT INTO claim (
    work, revision, claim, lane, generation, token, finished
)
VALUES (
    :work, :revision, :claim, :lane, :generation, :token, :finished
)
