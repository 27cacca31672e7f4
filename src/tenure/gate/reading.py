"""Reading the present: which trunk, which commit, which policy, and so which situation."""

import os
from collections.abc import Mapping

from tenure.gate.courts import POLICY_FILES, courts, wanted_policies
from tenure.gate.errors import NoPolicy, RepositoryError
from tenure.gate.fingerprint import stat_of, still_holds
from tenure.gate.kind import Kind
from tenure.gate.objects import read_blobs
from tenure.gate.policy_text import choose
from tenure.gate.record import TrunkMemo, Watched
from tenure.gate.situation import POLICY, Question, Situation, read_policies, read_situation
from tenure.gate.store import GateStore
from tenure.gate.text import readable
from tenure.gate.worktree import Reading, Repository, Snapshot, require_clean, start_read
from tenure.kernel.errors import Doubt

TRUNK = "trunk"


def read_now(
    cwd: str,
    question: Question,
    store: GateStore,
    environ: Mapping[str, str],
    *,
    begun: Reading | None = None,
) -> Situation:
    """The situation of the checkout that `cwd` is in, as it is now.

    `begun` is a reading of it that is under way, to go on with if it asks what has to be asked.

    Raises what `read_situation` raises, and RepositoryError where nothing can be judged.
    """
    if question.against is not None:
        snapshot, trunk = start_read(cwd, question.against).finish(), store.setting(TRUNK)
    else:
        snapshot, trunk = read_snapshot(cwd, store, question.kind, begun)
    contents = store.contents()
    found = read_situation(
        snapshot,
        question,
        secret=store.secret(),
        trunk=trunk,
        environ=environ,
        contents=contents,
    )
    try:
        store.remember(contents=contents)
    except Doubt:
        pass  # only spares work
    return found


def read_snapshot(
    cwd: str, store: GateStore, kind: Kind, begun: Reading | None = None
) -> tuple[Snapshot, str | None]:
    """The checkout against its trunk, and the trunk's branch name as pinned in the store."""
    snapshot, trunk = _against_trunk(cwd, store, kind, begun)
    return _looked_at(snapshot, kind), trunk


def _looked_at(snapshot: Snapshot, kind: Kind) -> Snapshot:
    """A reading as a kind of run looks at it: the commit, or the files as they are."""
    if kind.committed:
        return snapshot
    from tenure.gate.working_tree import read_working_tree

    return snapshot.as_it_is(read_working_tree(snapshot))


def _against_trunk(
    cwd: str, store: GateStore, kind: Kind, begun: Reading | None
) -> tuple[Snapshot, str | None]:
    memo = store.trunk()
    if memo is not None and still_holds([(w.path, w.stat) for w in memo.watched]):
        if begun is not None and begun.trunk_ref == memo.ref:
            reading, begun = begun, None
        else:
            reading = start_read(cwd, memo.ref)
        snapshot = reading.finish()
        if snapshot.trunk_tip is not None:
            return snapshot, store.setting(TRUNK)
    if begun is not None:
        begun.discard()
    return _resolve(cwd, store, kind)


def is_gated(cwd: str, store: GateStore | None) -> bool:
    """Whether a policy has a say about this checkout: its own, committed or not, or one before it.

    A branch that removes the policy is gated by the one of its base.

    Raises:
        PolicyError: there are two, or one does not parse.
    """
    top = _top_above(cwd)
    if top is None:
        return False
    try:
        snapshot = start_read(cwd).finish()
        trunk = known_trunk(snapshot.repo, store)
        if trunk is not None:
            snapshot = start_read(cwd, trunk).finish()
    except RepositoryError:
        return _is_policy(_files(top))
    changed = any(os.fsdecode(path) in POLICY_FILES for _, path in snapshot.changes)
    return (changed and _is_policy(_files(top))) or has_court(snapshot)


def has_court(snapshot: Snapshot) -> bool:
    """Whether the commit has a policy, or one that would judge it has.

    Raises:
        PolicyError: a commit has two, or one that does not parse.
    """
    commits = [commit for _, commit in courts(snapshot.head, snapshot.base, snapshot.trunk_tip)]
    wanted = wanted_policies(commits)
    blobs = dict(zip(wanted, read_blobs(snapshot.repo, wanted), strict=True))
    return any(
        _is_policy({name: blobs[commit, name] for name in POLICY_FILES}) for commit in commits
    )


