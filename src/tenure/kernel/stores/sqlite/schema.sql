-- The kernel's tables as they are today: the sum of migrations/, kept to be read.
--
-- A column holds one field of the record of the same name. Fields that are values of several
-- parts (owner, token, lease, …) are JSON text. Every write of a row adds one to `revision`
-- and is guarded by the revision it read.

-- How far each layer's line of migrations is in this file.
CREATE TABLE format (
    line TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL CHECK (version > 0)
) STRICT, WITHOUT ROWID;

-- Held once, finished once. Unfinished while `outcome` is null; finished by exactly one of
-- its own holder (`settled_at`) and somebody else (`retired`).
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

-- Exclusion itself: of one subject, at most one attempt is unfinished.
CREATE UNIQUE INDEX one_unfinished_attempt
ON attempt (repository, subject)
WHERE outcome IS NULL;

-- Dense and increasing within a repository, since it is given out in the same transaction.
CREATE UNIQUE INDEX one_place_in_sequence
ON attempt (repository, sequence);

-- Held again and again. Nobody holds it while `lease` is null; the last executor and token
-- stay, to recognise late duplicates.
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

-- Who has one piece of work, under which hold of which lane. No time limit.
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
