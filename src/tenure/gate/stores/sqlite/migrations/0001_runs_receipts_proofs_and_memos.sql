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
