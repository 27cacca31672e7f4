"""The operations of one turn, in their order: those of the crash table and no others."""

import asyncio
import re
from pathlib import Path

from tenure.kernel import points
from tests.crash import worker
from tests.crash.table import rows

#: Opening the session is not the turn's.
NOT_THE_TURNS = {"create:begin", "create:written"}


def test_a_turn_consists_of_the_operations_of_the_table(tmp_path: Path):
    seen: list[str] = []
    points.install(seen.append)
    given = worker.arguments(["ask", str(tmp_path / "turn.db"), "--ttl=3600"])
    (answer,) = asyncio.run(worker.main(given))
    points.install(None)
    assert answer["results"][0]["status"] == "completed"
    assert moments(seen) == [re.sub(r"#\d+", "", row.point) for row in rows()]


def moments(seen: list[str]) -> list[str]:
    """The points as the table names them: a commit is that of the operation before it."""
    named: list[str] = []
    for name in seen:
        if name in NOT_THE_TURNS:
            named.append("")
        elif name == "store:committed" and named and named[-1].endswith(":written"):
            named.append(f"{named[-1]}>store:committed")
        elif name.endswith((":begin", ":written", ":before", ":after")):
            named.append(name)
    return [name for name in named if name]
