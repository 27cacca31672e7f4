CREATE TABLE setup (
    repository TEXT NOT NULL,
    checkout TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (repository, checkout)
) STRICT, WITHOUT ROWID;
