"""Which ref is the trunk: the line of history whose policy judges everything else."""

from tenure.gate.git import ask, demand
from tenure.gate.worktree import Repository

_CONVENTIONAL = ("main", "master")


class Trunk:
    """The trunk's full ref name and why it is that one.

    `ref` is None when there is none at all: the first policy then judges itself.
    `watched` names the files that decided it, to be watched by whoever remembers the answer.
    """

    __slots__ = ("reason", "ref", "watched")

    def __init__(self, ref: str | None, reason: str, watched: tuple[str, ...]) -> None:
        self.ref = ref
        self.reason = reason
        self.watched = watched

    @property
    def local_name(self) -> str | None:
        """The branch name to pin in the store, None where a remote decides or there is no trunk."""
        if self.ref is None or not self.ref.startswith("refs/heads/"):
            return None
        return self.ref.removeprefix("refs/heads/")


def resolve_trunk(
    repo: Repository, *, configured: str | None = None, pinned: str | None = None
) -> Trunk:
    """Find the trunk.

    Where there is a remote it is the remote's default branch; if that is unknown here, the
    remote's branch of the name `pinned` in the store, of the name the policy `configured`, or
    main, or master. A repository without fetched branches looks for the same names among its
    own, and at last takes the branch that is checked out. The names are without `refs/`.

    Raises: RepositoryError when several remotes could be meant, or when the trunk is known to
        be somewhere and cannot be seen here: a branch never judges itself for want of it.
    """
    watched = [f"{repo.common_dir}/config"]
    names = list(dict.fromkeys(name for name in (pinned, configured, *_CONVENTIONAL) if name))
    remote = _remote(repo)
    candidates: list[tuple[str, str]] = []
    if remote is not None:
        watched.append(f"{repo.common_dir}/refs/remotes/{remote}/HEAD")
        candidates.append((f"refs/remotes/{remote}/HEAD", f"the default branch of {remote}"))
        candidates += [
            (f"refs/remotes/{remote}/{n}", f"{n} of {remote}, {_why(n, pinned, configured)}")
            for n in names
        ]
    fetched = remote is not None and bool(_existing(repo, [f"refs/remotes/{remote}/"]))
    if not fetched:
        candidates += [
            (f"refs/heads/{n}", f"the local branch {n}, {_why(n, pinned, configured)}")
            for n in ([pinned] if pinned else names)
        ]
    there = _existing(repo, [ref for ref, _ in candidates])
    for ref, reason in candidates:
        if ref in there:
            return Trunk(ref, reason, tuple(watched))
    if fetched or pinned:
        raise _unseen(remote if fetched else None, pinned)
    current = ask(repo.top, "symbolic-ref", "--quiet", "HEAD")
    if current.code == 0:
        ref = current.output.removesuffix(b"\n").decode("utf-8", "surrogateescape")
        return Trunk(
            ref, "the branch that is checked out, there is no other candidate", tuple(watched)
        )
    return Trunk(
        None, "HEAD is detached and there is no remote, no main and no master", tuple(watched)
    )


def proposed_trunk(repo: Repository, branch: str | None) -> tuple[str, str]:
    """The name that a first policy should give to the trunk, and a remark where that is a guess.

    It is the trunk that judges, if that is known. Else it is a local main or master, and only
    where there is no other the full ref `branch`, which is checked out.
    """
    from tenure.gate.errors import RepositoryError

    try:
        ref = resolve_trunk(repo).ref
    except RepositoryError:
        there = _existing(repo, [f"refs/heads/{name}" for name in _CONVENTIONAL])
        ref = min(there, default=None)  # main before master
    if ref is not None and ref.startswith("refs/remotes/") and ref.endswith("/HEAD"):
        led = ask(repo.top, "symbolic-ref", "--quiet", ref)
        ref = led.output.removesuffix(b"\n").decode("utf-8", "surrogateescape") or None
    ref = ref or branch
    if ref is None:
        return "main", "a guess, for HEAD is detached: name the branch that others merge into"
    name = ref.split("/", 3)[3] if ref.startswith("refs/remotes/") else ref.split("/", 2)[2]
    if ref == branch and name not in _CONVENTIONAL:
        return name, "the branch that is checked out: is it the one that others merge into?"
    return name, ""


def _unseen(remote: str | None, pinned: str | None) -> Exception:
    from tenure.gate.errors import RepositoryError

    if remote is not None:
        return RepositoryError(
            what=f"the trunk of {remote} is not known here: only other branches were fetched",
            next=f"`git fetch {remote} '+refs/heads/*:refs/remotes/{remote}/*'` fetches the others, "
            f"and then `git remote set-head {remote} --auto` finds out which of them it is",
        )
    return RepositoryError(
        what=f"the trunk of this repository was {pinned}, and there is no such branch any more",
        next=f"make the branch {pinned} again",
    )


def _remote(repo: Repository) -> str | None:
    remotes = demand(repo.top, "remote").decode("utf-8", "surrogateescape").split("\n")[:-1]
    if not remotes or "origin" in remotes:
        return "origin" if remotes else None
    if len(remotes) == 1:
        return remotes[0]
    said = ask(repo.top, "config", "--get", "checkout.defaultRemote").output
    chosen = said.removesuffix(b"\n").decode("utf-8", "surrogateescape")
    if chosen in remotes:
        return chosen
    from tenure.gate.errors import RepositoryError

    raise RepositoryError(
        what=f"there are several remotes ({', '.join(sorted(remotes))}) and none is called origin, so the trunk is not known",
        next=f"say which one has it: `git config checkout.defaultRemote {sorted(remotes)[0]}`",
    )


def _existing(repo: Repository, refs: list[str]) -> set[str]:
    """Those of `refs` that exist and lead to an object; a symbolic ref to nothing does not."""
    found = demand(repo.top, "for-each-ref", "--format=%(refname)", *refs)
    return set(found.decode("utf-8", "surrogateescape").split("\n")[:-1])


def _why(name: str, pinned: str | None, configured: str | None) -> str:
    if name == pinned:
        return "the trunk since this store was made"
    return "named by the policy" if name == configured else "by convention"
