"""The proof that what lies in a checkout is one commit's tree, byte for byte as git counts.

`git status` alone is not that proof: entries can be marked so that git looks away, submodules
can be absent, and an edit can come right after. So: first every tracked file's fingerprint,
then the content. Whoever finds the fingerprint unmoved later knows the content is unmoved too.
"""

import os

from tenure.gate.diagnosis import listed, shown
from tenure.gate.errors import DirtyTree, RepositoryError
from tenure.gate.fingerprint import Fingerprint, settle, take
from tenure.gate.git import collect
from tenure.gate.index import Claim, all_hold, claims, content_changes, skipped, start_claims
from tenure.gate.objects import GITLINK, Entry, entries_at
from tenure.gate.worktree import Repository, Snapshot, read_again, require_clean, start_read
from tenure.kernel.points import point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Part:
    """The tracked files of one repository of a checkout: its own, or one of its submodules'.

    `prefix` leads from the checkout's top to the part's `top`; `files` are relative to the latter.
    """

    __slots__ = ("files", "prefix", "top", "tree")

    def __init__(self, top: str, tree: str, prefix: bytes, files: "Mapping[bytes, Entry]") -> None:
        self.top = top
        self.tree = tree
        self.prefix = prefix
        self.files = files


def take_baseline(
    repo: Repository,
    tree: str,
    wall_ns: "Callable[[], int]",
    entries: "Sequence[Entry] | None" = None,
    known: Snapshot | None = None,
) -> Fingerprint:
    """The fingerprint of every tracked file, once their content is known to be `tree`.

    Promises that the content of each was that of `tree` at a moment after its fingerprint was
    taken. Changes made later are the business of `fingerprint.moved`. Files of submodules are
    included. `entries` are the tree's, and `known` is a reading of the checkout at its commit,
    for a caller who has them.

    Raises: DirtyTree naming what differs, or that the checkout is on another tree now;
        RepositoryError for a sparse checkout or a submodule that is not there.
    """
    parts = parts_of(repo.top, tree, entries)
    paths = [part.prefix + path for part in parts for path in part.files]
    found = settle(lambda: take(repo.top, paths), wall_ns)
    point("baseline.fingerprinted")
    reading = start_read(repo.top) if known is None else read_again(known)
    asked = [start_claims(part.top) for part in parts]
    try:
        snapshot = reading.finish()
        collect(*asked)
    finally:
        for git in asked:
            git.discard()
    _require_still(snapshot, tree)
    require_clean(snapshot)
    for part, git in zip(parts, asked, strict=True):
        _require_content(part, found, claims(git))
    return found


def take_working_baseline(known: Snapshot, wall_ns: "Callable[[], int]") -> Fingerprint:
    """The same for a checkout that `known` looked at as its files are: of every file that counts.

    Raises: DirtyTree naming what changed since; RepositoryError and CannotTell as
        `read_working_tree` and `take_baseline` do.
    """
    working = known.working
    assert working is not None, "a commit has a baseline of its own"
    from tenure.gate.working_tree import read_working_tree

    parts = parts_of(known.repo.top, working.tree, working.entries)
    paths = [part.prefix + path for part in parts for path in part.files]
    found = settle(lambda: take(known.repo.top, paths), wall_ns)
    point("baseline.fingerprinted")
    changes = working.changes_to(read_working_tree(read_again(known).finish()))
    if changes:
        edited = [path for _, path in changes]
        raise DirtyTree(
            what=f"these files changed meanwhile: {listed(edited)}",
            next="ask again when nobody edits them",
            paths=tuple(shown(path) for path in edited),
        )
    for part in parts[1:]:
        git = start_claims(part.top)
        collect(git)
        _require_content(part, found, claims(git))
    return found


def parts_of(top: str, tree: str, entries: "Sequence[Entry] | None" = None) -> list[Part]:
    """What `tree` tracks in the checkout at `top`, then what each of its submodules tracks.

    Raises: RepositoryError for a submodule that is not on disk, or not at the commit it should be.
    """
    return _parts(top, tree, b"", entries_at(top, tree) if entries is None else entries)


def _parts(top: str, tree: str, prefix: bytes, entries: "Sequence[Entry]") -> list[Part]:
    files = {entry[2]: entry for entry in entries if entry[0] != GITLINK}
    found = [Part(top, tree, prefix, files)]
    for mode, commit, path in entries:
        if mode != GITLINK:
            continue
        inner = os.path.join(top, os.fsdecode(path))
        if not os.path.lexists(os.path.join(inner, ".git")):
            raise RepositoryError(
                what=f"the submodule {shown(prefix + path)} is not there",
                next="run `git submodule update --init --recursive`",
            )
        found += _parts(inner, commit, prefix + path + b"/", entries_at(inner, commit))
    return found


def _require_still(snapshot: Snapshot, tree: str) -> None:
    if snapshot.tree != tree:
        raise DirtyTree(
            what=f"the checkout {snapshot.repo.top} was moved to commit {snapshot.head[:12]} meanwhile",
            next="ask again for that commit",
            paths=(),
        )


def _require_content(part: Part, found: Fingerprint, claimed: "Mapping[bytes, Claim]") -> None:
    """Pass if every file of `part` has the content of its tree, also where git does not look."""
    absent = [part.prefix + p for p in skipped(claimed) if found.marks.get(part.prefix + p) is None]
    if absent:
        raise RepositoryError(
            what=f"this is a sparse checkout, {len(absent)} files of the commit are not on disk: {listed(absent)}",
            next="run `git sparse-checkout disable`, or judge it in a full worktree",
        )
    if all_hold(claimed, ((path, found.marks[part.prefix + path]) for path in part.files)):
        return
    lying = [part.prefix + path for _, path in content_changes(part.top, part.tree)]
    if lying:
        raise DirtyTree(
            what=f"git does not look at these files, and they differ from the commit: {listed(lying)}",
            next="run `git update-index --really-refresh` to see them, `git update-index "
            "--no-assume-unchanged --no-skip-worktree PATH` where they are marked, then commit or restore them",
            paths=tuple(shown(path) for path in lying),
        )
