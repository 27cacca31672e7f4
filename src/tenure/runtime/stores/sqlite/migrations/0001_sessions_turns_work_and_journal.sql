CREATE TABLE session (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    host TEXT NOT NULL,
    head INTEGER NOT NULL,
    open_turn TEXT,
    settings TEXT NOT NULL,
    created_wall_ns INTEGER NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;

CREATE INDEX session_with_open_turn ON session (id) WHERE open_turn IS NOT NULL AND deleted = 0;

CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    turn TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX message_by_number ON message (session, number);

CREATE TABLE turn (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    work TEXT NOT NULL,
    program TEXT NOT NULL,
    state TEXT NOT NULL,
    opened_at_head INTEGER NOT NULL,
    drives INTEGER NOT NULL,
    claim TEXT,
    receipt TEXT,
    committed_wall_ns INTEGER,
    result TEXT
) STRICT;

CREATE INDEX turn_open ON turn (id) WHERE state = 'open';

CREATE INDEX turn_by_session ON turn (session, opened_at_head);

CREATE TABLE turn_cancel (
    turn TEXT PRIMARY KEY,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE program (
    digest TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE work (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    source_key TEXT,
    program TEXT,
    active_turn TEXT,
    active_boundary TEXT,
    available_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    turn TEXT
) STRICT;

CREATE UNIQUE INDEX work_by_source_key ON work (session, source_key) WHERE source_key IS NOT NULL;

CREATE INDEX work_pending ON work (session, sequence) WHERE state = 'pending';

CREATE INDEX work_next ON work (available_at, sequence)
WHERE state = 'pending' AND active_turn IS NULL;

CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    turn TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    generation INTEGER NOT NULL,
    token TEXT NOT NULL,
    outcome TEXT
) STRICT;

CREATE UNIQUE INDEX journal_by_key ON journal (turn, key);
