"""The tree that two commits have once they are merged. Nothing in the repository is written."""

import os
import shutil
import tempfile

import msgspec

from tenure.gate.errors import RepositoryError
from tenure.gate.git import ask, failed
from tenure.gate.worktree import Repository

#: The oldest git with `merge-tree --write-tree`.
_OLDEST = "2.38"

_CONFLICTS = 1
_UNKNOWN_OPTION = 129


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """What merging gives: a tree, or the paths that conflict."""

    tree: str | None
    conflicts: tuple[bytes, ...] = ()


def merged(repo: Repository, ours: str, theirs: str, into: str | None = None) -> Merged:
    """Merge the commit `theirs` into the commit `ours`, as git would without being told how.

    Objects that this makes are put into the directory `into`, or into one of our own that is
    gone afterwards.

    Raises:
        RepositoryError: git cannot say, or is too old to.
    """
    place = into or tempfile.mkdtemp(prefix="tenure-merge-")
    try:
        git = ask(
            repo.top,
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            ours,
            theirs,
            objects=(place, os.path.join(repo.common_dir, "objects")),
        )
    finally:
        if into is None:
            shutil.rmtree(place, ignore_errors=True)
    if git.code == _UNKNOWN_OPTION:
        raise RepositoryError(
            what="this git cannot say what a merge would give",
            next=f"install git {_OLDEST} or newer",
        )
    tree, *paths = git.output.split(b"\0")[:-1] or [b""]
    if git.code == _CONFLICTS and tree:
        return Merged(tree=None, conflicts=tuple(dict.fromkeys(paths)))
    if git.code != 0:
        raise failed(git)
    return Merged(tree=tree.decode())
