CREATE TABLE attempt (
    id TEXT NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL CHECK (revision > 0),
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    run TEXT NOT NULL,
    repository TEXT NOT NULL,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    evidence TEXT NOT NULL,
    token TEXT NOT NULL,
    lease TEXT NOT NULL,
    outcome TEXT CHECK (outcome IN ('passed', 'failed', 'cancelled', 'joined')),
    joined TEXT,
    settled_at TEXT,
    retired TEXT,
    CHECK ((settled_at IS NOT NULL) + (retired IS NOT NULL) = (outcome IS NOT NULL)),
    CHECK ((joined IS NOT NULL) = (outcome IS 'joined'))
) STRICT;

CREATE UNIQUE INDEX one_unfinished_attempt
ON attempt (repository, subject)
WHERE outcome IS NULL;

CREATE UNIQUE INDEX one_place_in_sequence
ON attempt (repository, sequence);

CREATE TABLE lane (
    id TEXT NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL CHECK (revision > 0),
    generation INTEGER NOT NULL CHECK (generation > 0),
    executor TEXT NOT NULL,
    token TEXT NOT NULL,
    lease TEXT,
    displaced TEXT,
    deleted INTEGER NOT NULL CHECK (deleted IN (0, 1))
) STRICT;

CREATE TABLE claim (
    work TEXT NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL CHECK (revision > 0),
    claim TEXT NOT NULL,
    lane TEXT NOT NULL,
    generation INTEGER NOT NULL CHECK (generation > 0),
    token TEXT NOT NULL,
    finished INTEGER NOT NULL CHECK (finished IN (0, 1))
) STRICT;

CREATE INDEX rows_of_claim
ON claim (claim, work);

CREATE INDEX open_claims_of_lane
ON claim (lane, work)
WHERE finished = 0;
