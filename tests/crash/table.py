"""The crash table that was written by hand, read back."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).parent / "table.md"

#: Both tools' policies, so that each tool is seen under each of them.
POLICIES = ({"charge": "rerun", "mail": "report"}, {"charge": "report", "mail": "rerun"})

#: What makes a row worth playing under one more policy.
_ALWAYS = "1 ok"


class Row(NamedTuple):
    """One moment, and what is expected after it."""

    operation: str
    moment: str
    point: str
    expected: Mapping[str, str]  #: by column

    def columns(self, policy: Mapping[str, str]) -> list[str]:
        """The columns that a play under this policy fills."""
        tools = [f"{tool} {word}" for tool, word in policy.items()]
        return ["found", "model 1", *tools, "model 2"]

    def depends_on(self, policy: Mapping[str, str]) -> bool:
        """Whether a play under this policy could differ from one under another."""
        return any(self.expected[f"{tool} {word}"] != _ALWAYS for tool, word in policy.items())

    def __str__(self) -> str:
        return f"{self.operation}, {self.moment}"


def rows() -> list[Row]:
    """The table, in its order."""
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("|")]
    head, _, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    found = []
    for cells in body:
        named = dict(zip(head, cells, strict=True))
        operation, moment = named.pop("operation"), named.pop("moment")
        found.append(Row(operation, moment, named.pop("point").strip("`"), named))
    return found
