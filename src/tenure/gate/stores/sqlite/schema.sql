-- The gate's tables, beside the kernel's in one file.
--
-- setting         values pinned for the whole store: the trunk's name, the key of digests
-- run             one invocation's work; `body` is the record, the columns are for finding it
-- receipt         what one job returned for one exact input; never changed. The newest of an
--                 identity decides, and `sequence` says which that is
-- dropped         receipts that answer for nothing any more: whatever rests on one is void
-- proof           exists only together with its attempt's settlement as passed
-- proof_identity  the identities behind a Proof: a newer failure of one of them voids it
-- memo            a Proof answers for (tree, base) while memo_variable and memo_path still hold
-- content         digests of executables, by what the file system says of the file
-- setup           what each checkout was set up for last; none while that is under way or failed
-- trunk           which ref is the trunk, while trunk_path still holds

CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    id TEXT PRIMARY KEY,
    repository TEXT NOT NULL,
    started_wall_ns INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX run_by_start ON run (repository, started_wall_ns);

CREATE INDEX run_without_end ON run (repository, started_wall_ns) WHERE ended = 0;

CREATE TABLE receipt (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    repository TEXT NOT NULL,
    requirement TEXT NOT NULL,
    identity TEXT NOT NULL,
    outcome TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX receipt_by_identity ON receipt (repository, identity, sequence);

CREATE INDEX receipt_by_requirement ON receipt (repository, requirement, sequence);

CREATE TABLE dropped (
    receipt TEXT PRIMARY KEY,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE proof (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    attempt TEXT NOT NULL UNIQUE,
    repository TEXT NOT NULL,
    candidate TEXT NOT NULL,
    tree TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX proof_by_candidate ON proof (repository, candidate, sequence);

CREATE INDEX proof_by_tree ON proof (repository, tree, sequence);

CREATE TABLE proof_identity (
    proof TEXT NOT NULL,
    identity TEXT NOT NULL,
    PRIMARY KEY (proof, identity)
) STRICT, WITHOUT ROWID;

CREATE TABLE memo (
    id INTEGER PRIMARY KEY,
    tree TEXT NOT NULL,
    base TEXT NOT NULL,
    tip TEXT NOT NULL,
    proof TEXT NOT NULL
) STRICT;

CREATE INDEX memo_by_tree ON memo (tree, base);

CREATE TABLE memo_variable (
    memo INTEGER NOT NULL,
    name TEXT NOT NULL,
    digest TEXT,
    PRIMARY KEY (memo, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE memo_path (
    memo INTEGER NOT NULL,
    path BLOB NOT NULL,
    device INTEGER,
    inode INTEGER,
    size INTEGER,
    mtime_ns INTEGER,
    ctime_ns INTEGER,
    PRIMARY KEY (memo, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE content (
    path BLOB PRIMARY KEY,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE trunk (
    ref TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE trunk_path (
    path BLOB PRIMARY KEY,
    device INTEGER,
    inode INTEGER,
    size INTEGER,
    mtime_ns INTEGER,
    ctime_ns INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE setup (
    repository TEXT NOT NULL,
    checkout TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (repository, checkout)
) STRICT, WITHOUT ROWID;
