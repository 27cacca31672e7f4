"""One exact state of a repository to be judged, and whose policy judges it."""

import os
from enum import StrEnum

import msgspec

from tenure.gate.courts import courts
from tenure.gate.digest import digest
from tenure.gate.worktree import Snapshot


class Judging(StrEnum):
    """Where the policy that judges comes from, in the order in which it is looked for."""

    BASE = "base"
    TIP = "tip"
    OWN = "own"


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A tree, and what is recorded with it. Two candidates are the same if their tree is."""

    tree: str
    commit: str
    base: str | None
    branch: str | None  #: full ref name, None when HEAD is detached
    trunk: str | None  #: full ref name, None where there is no trunk
    judging: Judging
    judging_commit: str  #: the commit whose policy judges

    @property
    def bootstrap(self) -> bool:
        """Whether the candidate is judged by its own policy, because nothing before it has one."""
        return self.judging is Judging.OWN


def judges(snapshot: Snapshot) -> list[tuple[Judging, str]]:
    """The commits whose policy may judge; the first that has one does, the last is the candidate."""
    found = courts(snapshot.head, snapshot.base, snapshot.trunk_tip)
    return [(Judging(name), commit) for name, commit in found]


def candidate(snapshot: Snapshot, judging: Judging, judging_commit: str) -> Candidate:
    """The candidate that `snapshot` shows, judged as the caller found."""
    return Candidate(
        tree=snapshot.tree,
        commit=snapshot.head,
        base=snapshot.base,
        branch=snapshot.branch,
        trunk=snapshot.trunk_ref,
        judging=judging,
        judging_commit=judging_commit,
    )


def checkout_id(git_dir: str) -> str:
    """A short name for one checkout, the same every time: fit for a database or a container.

    It starts with a letter and has nine characters. It says nothing about the repository.
    """
    real = os.path.realpath(os.fsencode(git_dir))
    return "w" + digest("checkout", real)[:8]
