"""Faults in the kernel's stores."""

from tests.mutations.planted import Mutation

MEMORY = "tests/conformance/test_memory.py"
SQLITE = "tests/conformance/test_sqlite.py"
OPENING = "tests/kernel/sqlite/test_opening.py"
FORMATS = "tests/kernel/sqlite/test_formats.py"
DOUBT = "tests/kernel/sqlite/test_doubt.py"
ROWS = "tests/kernel/sqlite/test_rows.py"

STORES = (
    Mutation(
        "a writer reads before it excludes others",
        "kernel/stores/sqlite/store.py",
        'run(self._connection, "BEGIN IMMEDIATE")',
        'run(self._connection, "BEGIN")',
        (f"{SQLITE}::TestStores",),
    ),
    Mutation(
        "a subject may have two unfinished attempts",
        "kernel/stores/sqlite/migrations/0001_attempts_lanes_and_claims.sql",
        "CREATE UNIQUE INDEX one_unfinished_attempt",
        "CREATE INDEX one_unfinished_attempt",
        (f"{SQLITE}::TestStores",),
    ),
    Mutation(
        "a row is written over whatever revision is there",
        "kernel/stores/sqlite/queries/replace_attempt.sql",
        " AND revision = :expected",
        "",
        (f"{SQLITE}::TestStores",),
    ),
    Mutation(
        "a block that raises is committed",
        "kernel/stores/sqlite/store.py",
        'run(self._connection, "ROLLBACK")',
        'run(self._connection, "COMMIT")',
        (f"{SQLITE}::TestStores",),
    ),
    Mutation(
        "a block in memory that raises is committed",
        "kernel/stores/memory.py",
        "                transaction.end()\n                raise\n",
        "                self.tables.contents = transaction.end()\n                raise\n",
        (f"{MEMORY}::TestStores",),
    ),
    Mutation(
        "a commit is not on disk",
        "kernel/stores/sqlite/connection.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = OFF",
        (OPENING,),
    ),
    Mutation(
        "an unreadable row is a missing row",
        "kernel/stores/sqlite/columns.py",
        "            raise RecordUnreadable(record=self.name(row[0]), reason=str(error)) from error\n",
        "            return None\n",
        (ROWS,),
    ),
    Mutation(
        "an emptied store is begun anew",
        "kernel/stores/sqlite/founding.py",
        "    if size == 0:\n",
        "    if size == 0:\n        os.unlink(path)\n        return False\n    if size == -1:\n",
        (OPENING,),
    ),
    Mutation(
        "a log without its store is ignored",
        "kernel/stores/sqlite/founding.py",
        "    if size is None and logged:\n",
        "    if size == -1 and logged:\n",
        (OPENING,),
    ),
    Mutation(
        "a store is founded over somebody else's",
        "kernel/stores/sqlite/founding.py",
        "os.link(cradle, path)",
        "os.rename(cradle, path)",
        (OPENING,),
    ),
    Mutation(
        "a newer store is used all the same",
        "kernel/stores/sqlite/lines.py",
        "        if found.get(line.name, 0) > line.version:\n",
        "        if found.get(line.name, 0) < 0:\n",
        (FORMATS,),
    ),
    Mutation(
        "a step is taken whoever took it before",
        "kernel/stores/sqlite/lines.py",
        "        if not current(connection, lines, store):\n            take_steps(connection, lines)",
        "        for line in lines:\n"
        '            run(connection, "DELETE FROM format WHERE line = ?", (line.name,))\n'
        "        take_steps(connection, lines)",
        (FORMATS,),
    ),
    Mutation(
        "a busy commit is given up",
        "kernel/stores/sqlite/connection.py",
        "                if committing and not connection.in_transaction:\n",
        "                if committing:\n",
        (DOUBT,),
    ),
    Mutation(
        "a handle is used across a fork",
        "kernel/stores/sqlite/store.py",
        "assert self._pid == os.getpid(), f",
        "assert self._pid > 0, f",
        (OPENING,),
    ),
    Mutation(
        "an error of the driver gets out",
        "kernel/stores/sqlite/translation.py",
        '    (apsw.FullError, "the disk is full", "free some space in {directory} and try again"),\n',
        "",
        (DOUBT,),
    ),
    Mutation(
        "what was read while a frozen store moved counts",
        "kernel/stores/sqlite/store.py",
        "if before is not None and look(self._path) != before:",
        "if before is not None and look(self._path) is None:",
        (OPENING,),
    ),
)
