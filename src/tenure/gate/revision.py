"""A commit as git alone tells it: its tree, its base, the policies and the files. No store."""

import os

import msgspec

from tenure.gate import objects
from tenure.gate.elsewhere import commit_of, read_commit
from tenure.gate.errors import UsageError
from tenure.gate.git import ask
from tenure.gate.policy import Policy
from tenure.gate.situation import POLICY, read_policies
from tenure.gate.trunk import resolve_trunk
from tenure.gate.worktree import Repository, start_read


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A commit and everything that decides what it has to meet.

    `judging` is None where nothing but `own` judges. `taken` is what it took to read them: the
    accepted change `policy` where a judging policy does not parse and was passed over.
    """

    commit: str
    tree: str
    base: str | None
    judged_by: str
    own: Policy
    judging: Policy | None
    taken: frozenset[str]
    trunk: str | None
    entries: list[objects.Entry]
    links: dict[bytes, bytes]  #: what each link among them says


def read_revision(repo: Repository, commit: str, accepted: frozenset[str]) -> Judged:
    """What has to be known to judge `commit`, read from the repository and nothing else.

    The trunk is found as at the first use of a store: there is none here that could have
    pinned its name.

    Raises:
        PolicyError, RepositoryError: as `read_policies` and `resolve_trunk` say.
    """
    trunk = resolve_trunk(repo)
    _, own, judging, _ = read_policies(read_commit(repo, commit, trunk.ref), frozenset({POLICY}))
    configured = (own if judging is None else judging).trunk
    trunk = resolve_trunk(repo, configured=configured)
    snapshot = read_commit(repo, commit, trunk.ref)
    judged, own, judging, taken = read_policies(snapshot, accepted)
    entries = objects.tree_entries(repo, snapshot.tree)
    return Judged(
        commit=commit,
        tree=snapshot.tree,
        base=snapshot.base,
        judged_by=judged.judging.value,
        own=own,
        judging=judging,
        taken=taken,
        trunk=_name(trunk.ref) or configured,
        entries=entries,
        links=_links(repo, commit, entries),
    )


def _links(repo: Repository, commit: str, entries: list[objects.Entry]) -> dict[bytes, bytes]:
    paths = [path for mode, _, path in entries if mode == objects.LINK]
    said = objects.read_blobs(repo, [(commit, os.fsdecode(path)) for path in paths])
    return {path: text for path, text in zip(paths, said, strict=True) if text is not None}


def find_commit(repo: Repository, typed: str) -> str:
    """The commit that `typed` names.

    Raises:
        UsageError: it names none.
    """
    commit = commit_of(repo, typed)
    if commit is None:
        raise UsageError(
            what=f"{typed!r} names no commit of this repository",
            next="fetch it, or name another",
        )
    return commit


def read_repository(cwd: str) -> tuple[Repository, str]:
    """The repository that `cwd` is in, and the commit that is checked out.

    Raises:
        RepositoryError: there is none that could be read.
    """
    snapshot = start_read(cwd).finish()
    return snapshot.repo, snapshot.head


def checked_out(repo: Repository) -> frozenset[str]:
    """The tree of every commit that is checked out in some worktree, as far as git can tell."""
    tops = [repo.top, *objects.worktrees(repo)]
    asked = [ask(top, "rev-parse", "--verify", "--quiet", "HEAD^{tree}") for top in tops]
    return frozenset(git.output.decode().strip() for git in asked if git.code == 0)


def _name(ref: str | None) -> str | None:
    """The trunk's name as a policy would say it."""
    if ref is None:
        return None
    name = ref.split("/", 3)[3] if ref.startswith("refs/remotes/") else ref
    name = name.removeprefix("refs/heads/")
    return None if name == "HEAD" else name
