"""What a checkout is right now: which commit, on what base, and what differs from it.

Two git processes answer the whole question, side by side, while the caller goes on. Nothing is
written: no lock, no index, no ref. `gate/git.py` starts the processes; together with the other
rooms that ask git something (trunk, objects, baseline, diagnosis) these are the only modules
that do.

On the path that answers in milliseconds: imports nothing heavy.
"""

from tenure.gate.git import Git, collect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: One difference between the working tree and its commit: what kind, and the path from the top.
Change = tuple[str, bytes]

UNTRACKED = "untracked"
UNMERGED = "unmerged"
SUBMODULE = "submodule"

_STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--no-ahead-behind",
    "--no-renames",
    "--untracked-files=normal",
    "--ignore-submodules=none",
)
_KINDS = {"M": "modified", "T": "type changed", "A": "added", "D": "deleted"}
_REREADS = 5
_SHOWN = 10


class Repository:
    """Where a checkout and its git directories are, as absolute paths.

    `git_dir` belongs to this checkout alone, `common_dir` to all worktrees of the repository.
    `shallow` says that history ends early. `begun` holds questions about objects that were
    put to git ahead of time, by what they ask.
    """

    __slots__ = ("begun", "common_dir", "git_dir", "shallow", "top")

    def __init__(self, *, top: str, git_dir: str, common_dir: str, shallow: bool) -> None:
        self.top = top
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.shallow = shallow
        self.begun: dict[tuple[str, str], Git] = {}


class WorkingTree:
    """The files of a checkout as they are, as if all that is not ignored were added.

    `tree` is the id of their tree, `entries` its modes, object ids and paths in git's order, and
    `policies` the content of those that may be a policy, None where there is none.
    """

    __slots__ = ("entries", "policies", "tree")

    def __init__(
        self,
        tree: str,
        entries: "Sequence[tuple[str, str, bytes]]",
        policies: "Mapping[str, bytes | None]",
    ) -> None:
        self.tree = tree
        self.entries = list(entries)
        self.policies = dict(policies)

    def changes_to(self, later: "WorkingTree") -> list[Change]:
        """What differs in `later`, path by path; what is new there counts as untracked."""
        before = {path: (mode, oid) for mode, oid, path in self.entries}
        after = {path: (mode, oid) for mode, oid, path in later.entries}
        return [
            (UNTRACKED if path not in before else _KINDS["M" if path in after else "D"], path)
            for path in sorted({*before, *after})
            if before.get(path) != after.get(path)
        ]


class Snapshot:
    """One reading of a checkout.

    `branch` is a full ref name, None when HEAD is detached. `trunk_ref` and `trunk_tip` are None
    when no trunk was asked for or the ref does not exist; `base` then says nothing. With a
    trunk, `base` is the commit whose policy judges: the merge base, or the first parent where
    that is the commit itself; None for a root commit and for unrelated histories. `next_base` is
    what it would be for a commit on top of this one. `working` is there where not the commit is
    looked at but the files as they are; `tree` and `base` are then theirs.
    """

    __slots__ = (
        "base",
        "branch",
        "changes",
        "head",
        "next_base",
        "parents",
        "repo",
        "tree",
        "trunk_ref",
        "trunk_tip",
        "working",
    )

    def __init__(
        self,
        *,
        repo: Repository,
        head: str,
        tree: str,
        parents: "Sequence[str]",
        branch: str | None,
        trunk_ref: str | None,
        trunk_tip: str | None,
        base: str | None,
        changes: "Sequence[Change]",
        next_base: str | None = None,
        working: WorkingTree | None = None,
    ) -> None:
        self.repo = repo
        self.head = head
        self.tree = tree
        self.parents = tuple(parents)
        self.branch = branch
        self.trunk_ref = trunk_ref
        self.trunk_tip = trunk_tip
        self.base = base
        self.next_base = next_base
        self.changes = tuple(changes)
        self.working = working

    def with_changes(self, changes: "Sequence[Change]") -> "Snapshot":
        """The same position with another working tree."""
        return Snapshot(
            repo=self.repo,
            head=self.head,
            tree=self.tree,
            parents=self.parents,
            branch=self.branch,
            trunk_ref=self.trunk_ref,
            trunk_tip=self.trunk_tip,
            base=self.base,
            next_base=self.next_base,
            changes=changes,
            working=self.working,
        )

    def as_it_is(self, working: WorkingTree) -> "Snapshot":
        """The same checkout, looked at as its files are. If they differ from the commit, they are
        judged as a commit on top of it would be."""
        moved_on = working.tree != self.tree
        return Snapshot(
            repo=self.repo,
            head=self.head,
            tree=working.tree,
            parents=self.parents,
            branch=self.branch,
            trunk_ref=self.trunk_ref,
            trunk_tip=self.trunk_tip,
            base=self.next_base if moved_on else self.base,
            next_base=self.next_base,
            changes=self.changes,
            working=working,
        )

    @property
    def clean(self) -> bool:
        """Whether git sees no difference, untracked files included.

        Edits that the index was told not to look at are not seen here; a baseline sees them.
        """
        return not self.changes


