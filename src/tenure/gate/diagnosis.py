"""Why a checkout cannot be judged, in words its owner can act on.

Imported only once something is wrong. Git is asked again, one plain question at a time; its
messages are read only where no question gives the answer.
"""

import os

from tenure.gate.errors import CannotTell, DirtyTree, RepositoryError
from tenure.gate.git import OLDEST, Git, ask, demand, failed
from tenure.gate.worktree import SUBMODULE, UNMERGED, UNTRACKED, Repository, Snapshot

_SHOWN = 10
_FLAG = b"--path-format=absolute"

_OPERATIONS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase or am",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}


def shown(path: bytes) -> str:
    """`path` for people: undecodable bytes and control characters escaped, one line."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def listed(paths: list[bytes]) -> str:
    """The first few of `paths`, and how many more there are."""
    more = len(paths) - _SHOWN
    names = ", ".join(shown(path) for path in paths[:_SHOWN])
    return f"{names} and {more} more" if more > 0 else names


def diagnosed(cwd: str, git: Git) -> CannotTell | Exception:
    """The error for a reading whose `git` failed."""
    if git.output.startswith(_FLAG) or ask(cwd, "rev-parse", _FLAG).output.startswith(_FLAG):
        version = ask(cwd, "version").output.decode("utf-8", "replace").strip()
        return RepositoryError(
            what=f"this is {version or 'an old git'}, which cannot answer what is asked of it",
            next=f"install git {OLDEST} or newer",
        )
    if not os.path.isdir(cwd):
        return RepositoryError(what=f"{cwd} is not a directory", next="call from inside a checkout")
    where = ask(
        cwd, "rev-parse", "--is-inside-git-dir", "--is-bare-repository", "--is-inside-work-tree"
    )
    if where.code != 0:
        return _outside(cwd, where)
    inside_git_dir, bare, inside_tree = where.output.split()[:3]
    if bare == b"true":
        return _bare(cwd)
    if inside_git_dir == b"true" and inside_tree != b"true":
        return RepositoryError(
            what=f"{cwd} is inside a git directory, not in a working tree",
            next="call from the checkout itself",
        )
    if ask(cwd, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").code != 0:
        return _headless(cwd, git)
    return failed(git)


def _outside(cwd: str, git: Git) -> RepositoryError:
    said = git.errors.decode("utf-8", "replace").strip()
    first = said.splitlines()[0].removeprefix("fatal: ") if said else "git cannot say where it is"
    if "dubious ownership" in said:
        hint = [line.strip() for line in said.splitlines() if "safe.directory" in line]
        advice = hint[0] if hint else "git config --global --add safe.directory <this directory>"
        return RepositoryError(
            what=f"git refuses to read {cwd}: {first}",
            next=f"if you trust it: {advice}",
        )
    if "not a git repository (or any" in said or "GIT_DISCOVERY_ACROSS_FILESYSTEM" in said:
        return RepositoryError(
            what=f"{cwd} is in no git repository", next="call from inside a checkout, or `git init`"
        )
    if "not a git repository" in said:  # a .git file that points nowhere
        return RepositoryError(
            what=f"the checkout at {cwd} lost its repository ({first})",
            next="if the repository was moved, run `git worktree repair` in it with this path",
        )
    return RepositoryError(
        what=f"git cannot read the repository at {cwd}: {first}",
        next="run `git status` here and mend what it reports",
    )


def _bare(cwd: str) -> RepositoryError:
    origin = ask(cwd, "config", "--show-origin", "--get", "core.bare").output
    setting = shown(origin.strip()).replace("\\t", " says core.bare=") if origin else ""
    if _linked(cwd):
        shared = (
            ask(cwd, "config", "--type=bool", "--get", "extensions.worktreeConfig").output.strip()
            == b"true"
        )
        because = " (extensions.worktreeConfig makes every worktree share it)" if shared else ""
        return RepositoryError(
            what=f"git takes the checkout at {cwd} for a bare repository: {setting}{because}",
            next="run `git config --worktree core.bare false` here, or unset it in that file",
        )
    return RepositoryError(
        what=f"{cwd} is a bare repository, there is no working tree to judge"
        + (f" ({setting})" if setting else ""),
        next="add one with `git worktree add`, and call from there",
    )


def _linked(cwd: str) -> bool:
    """Whether `cwd` is in a checkout whose `.git` is a file or directory beside its files."""
    here = os.path.realpath(cwd)
    while True:
        if os.path.lexists(os.path.join(here, ".git")):
            return True
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above


def _headless(cwd: str, git: Git) -> Exception:
    ref = ask(cwd, "symbolic-ref", "--quiet", "HEAD")
    if ref.code == 0:
        name = ref.output.strip()
        found = ask(cwd, "for-each-ref", "--format=%(objectname)", name)
        if found.code == 0 and not found.output and not found.errors:
            return RepositoryError(
                what=f"there are no commits yet on {shown(name.removeprefix(b'refs/heads/'))}",
                next="commit something first",
            )
    return failed(git)


def half_answered(cwd: str, git: Git) -> Exception:
    """The error for a reading that complained and went on, so that its answer is incomplete."""
    if b"'HEAD' is ambiguous" in git.errors:
        return RepositoryError(
            what=f"the repository at {cwd} has a branch, tag or remote called HEAD, so HEAD is ambiguous",
            next="rename it: `git branch -m HEAD another-name`, or delete it with `git tag -d HEAD`",
        )
    return failed(git)


def paths_one_by_one(cwd: str) -> list[bytes]:
    """The three paths of a repository when one of them contains a line break."""
    return [
        demand(cwd, "rev-parse", _FLAG, question).removesuffix(b"\n")
        for question in ("--show-toplevel", "--git-dir", "--git-common-dir")
    ]


def require_history(repo: Repository, head: str | None) -> None:
    """Pass if the absence of a base is real: `head`, if it is its own base, is a true root.

    Raises: RepositoryError when the shallow clone cut the answer off.
    """
    if head is not None:
        try:
            with open(os.path.join(repo.common_dir, "shallow"), "rb") as file:
                cut = file.read().split()
        except OSError as error:
            raise RepositoryError(
                what=f"{repo.top} is a shallow clone and its list of cut commits is unreadable: {error.strerror}",
                next="run `git fetch --unshallow`",
            ) from error
        if head.encode() not in cut:
            return
        missing = f"the parent of {head[:12]}"
    else:
        missing = "a common ancestor with the trunk"
    raise RepositoryError(
        what=f"{repo.top} is a shallow clone that does not reach {missing}, whose policy judges this commit",
        next="run `git fetch --deepen=100`, or `git fetch --unshallow`, and ask again",
    )


def operation(git_dir: str) -> str | None:
    """The rebase, merge, cherry-pick or revert that is under way, if any."""
    for name, words in _OPERATIONS.items():
        if os.path.lexists(os.path.join(git_dir, name)):
            return words
    return None


def dirty(snapshot: Snapshot) -> CannotTell:
    """The error for a working tree that is not its commit."""
    repo = snapshot.repo
    tracked = [path for kind, path in snapshot.changes if kind != UNTRACKED]
    if tracked and (twins := _case_twins(repo, snapshot.tree, tracked)):
        return RepositoryError(
            what="these paths differ by case only, and this file system keeps one of each: "
            + listed(twins),
            next="rename one in the commit (`git mv`), or judge it where case matters",
        )
    paths = [path for _, path in snapshot.changes]
    kinds = [kind for kind, _ in snapshot.changes]
    steps = []
    doing = operation(repo.git_dir)
    if UNMERGED in kinds:
        steps.append("resolve the conflicts and commit")
    elif doing:
        steps.append(f"finish or abort the {doing} that is under way")
    elif any(not kind.startswith((UNTRACKED, SUBMODULE)) for kind in kinds):
        steps.append("commit them")
    if any(kind.startswith(SUBMODULE) for kind in kinds):
        steps.append(
            "commit inside the submodules, then their new commits here, or `git submodule update`"
        )
    if UNTRACKED in kinds:
        steps.append("add, delete or ignore the untracked files")
    steps[-1:] = [f"{steps[-1]}; or `tenure check`, which runs jobs on files as they are"]
    return DirtyTree(
        what=f"the working tree is not commit {snapshot.head[:12]}: {_described(snapshot)}",
        next=", ".join(steps),
        paths=tuple(shown(path) for path in paths),
    )


def _described(snapshot: Snapshot) -> str:
    more = len(snapshot.changes) - _SHOWN
    text = ", ".join(f"{shown(path)} ({kind})" for kind, path in snapshot.changes[:_SHOWN])
    return f"{text} and {more} more" if more > 0 else text


def _case_twins(repo: Repository, tree: str, changed: list[bytes]) -> list[bytes]:
    """The paths of `tree` that another of its paths equals but for case, among those changed."""
    insensitive = ask(repo.top, "config", "--type=bool", "--get", "core.ignorecase").output.strip()
    if insensitive != b"true":
        return []
    folded: dict[str, list[bytes]] = {}
    for path in demand(repo.top, "ls-tree", "-r", "-z", "--full-tree", "--name-only", tree).split(
        b"\0"
    )[:-1]:
        folded.setdefault(path.decode("utf-8", "surrogateescape").casefold(), []).append(path)
    wanted = set(changed)
    return [
        path
        for twins in folded.values()
        if len(twins) > 1 and wanted & set(twins)
        for path in twins
    ]
