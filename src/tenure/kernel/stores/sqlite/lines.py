"""Formats: each layer's tables have a line of migrations of their own in one file.

The table `format` says how far each line is. A step is written once and never changed, all
missing steps of all lines are taken in one transaction, and a line that is ahead of this
version is refused and left as it is.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

import apsw

from tenure.kernel.errors import StoreNewer
from tenure.kernel.stores.sqlite.connection import run
from tenure.kernel.stores.sqlite.statements import KERNEL, beside
from tenure.kernel.stores.sqlite.translation import not_a_store

#: Marks a SQLite file as a Tenure store ("Tnur").
APPLICATION_ID = 0x546E7572


class Line(NamedTuple):
    """One layer's migrations: `0001_a_sentence.sql` and so on, up to `version`.

    The version is said here and not read from the directory, so that opening a current
    store reads no directory; a test compares the two.
    """

    name: str
    directory: str
    version: int


KERNEL_LINE = Line("kernel", beside(__file__, "migrations"), 1)


def steps(line: Line) -> list[str]:
    """The paths of a line's migrations in order, densely numbered from 1."""
    names = sorted(name for name in os.listdir(line.directory) if name.endswith(".sql"))
    numbers = [int(name.partition("_")[0]) for name in names]
    assert numbers == list(range(1, line.version + 1)), f"migrations of {line.name}: {names}"
    return [os.path.join(line.directory, name) for name in names]


def current(connection: apsw.Connection, lines: Sequence[Line], store: str) -> bool:
    """Whether every line is where this version wants it.

    Raises:
        StoreUnavailable: it is a database, and not a Tenure store.
        StoreNewer: a line is ahead.
        apsw.Error: as the driver raises it.
    """
    if run(connection, "PRAGMA application_id") != [(APPLICATION_ID,)]:
        raise not_a_store(store, "somebody else's database")
    found = _formats(connection)
    for line in lines:
        if found.get(line.name, 0) > line.version:
            raise StoreNewer(
                store=store, line=line.name, found=found[line.name], known=line.version
            )
    return all(found.get(line.name, 0) == line.version for line in lines)


def migrate(connection: apsw.Connection, lines: Sequence[Line], store: str) -> None:
    """Take every missing step of every line, in one transaction, unless somebody else did.

    Raises what `current` raises.
    """
    run(connection, "BEGIN IMMEDIATE")
    try:
        if not current(connection, lines, store):
            take_steps(connection, lines)
        run(connection, "COMMIT")
    except BaseException:
        if connection.in_transaction:
            run(connection, "ROLLBACK")
        raise


def mark(connection: apsw.Connection) -> None:
    """Make an empty database a Tenure store without lines, in the caller's transaction."""
    run(connection, f"PRAGMA application_id = {APPLICATION_ID}")
    run(connection, KERNEL["create_format"])


def take_steps(connection: apsw.Connection, lines: Sequence[Line]) -> None:
    """Take the missing steps in the caller's transaction."""
    found = _formats(connection)
    for line in lines:
        for path in steps(line)[found.get(line.name, 0) :]:
            with open(path, encoding="utf-8") as file:
                run(connection, file.read())
        run(connection, KERNEL["record_format"], (line.name, line.version))


def _formats(connection: apsw.Connection) -> dict[str, int]:
    rows = run(connection, KERNEL["read_formats"])
    return {str(line): int(version) for line, version in rows if isinstance(version, int)}
