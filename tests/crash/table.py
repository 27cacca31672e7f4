"""The crash table that was written by hand, read back."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

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

    def observed(
        self, policy: Mapping[str, str], answer: Mapping[str, Any], counted: Counter[str]
    ) -> dict[str, str]:
        """What a play under a policy shows, by the columns that it fills."""
        shown = {"found": str(answer["found"]), "model 1": str(counted["model-1"])}
        for tool, word in policy.items():
            shown[f"{tool} {word}"] = f"{counted[tool]} {answer['told'][tool]}"
        return {**shown, "model 2": str(counted["model-2"])}

    def told(self, observed: Mapping[str, str]) -> str:
        """The row as observed, beside what is expected."""
        seen = "; ".join(
            f"{name}: {value} ({self.expected[name]})" for name, value in observed.items()
        )
        return f"{self.operation:50} {self.moment:7} {seen}"

    def differs(self, observed: Mapping[str, str]) -> bool:
        """Whether the row was observed otherwise than expected."""
        return any(self.expected[name] != value for name, value in observed.items())

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
