"""A proposal: one job for a policy, and where it comes from."""

from collections.abc import Mapping

import msgspec

from tenure.gate.policy import Stage

#: The files of a repository that are worth reading, by their path from its root.
Files = Mapping[str, str]


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """One job to propose."""

    name: str
    stage: Stage
    command: str  #: as somebody would type it
    source: str  #: the file that suggests it, and what in it
    tools: frozenset[str] = frozenset()  #: what it runs, as far as that is known
    called: str = ""  #: as what others may call it: the target of a file that is read as well
    whole: bool = True  #: whether it runs nothing but these tools
    cwd: str = "."
    set_env: dict[str, str] = {}
    hint: str = ""  #: what its reader may want to add


class Findings:
    """What one look into a repository found. `unused` says what was seen and is not proposed."""

    def __init__(self) -> None:
        self.jobs: list[Proposed] = []
        self.unused: list[str] = []

    def covered(self) -> frozenset[str]:
        """Every tool that a proposal runs."""
        return frozenset(tool for job in self.jobs for tool in job.tools)


def table(value: object, *path: str) -> dict[str, object]:
    """The table at `path` of a parsed file, empty where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def text(value: object) -> str:
    """The string, "" where there is something else."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """The strings of a list, or the one string."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
