-- The runtime's tables, beside the kernel's in one file. What lasts is appended, and changed as
-- little as can be: rows that grow or shrink later leave pages half empty.
--
-- session      `head` is the number of its committed messages, of a guest session the number of
--              what was ever written to it. `claim`, `drives` and `recorded`
--              are its open turn's, which began at this head
-- message      what was said, each body once, appended and never changed; a turn's are together
-- program      what agents were when turns were admitted, by digest
-- work         everything enqueued. `state`: 1 pending, 0 accepted, 2 cancelled, 3 accepted as a
--              turn that waits, null completed
-- turn         committed turns, by the sequence of the work that each is. Its messages are
--              numbered from `opened_at_head` + 1 to `ended_at_head`; if it begins with its work,
--              the first is the work's content, and the others are those from `first_message` on
-- turn_cancel  whose end was asked for, also before there is such a turn
-- wait         questions for somebody outside: `word` and `value` are the answer. `blocking` says
--              that its turn, by the sequence of its work, waits for it
-- secret       what the keys of waits are signed with
-- item         lists that another framework keeps, in order of `number`. `call` is on the first
--              of those that were appended together, and says by which call
-- checkpoint   states of another framework's graphs, in the order of `number`. `versions` says of
--              each channel which value it had
-- channel_value  each once for its version, however many checkpoints name it
-- checkpoint_write  what tasks wrote on a checkpoint, as their `place`-th
-- journal      effects of open turns, appended: a later entry of a key replaces an earlier one

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

CREATE INDEX work_to_do ON work (session, sequence) WHERE state < 2;

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

CREATE INDEX wait_ended ON wait (turn, session) WHERE blocking = 1 AND word IS NOT NULL;

CREATE INDEX wait_due ON wait (due_at, turn, session) WHERE blocking = 1 AND word IS NULL;

CREATE TABLE secret (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    body TEXT NOT NULL
) STRICT;

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
