CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    call TEXT,
    body TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX item_of_session ON item (session, number);

CREATE TABLE checkpoint (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    ns TEXT NOT NULL,
    id TEXT NOT NULL,
    parent TEXT,
    run TEXT,
    versions TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    metadata_kind TEXT NOT NULL,
    metadata BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX checkpoint_by_id ON checkpoint (session, ns, id);

CREATE INDEX checkpoint_of_line ON checkpoint (session, ns);

CREATE INDEX checkpoint_of_run ON checkpoint (run) WHERE run IS NOT NULL;

CREATE TABLE channel_value (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    ns TEXT NOT NULL,
    channel TEXT NOT NULL,
    version TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX channel_value_by_version ON channel_value (session, ns, channel, version);

CREATE TABLE checkpoint_write (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    ns TEXT NOT NULL,
    checkpoint TEXT NOT NULL,
    task TEXT NOT NULL,
    place INTEGER NOT NULL,
    path TEXT NOT NULL,
    channel TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX checkpoint_write_by_place ON checkpoint_write (session, ns, checkpoint, task, place);
