"""The tree of a checkout as it is: what `git add -A` and a commit would make of its files.

Git itself reckons it, with the user's filters, line endings and ignored paths, so that the same
files have the same tree once they are committed. It works on a copy of the index and writes
objects into a directory that is deleted at once: index, objects, refs, hooks and stash of the
repository are only read.
"""

import os

from tenure.gate.courts import POLICY_FILES
from tenure.gate.diagnosis import listed, shown
from tenure.gate.errors import CannotTell, RepositoryError
from tenure.gate.fingerprint import take
from tenure.gate.git import Git, collect, failed
from tenure.gate.index import Claim, all_hold, claims, skipped
from tenure.gate.objects import GITLINK, Entry
from tenure.gate.worktree import SUBMODULE, Change, Repository, Snapshot, WorkingTree
from tenure.kernel.points import point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Nothing but the tree is wanted: no hook, no flush of objects that are deleted again, and no
# file left out because it cannot be read.
_QUIET = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsync=none",
    "-c",
    "core.looseCompression=0",
    "-c",
    "core.splitIndex=false",
    "-c",
    "add.ignoreErrors=false",
    "-c",
    "advice.addEmbeddedRepo=false",
)


def read_working_tree(snapshot: Snapshot) -> WorkingTree:
    """The tree of the files that `snapshot` found, as they are now.

    Raises:
        RepositoryError: git could not add them (a filter, an unreadable file), the checkout is
            a sparse one, or there is a repository in it that is no submodule.
        CannotTell: a submodule has changes of its own, which no tree of this repository shows.
    """
    import tempfile  # brings half the standard library

    _require_whole_submodules(snapshot.changes)
    with tempfile.TemporaryDirectory(prefix="tenure-") as place:
        return _Copy(snapshot.repo, place).read()


class _Copy:
    """A copy of a repository's index, and room for objects, in a directory of our own."""

    def __init__(self, repo: Repository, place: str) -> None:
        self._top = repo.top
        self._index = os.path.join(place, "index")
        self._objects = os.path.join(place, "objects"), os.path.join(repo.common_dir, "objects")
        os.mkdir(self._objects[0])
        try:
            with open(os.path.join(repo.git_dir, "index"), "rb") as theirs:
                content = theirs.read()
        except FileNotFoundError:
            return  # nothing was ever added, and nothing is in the index
        with open(self._index, "wb") as ours:
            ours.write(content)

    def read(self) -> WorkingTree:
        """Add everything, and see what tree that is."""
        listing = self._start("ls-files", "-v", "--debug", "-z")
        collect(listing)
        claimed = claims(listing)
        self._doubt(claimed)
        point("working_tree.add")
        self._demand("add", "--all", "--", ".")
        tree, staged = self._start("write-tree"), self._start("ls-files", "--stage", "-z")
        collect(tree, staged)
        for git in (tree, staged):
            if git.code != 0:
                raise failed(git)
        entries = _entries(staged.output)
        _require_no_repository(claimed, entries)
        return WorkingTree(tree.output.decode().strip(), entries, self._policies(entries))

    def _doubt(self, claimed: "Mapping[bytes, Claim]") -> None:
        """Have git read every file that does not look as the index claims, whatever it was told."""
        marks = take(self._top, claimed).marks
        absent = [path for path in skipped(claimed) if marks[path] is None]
        if absent:
            raise RepositoryError(
                what=f"this is a sparse checkout, {len(absent)} files of it are not on disk: {listed(absent)}",
                next="run `git sparse-checkout disable`, or work in a full worktree",
            )
        doubtful = {
            path
            for path, mark in marks.items()
            if not all_hold(claimed, [(path, mark)]) and (mark or claimed[path][0] != "H")
        }
        if not doubtful:
            return
        records = self._demand("ls-files", "--stage", "-z").split(b"\0")[:-1]
        again = [line for line in records if line.partition(b"\t")[2] in doubtful]
        self._demand("update-index", "-z", "--index-info", stdin=b"\0".join([*again, b""]))

    def _policies(self, entries: "Sequence[Entry]") -> dict[str, bytes | None]:
        where = {os.fsdecode(path): oid for mode, oid, path in entries if mode != GITLINK}
        return {
            name: self._demand("cat-file", "blob", where[name]) if name in where else None
            for name in POLICY_FILES
        }

    def _start(self, *args: str, stdin: bytes = b"") -> Git:
        return Git(self._top, *_QUIET, *args, stdin=stdin, index=self._index, objects=self._objects)

    def _demand(self, *args: str, stdin: bytes = b"") -> bytes:
        git = self._start(*args, stdin=stdin)
        collect(git)
        if git.code != 0:
            raise _cannot_add(git) if args[0] == "add" else failed(git)
        return git.output


def _entries(output: bytes) -> list[Entry]:
    found: list[Entry] = []
    for line in output.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, oid, _ = about.decode("ascii").split(" ")
        found.append((mode, oid, path))
    return found


def _require_whole_submodules(changes: "Iterable[Change]") -> None:
    """Pass unless a submodule has changes that its commit does not have."""
    inside = [
        path
        for kind, path in changes
        if kind.startswith(SUBMODULE) and kind != f"{SUBMODULE}: new commits"
    ]
    if inside:
        raise CannotTell(
            what=f"there are changes inside of submodules, which no tree here shows: {listed(inside)}",
            next="commit them there, or take them back; then ask again",
        )


def _require_no_repository(claimed: "Mapping[bytes, Claim]", entries: "Sequence[Entry]") -> None:
    """Pass unless something untracked is a repository, of which a commit would keep a name only."""
    found = [path for mode, _, path in entries if mode == GITLINK and path not in claimed]
    if found:
        raise RepositoryError(
            what=f"inside this checkout is another repository, which is no submodule: {listed(found)}",
            next=f"ignore it (the line /{shown(found[0])}/ in .gitignore), or move it elsewhere",
        )


def _cannot_add(git: Git) -> RepositoryError:
    said = git.errors.decode("utf-8", "replace").strip().splitlines()
    said = [line for line in said if line.startswith(("fatal:", "error:"))] or said
    words = (
        "; ".join(dict.fromkeys((said[0], said[-1])))
        if said
        else f"it ended with code {git.code} and said nothing"
    )
    return RepositoryError(
        what=f"git cannot add what is in this checkout: {words}",
        next="run `git add --all --dry-run` here, and mend or ignore what it stumbles over",
    )
