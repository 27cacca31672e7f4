CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    call TEXT,
    body TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX item_of_session ON item (session, number);
