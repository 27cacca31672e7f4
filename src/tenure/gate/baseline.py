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
from tenure.gate.objects import GITLINK, Entry, content_ids, entries_at, flagged, start_flags
from tenure.gate.worktree import Repository, Snapshot, require_clean, start_read
from tenure.kernel.points import point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Part:
    """The tracked files of one repository of a checkout: its own, or one of its submodules'.

    `prefix` leads from the checkout's top to the part's `top`; `files` are relative to the latter.
    """

    __slots__ = ("files", "prefix", "top")

    def __init__(self, top: str, prefix: bytes, files: "Mapping[bytes, Entry]") -> None:
        self.top = top
        self.prefix = prefix
        self.files = files


def take_baseline(
    repo: Repository,
    tree: str,
    wall_ns: "Callable[[], int]",
    entries: "Sequence[Entry] | None" = None,
) -> Fingerprint:
    """The fingerprint of every tracked file, once their content is known to be `tree`.

    Promises that the content of each was that of `tree` at a moment after its fingerprint was
    taken. Changes made later are the business of `fingerprint.moved`. Files of submodules are
    included. `entries` are the tree's, for a caller who has them.

    Raises: DirtyTree naming what differs, or that the checkout is on another tree now;
        RepositoryError for a sparse checkout or a submodule that is not there.
    """
    parts = parts_of(repo.top, tree, entries)
    paths = [part.prefix + path for part in parts for path in part.files]
    found = settle(lambda: take(repo.top, paths), wall_ns)
    point("baseline.fingerprinted")
    reading = start_read(repo.top)
    flags = [start_flags(part.top) for part in parts]
    try:
        snapshot = reading.finish()
        collect(*flags)
    finally:
        for git in flags:
            git.discard()
    _require_still(snapshot, tree)
    require_clean(snapshot)
    for part, git in zip(parts, flags, strict=True):
        _require_nothing_hidden(part, flagged(git))
    return found


def parts_of(top: str, tree: str, entries: "Sequence[Entry] | None" = None) -> list[Part]:
    """What `tree` tracks in the checkout at `top`, then what each of its submodules tracks.

    Raises: RepositoryError for a submodule that is not on disk, or not at the commit it should be.
    """
    return _parts(top, b"", entries_at(top, tree) if entries is None else entries)


def _parts(top: str, prefix: bytes, entries: "Sequence[Entry]") -> list[Part]:
    found = [Part(top, prefix, {entry[2]: entry for entry in entries if entry[0] != GITLINK})]
    for mode, commit, path in entries:
        if mode != GITLINK:
            continue
        inner = os.path.join(top, os.fsdecode(path))
        if not os.path.lexists(os.path.join(inner, ".git")):
            raise RepositoryError(
                what=f"the submodule {shown(prefix + path)} is not there",
                next="run `git submodule update --init --recursive`",
            )
        found += _parts(inner, prefix + path + b"/", entries_at(inner, commit))
    return found


def _require_still(snapshot: Snapshot, tree: str) -> None:
    if snapshot.tree != tree:
        raise DirtyTree(
            what=f"the checkout {snapshot.repo.top} was moved to commit {snapshot.head[:12]} meanwhile",
            next="ask again for that commit",
            paths=(),
        )


def _require_nothing_hidden(part: Part, marked: "Sequence[tuple[str, bytes]]") -> None:
    """Pass if files marked assume-unchanged or skip-worktree are as recorded all the same."""
    if not marked:
        return
    root = os.fsencode(part.top) + b"/"
    skipped = [path for flag, path in marked if flag in "Ss" and not os.path.lexists(root + path)]
    if skipped:
        raise RepositoryError(
            what=f"this is a sparse checkout, {len(skipped)} files of the commit are not on disk: "
            + listed([part.prefix + path for path in skipped]),
            next="run `git sparse-checkout disable`, or judge it in a full worktree",
        )
    paths = [path for _, path in marked if path in part.files]
    length = len(part.files[paths[0]][1]) if paths else 0
    lying = [
        part.prefix + path
        for path, present in zip(paths, content_ids(part.top, paths, length), strict=True)
        if present is None or (_mode(root + path), present) != part.files[path][:2]
    ]
    if lying:
        raise DirtyTree(
            what=f"git was told not to look at these files, and they differ from the commit: {listed(lying)}",
            next="run `git update-index --no-assume-unchanged --no-skip-worktree -- PATH`, then commit or restore them",
            paths=tuple(shown(path) for path in lying),
        )


def _mode(path: bytes) -> str:
    mode = os.lstat(path).st_mode
    if mode & 0o170000 == 0o120000:
        return "120000"
    return "100755" if mode & 0o100 else "100644"
