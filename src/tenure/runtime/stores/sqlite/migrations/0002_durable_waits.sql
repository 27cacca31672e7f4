CREATE TABLE wait (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    name TEXT NOT NULL,
    asked TEXT NOT NULL,
    created_wall_ns INTEGER NOT NULL,
    due_at INTEGER,
    blocking INTEGER NOT NULL,
    word TEXT,
    value TEXT,
    resolved_wall_ns INTEGER
) STRICT;

CREATE INDEX wait_of_turn ON wait (turn);

CREATE INDEX wait_of_session ON wait (session);

CREATE INDEX wait_open ON wait (id) WHERE word IS NULL;

CREATE INDEX wait_ended ON wait (session) WHERE blocking = 1 AND word IS NOT NULL;

CREATE INDEX wait_due ON wait (due_at) WHERE blocking = 1 AND word IS NULL;

CREATE TABLE secret (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    body TEXT NOT NULL
) STRICT;

DROP INDEX work_to_do;

CREATE INDEX work_to_do ON work (session, sequence) WHERE state < 2;
