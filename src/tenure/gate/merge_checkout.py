"""The merged tree: what two commits make together, in a repository of its own.

It borrows the objects of the user's repository and writes none there, has no remote, no hook
and no configuration of that repository, and is deleted by whoever made it. Nothing of the
user's is touched: no object, ref, index, worktree list or file.
"""

import os

from tenure.gate.diagnosis import listed, shown
from tenure.gate.errors import CannotTell
from tenure.gate.git import demand
from tenure.gate.merging import merged
from tenure.gate.objects import GITLINK, tree_entries
from tenure.gate.worktree import Repository, start_read

#: In the repository of the merged tree: the commit that is merged onto, and the merge.
ONTO = "refs/heads/onto"
_MERGED = "refs/heads/merged"

_OPTIONS = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "user.name=tenure",
    "-c",
    "user.email=tenure@localhost",
    "-c",
    "commit.gpgSign=false",
)


def check_out_merged(repo: Repository, onto: str, ours: str, place: str) -> str:
    """Make a repository in the empty directory `place` whose HEAD merges `ours` onto `onto`.

    Returns the merged tree. Both are commits of `repo`.

    Raises:
        CannotTell: they conflict, or the merged tree cannot be checked out on its own.
    """
    _begin(repo, place)
    tree = _merge(repo, place, onto, ours)
    message = f"{ours[:12]} merged onto {onto[:12]}"
    commit = _demand(place, "commit-tree", "-p", onto, "-p", ours, "-m", message, tree)
    _demand(place, "update-ref", ONTO, onto)
    _demand(place, "update-ref", _MERGED, commit)
    _demand(place, "symbolic-ref", "HEAD", _MERGED)
    found = start_read(place).finish().repo
    if any(mode == GITLINK for mode, _, _ in tree_entries(found, tree)):
        raise CannotTell(
            what="the merged tree has submodules, which a tree of its own cannot have filled",
            next="merge, and measure the merge",
        )
    _demand(place, "reset", "--quiet", "--hard")
    return tree


def _begin(repo: Repository, place: str) -> None:
    kind = demand(repo.top, "rev-parse", "--show-object-format").decode().strip()
    _demand(place, "init", "--quiet", "--template=", f"--object-format={kind}")
    objects = os.path.join(repo.common_dir, "objects")
    info = os.path.join(place, ".git", "objects", "info")
    os.makedirs(info, exist_ok=True)
    with open(os.path.join(info, "alternates"), "wb") as file:
        file.write(_quoted(objects) + b"\n")
    if repo.shallow:
        with (
            open(os.path.join(repo.common_dir, "shallow"), "rb") as theirs,
            open(os.path.join(place, ".git", "shallow"), "wb") as ours,
        ):
            ours.write(theirs.read())


def _merge(repo: Repository, place: str, onto: str, ours: str) -> str:
    """The tree of the merge, written to the repository at `place`."""
    found = merged(repo, onto, ours, into=os.path.join(place, ".git", "objects"))
    if found.tree is None:
        raise CannotTell(
            what=f"{ours[:12]} and {onto[:12]} conflict in {listed(list(found.conflicts))}",
            next="merge or rebase, then measure what came of it",
            paths=tuple(shown(path) for path in found.conflicts),
        )
    return found.tree


def _demand(place: str, *args: str) -> str:
    return demand(place, *_OPTIONS, *args).decode().strip()


def _quoted(path: str) -> bytes:
    """A path as a line of `info/alternates`, where one that is quoted may have any name."""
    raw = os.fsencode(path)
    for plain, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        raw = raw.replace(plain, escaped)
    return b'"' + raw + b'"'
