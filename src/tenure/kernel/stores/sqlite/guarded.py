"""Writes that say what they expect to find, over one open connection."""

from collections.abc import Mapping

import apsw

from tenure.kernel.errors import RevisionConflict
from tenure.kernel.stores.sqlite.connection import Value, run

_TAKEN = (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY)


def guarded(
    connection: apsw.Connection,
    statement: str,
    row: Mapping[str, Value],
    *,
    record: str,
    expected: int,
) -> None:
    """Execute a write that changes one row exactly if it finds what it expects.

    Raises:
        RevisionConflict: it did not, or what it writes would stand beside its like.
    """
    try:
        run(connection, statement, {**row, "expected": expected})
    except apsw.ConstraintError as error:
        if getattr(error, "extendedresult", None) not in _TAKEN:
            raise
        raise RevisionConflict(record=record, expected=expected) from error
    if connection.changes() != 1:
        raise RevisionConflict(record=record, expected=expected)