class Position:
    """Where HEAD is, which is everything about a checkout but its working tree."""

    __slots__ = ("base", "branch", "head", "next_base", "parents", "repo", "tip", "tree")

    def __init__(self, found: "_Revisions") -> None:
        self.repo = found.repo
        self.head = found.head
        self.tree = found.tree
        self.parents = tuple(found.parents)
        self.branch = found.branch
        self.tip = found.tip
        self.base = (
            base_of(found.repo, found.head, found.parents, found.bases) if found.tip else None
        )
        self.next_base = found.bases[0] if found.bases else None


class Reading:
    """A reading under way. Close it with `finish`, or with `discard` if nobody wants the answer."""

    def __init__(self, cwd: str, known: Snapshot | None = None) -> None:
        self.trunk_ref: str | None = None
        self._cwd = cwd
        self._known = known
        self._revisions: Git | None = None
        self._position: Position | None = None
        self._status = Git(cwd, *_STATUS)

    @property
    def repo(self) -> Repository:
        """The repository, once `position` has answered."""
        assert self._position is not None, "ask for the position first"
        return self._position.repo

    def against(self, trunk_ref: str | None) -> "Reading":
        """Ask for the commit, and for its base on `trunk_ref` (a full ref name). Asked once."""
        assert self._revisions is None, "a reading has one trunk"
        self.trunk_ref = trunk_ref
        self._position = None
        try:
            self._revisions = _revisions(self._cwd, trunk_ref)
        except BaseException:
            self._status.discard()
            raise
        return self

    def finish(self) -> Snapshot:
        """Wait for both answers.

        Raises: RepositoryError when there is nothing here that can be judged, saying why.
        """
        if self._known is not None:
            again = self._unmoved(self._known)
            if again is not None:
                return again
        if self._revisions is None:
            self.against(self.trunk_ref)
        for _ in range(_REREADS):
            assert self._revisions is not None
            collect(self._status, self._revisions)
            snapshot = self._understood()
            if snapshot is not None:
                return snapshot
            self._status = Git(self._cwd, *_STATUS)
            self._revisions = None
            self.against(self.trunk_ref)
        self.discard()
        raise _restless(self._cwd)

    def discard(self) -> None:
        """Stop asking."""
        self._status.discard()
        if self._revisions is not None:
            self._revisions.discard()
        if self._position is not None:
            for git in self._position.repo.begun.values():
                git.discard()

    def position(self) -> Position | None:
        """The quick half of the answer, while git still looks at the working tree.

        None if it is not plain; `finish` finds out what it is. What `finish` returns may be
        about a later commit.

        Raises: RepositoryError as `finish` does.
        """
        assert self._revisions is not None, "ask `against` a trunk first"
        collect(self._revisions)
        if not _plain(self._revisions):
            return None
        self._position = Position(_Revisions(self._cwd, self._revisions.output, self.trunk_ref))
        return self._position

    def _unmoved(self, known: Snapshot) -> Snapshot | None:
        """The snapshot if HEAD is still at the known commit, about which nothing has to be asked."""
        collect(self._status)
        if self._status.code != 0:
            return None
        seen, changes = parse_status(self._status.output)
        return known.with_changes(changes) if seen == known.head else None

    def _understood(self) -> Snapshot | None:
        """The snapshot, or None if the two processes saw different commits."""
        revisions, trunk = self._revisions, self.trunk_ref
        assert revisions is not None
        if revisions.code != 0 and trunk is not None and self._status.code == 0:
            trunk = None  # most likely there is no such ref; without it the rest can be read
            revisions = _revisions(self._cwd, None)
            collect(revisions)
        too_old = revisions.output.startswith(b"--")  # it repeats an option it does not know
        if revisions.code != 0 or self._status.code != 0 or too_old:
            from tenure.gate.diagnosis import diagnosed

            fine = revisions.code == 0 and not too_old
            raise diagnosed(self._cwd, self._status if fine else revisions)
        if b"error:" in revisions.errors:  # a history that breaks off reads as "no merge base"
            from tenure.gate.diagnosis import half_answered

            raise half_answered(self._cwd, revisions)
        seen, changes = parse_status(self._status.output)
        found = self._position or Position(_Revisions(self._cwd, revisions.output, trunk))
        if seen != found.head:
            return None
        return Snapshot(
            repo=found.repo,
            head=found.head,
            tree=found.tree,
            parents=found.parents,
            branch=found.branch,
            trunk_ref=trunk,
            trunk_tip=found.tip,
            base=found.base,
            next_base=found.next_base,
            changes=changes,
        )


def start_read(cwd: str, trunk_ref: str | None = None) -> Reading:
    """Start reading the checkout that `cwd` is in, and return at once.

    With `trunk_ref` both questions go out now. Without it only the slow one does; ask the other
    with `against` when the trunk is known, or let `finish` ask it without a trunk.
    """
    reading = Reading(cwd)
    return reading.against(trunk_ref) if trunk_ref is not None else reading


