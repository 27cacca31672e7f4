"""The gate's own records beside attempts, receipts and Proofs: runs, and memos of a Proof."""

import msgspec

from tenure.gate.kind import RunKind
from tenure.gate.report import Report


class ProcessMark(msgspec.Struct, frozen=True, kw_only=True):
    """A process as it can be found again: a pid means nothing without the rest."""

    pid: int
    start_ticks: int
    boot: str
    pid_namespace: int


class Cancel(msgspec.Struct, frozen=True, kw_only=True):
    """Who asked for a run's end, and why. The first one wins."""

    by: str
    reason: str
    wall_ns: int


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One invocation's work: what it judges, who does it, how it ended."""

    id: str
    repository: str
    checkout: str  #: short id of the checkout, also what its jobs see
    worktree: str
    git_dir: str
    branch: str | None
    commit: str
    tree: str
    candidate: str
    subject: str
    started_wall_ns: int
    supervisor: ProcessMark
    runner: ProcessMark
    kind: RunKind = "done"
    attempt: str | None = None
    cancel: Cancel | None = None
    ended_wall_ns: int | None = None
    report: Report | None = None


class SetupRecord(msgspec.Struct, frozen=True, kw_only=True):
    """That a checkout was set up, and for what. There is one for each checkout, or none."""

    repository: str
    checkout: str
    digest: str  #: of everything that the setup depends on
    run: str
    worktree: str
    wall_ns: int


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """What a path looked like, or that it was absent (`stat` is None).

    A relative path is meant in whichever checkout is asked about.
    """

    path: str
    stat: tuple[int, int, int, int, int] | None  #: device, inode, size, mtime_ns, ctime_ns


class Memo(msgspec.Struct, frozen=True, kw_only=True):
    """That a Proof answers for `(tree, base)` as long as nothing it names has changed."""

    tree: str
    base: str  #: empty if there is none
    tip: str  #: the trunk's tip where the judging policy came from it, else empty
    proof: str
    environment: tuple[tuple[str, str | None], ...]  #: name, keyed digest (None: absent)
    watched: tuple[Watched, ...]


class TrunkMemo(msgspec.Struct, frozen=True, kw_only=True):
    """Which ref is the trunk, for as long as the watched paths stay as they are."""

    ref: str
    watched: tuple[Watched, ...]


#: A file and what part of it was read, with device, inode, size, modification and change time.
ContentKey = tuple[str, int, int, int, int, int]


class ContentMemo:
    """Digests of executables by what the file system says of them, read once and written once."""

    def __init__(self, known: dict[ContentKey, str]) -> None:
        self._known = known
        self.added: dict[ContentKey, str] = {}  #: what the store does not have yet

    def get(self, key: ContentKey) -> str | None:
        """The digest that was found for exactly this key."""
        return self._known.get(key)

    def put(self, key: ContentKey, digest: str) -> None:
        """Remember a digest."""
        if self._known.get(key) != digest:
            self._known[key] = self.added[key] = digest
