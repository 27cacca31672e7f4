CREATE TABLE session (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    host TEXT NOT NULL,
    created_wall_ns INTEGER NOT NULL,
    head INTEGER NOT NULL,
    settings TEXT NOT NULL,
    deleted INTEGER NOT NULL,
    open_turn TEXT,
    claim TEXT,
    drives INTEGER,
    recorded INTEGER
) STRICT;

CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE program (
    key INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE work (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    source_key TEXT,
    available_at INTEGER NOT NULL,
    state INTEGER,
    program INTEGER,
    active_turn TEXT,
    active_boundary TEXT,
    turn TEXT,
    cancelled_wall_ns INTEGER
) STRICT;

CREATE UNIQUE INDEX work_by_source_key ON work (session, source_key) WHERE source_key IS NOT NULL;

CREATE INDEX work_to_do ON work (session, sequence) WHERE state IS NOT NULL;

CREATE INDEX work_cancelled ON work (cancelled_wall_ns)
WHERE cancelled_wall_ns IS NOT NULL AND source_key IS NULL;

CREATE TABLE turn (
    work INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    opened_at_head INTEGER NOT NULL,
    ended_at_head INTEGER NOT NULL,
    first_message INTEGER NOT NULL,
    begins_with_work INTEGER NOT NULL,
    receipt BLOB NOT NULL,
    committed_wall_ns INTEGER NOT NULL,
    ending TEXT NOT NULL
) STRICT;

CREATE INDEX turn_by_end ON turn (session, ended_at_head);

CREATE TABLE turn_cancel (
    turn TEXT PRIMARY KEY,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    turn INTEGER NOT NULL,
    position INTEGER NOT NULL,
    entries TEXT NOT NULL,
    PRIMARY KEY (turn, position)
) STRICT, WITHOUT ROWID;