def read_again(known: Snapshot) -> Reading:
    """Start reading the checkout of `known` anew, and return at once.

    As long as HEAD is at the commit that is known, one process answers, and everything but the
    differences is repeated as it was known, the branch and the trunk too.
    """
    return Reading(known.repo.top, known)


def require_clean(snapshot: Snapshot) -> None:
    """Pass if the working tree is the commit, as far as git can see.

    Raises: DirtyTree naming what differs; RepositoryError for paths that differ by case only.
    """
    if snapshot.changes:
        from tenure.gate.diagnosis import dirty

        raise dirty(snapshot)


def parse_status(output: bytes) -> tuple[str, list[Change]]:
    """The commit that `git status` saw, and every difference from it."""
    seen = ""
    changes: list[Change] = []
    if not output.count(b"\0", 0, 4096) and output:
        raise ValueError("not the output of git status -z")
    fields = iter(output.split(b"\0")[:-1])
    for field in fields:
        mark = field[:2]
        if mark == b"1 " or mark == b"2 ":
            head, sub, path = (
                field[2:4],
                field[5:9],
                field.split(b" ", 8 if mark == b"1 " else 9)[-1],
            )
            if mark == b"2 ":
                next(fields)
            changes.append((_kind(head.decode(), sub.decode()), path))
        elif mark == b"u ":
            changes.append((UNMERGED, field.split(b" ", 10)[-1]))
        elif mark == b"? ":
            changes.append((UNTRACKED, field[2:]))
        elif field.startswith(b"# branch.oid "):
            seen = field[13:].decode()
    return seen, changes


def base_of(
    repo: Repository, head: str, parents: "Sequence[str]", bases: "Sequence[str]"
) -> str | None:
    """The commit whose policy judges `head`, given its merge bases with the trunk.

    Raises: RepositoryError when a shallow clone cut off the commit this would be.
    """
    if bases and bases[0] != head:
        return bases[0]
    if bases and parents:
        return parents[0]
    if repo.shallow:
        from tenure.gate.diagnosis import require_history

        require_history(repo, head if bases else None)
    return None


class _Revisions:
    """The answer of `_revisions`, taken apart.

    Lines: shallow, commit, tree, parents…, [commit, trunk, ^base…], branch, then three paths.
    """

    def __init__(self, cwd: str, output: bytes, trunk: str | None) -> None:
        lines = output.split(b"\n")[:-1]
        self.head, self.tree = lines[1].decode(), lines[2].decode()
        at = 3
        hashes: list[str] = []
        while at < len(lines) and len(lines[at]) == len(self.head) and lines[at].isalnum():
            hashes.append(lines[at].decode())
            at += 1
        self.bases: list[str] = []
        while lines[at].startswith(b"^"):
            self.bases.append(lines[at][1:].decode())
            at += 1
        self.tip: str | None = None
        if trunk is not None:
            self.tip = hashes[-1]
            del hashes[-2:]
        self.parents = hashes
        branch = lines[at]
        self.branch = None if branch == b"HEAD" else _text(branch)
        paths = lines[at + 1 :]
        if len(paths) != 3:
            from tenure.gate.diagnosis import paths_one_by_one

            paths = paths_one_by_one(cwd)
        self.repo = Repository(
            top=_text(paths[0]),
            git_dir=_text(paths[1]),
            common_dir=_text(paths[2]),
            shallow=lines[0] == b"true",
        )


def _plain(revisions: Git) -> bool:
    """Whether there is an answer, and nothing was said about it."""
    return revisions.code == 0 and not revisions.output.startswith(b"--") and not revisions.errors


def _revisions(cwd: str, trunk_ref: str | None) -> Git:
    # The order matters: what may be missing or of any length comes where it can be told apart.
    return Git(
        cwd,
        "rev-parse",
        "--path-format=absolute",
        "--is-shallow-repository",
        "HEAD",
        "HEAD^{tree}",
        "HEAD^@",
        *((f"{trunk_ref}...HEAD",) if trunk_ref is not None else ()),
        "--symbolic-full-name",
        "HEAD",
        "--show-toplevel",
        "--git-dir",
        "--git-common-dir",
    )


def _kind(letters: str, sub: str) -> str:
    if sub[0] == "S":
        what = [
            words
            for letter, words in zip(
                sub[1:], ("new commits", "modified content", "untracked content"), strict=True
            )
            if letter != "."
        ]
        if what:
            return f"{SUBMODULE}: {', '.join(what)}"
    letter = letters[1] if letters[1] != "." else letters[0]
    return _KINDS.get(letter, "changed")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _restless(cwd: str) -> Exception:
    from tenure.gate.errors import RepositoryError

    return RepositoryError(
        what=f"HEAD of {cwd} moved each of the {_REREADS} times it was read",
        next="wait until whatever commits or checks out here is finished, then ask again",
    )