def known_trunk(repo: Repository, store: GateStore | None) -> str | None:
    """The trunk's ref as the store remembers it, else as it is found without a policy's word."""
    memo = store.trunk() if store is not None else None
    if memo is not None and still_holds([(w.path, w.stat) for w in memo.watched]):
        return memo.ref
    from tenure.gate.trunk import resolve_trunk

    pinned = store.setting(TRUNK) if store is not None else None
    return resolve_trunk(repo, pinned=pinned).ref


def _is_policy(files: Mapping[str, bytes | None]) -> bool:
    try:
        choose(files)
    except NoPolicy:
        return False
    return True


def _files(top: str) -> dict[str, bytes | None]:
    """The files of the working tree that may be a policy."""
    found: dict[str, bytes | None] = {}
    for name in POLICY_FILES:
        try:
            with open(os.path.join(top, name), "rb") as file:
                found[name] = file.read()
        except OSError:
            found[name] = None
    return found


def _top_above(cwd: str) -> str | None:
    """The directory at or above `cwd` that has a `.git`."""
    place = os.path.realpath(cwd)
    while not os.path.lexists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return None
        place = above
    return place


def _resolve(cwd: str, store: GateStore, kind: Kind) -> tuple[Snapshot, str | None]:
    """Find the trunk anew. Its name is pinned at first use, so that a branch cannot choose it."""
    from tenure.gate.trunk import resolve_trunk

    alone = start_read(cwd).finish()
    read_policies(_looked_at(alone, kind), frozenset())  # a fault in its own policy is told first
    pinned = store.setting(TRUNK)
    configured = _configured(cwd, resolve_trunk(alone.repo, pinned=pinned).ref, kind)
    trunk = resolve_trunk(alone.repo, configured=configured, pinned=pinned)
    if trunk.ref is None:
        return alone, pinned
    _require_a_name(trunk.ref)
    watched = tuple(Watched(path=path, stat=stat_of(path)) for path in trunk.watched)
    again = resolve_trunk(alone.repo, configured=configured, pinned=pinned)
    name = trunk.ref.removeprefix("refs/heads/")
    if trunk.ref.startswith("refs/remotes/"):
        name = trunk.ref.split("/", 3)[3]
    if name != "HEAD":
        pinned = store.pinned(TRUNK, name)
    if again.ref == trunk.ref:  # else something changed before it was watched
        store.remember(trunk=TrunkMemo(ref=trunk.ref, watched=watched))
    return start_read(cwd, trunk.ref).finish(), pinned or configured


def _configured(cwd: str, trunk: str | None, kind: Kind) -> str | None:
    """The trunk named by the policy that judges against `trunk`, the one found without a name.

    A branch's own policy names it only where there is no other.
    """
    snapshot = _looked_at(start_read(cwd, trunk).finish(), kind)
    _, own, judging, _ = read_policies(snapshot, frozenset({POLICY}))
    return (own if judging is None else judging).trunk


def _require_a_name(ref: str) -> None:
    """Pass if the trunk's name can be pinned, and named in a policy."""
    if ref != readable(ref):
        raise RepositoryError(
            what=f"the trunk is {readable(ref)}, whose name is not UTF-8",
            next="rename it (`git branch -m`), or give the trunk's role to another branch",
        )


def has_policy(cwd: str, kind: Kind) -> Snapshot:
    """The checkout, if it has a policy; asked before a first store is made.

    Raises:
        PolicyError, RepositoryError: it has none, or none can be read.
        DirtyTree: it has none, and there is one that only needs to be committed.
    """
    snapshot = _looked_at(start_read(cwd).finish(), kind)
    try:
        read_policies(snapshot, frozenset())
    except NoPolicy:
        if any(path.decode("latin-1") in POLICY_FILES for _, path in snapshot.changes):
            require_clean(snapshot)
        raise
    return snapshot
