"""The answer to git's pre-push: every commit that is pushed has a Proof, or gets one here."""

import argparse

from tenure.faces.cli import words
from tenure.faces.cli.application import PlainDone
from tenure.faces.cli.exits import Exit
from tenure.faces.cli.hook_session import PushSession
from tenure.faces.hooks.push import Pushed, read_push
from tenure.faces.hooks.shortcut import read_standard_input
from tenure.gate.elsewhere import commit_of, find_proof, read_commit
from tenure.gate.errors import DirtyTree, NoPolicy, RepositoryError
from tenure.gate.reading import has_court, is_gated, known_trunk
from tenure.gate.shortcut import known, line
from tenure.gate.store import GateStore
from tenure.gate.worktree import Repository, Snapshot

#: The refs of a push by the commit they name; None: of those that name none.
_Commits = dict[str | None, list[Pushed]]


def judge_push(session: PushSession, chosen: argparse.Namespace) -> int:
    """Exit 0 if everything may go. What is not checked out is only looked up, and that first."""
    pushed = [ref for ref in read_push(read_standard_input()) if not ref.deletes]
    if not pushed:
        return Exit.MET
    cwd = session.directory(chosen.cwd)
    begun = known(lambda: cwd)
    if isinstance(begun, tuple):
        if all(ref.local == begun[0] for ref in pushed):
            session.say(line(begun))
            return Exit.MET
        begun = None
    session.begun = begun
    return _judge(session, cwd, pushed, chosen.wait)


def _judge(session: PushSession, cwd: str, pushed: list[Pushed], wait: str | None) -> int:
    repo = session.repository(cwd)
    head = commit_of(repo, "HEAD")
    commits: _Commits = {}
    for ref in pushed:
        commits.setdefault(commit_of(repo, ref.local), []).append(ref)
    store = session.existing_store(session.place(cwd))
    try:
        gated = is_gated(cwd, store)
        trunk = _trunk(repo, store, gated) if commits.keys() - {head} else None
        refused = [
            told
            for commit, refs in commits.items()
            if commit != head and (told := _refusal(repo, store, commit, refs, trunk, gated))
        ]
    finally:
        if store is not None:
            store.close()
    for told in refused:
        session.say(told)
    if refused:
        return Exit.NOT_MET
    if head is None or head not in commits or not gated:
        return Exit.MET
    return _judge_here(session, cwd, head, wait)


def _trunk(repo: Repository, store: GateStore | None, gated: bool) -> str | None:
    """The trunk, without which nobody judges; where nothing is gated, not knowing it is no fault."""
    try:
        return known_trunk(repo, store)
    except RepositoryError:
        if gated:
            raise
        return None


def _refusal(
    repo: Repository,
    store: GateStore | None,
    commit: str | None,
    refs: list[Pushed],
    trunk: str | None,
    gated: bool,
) -> str:
    """Why what is not checked out may not go; empty if it may."""
    names = ", ".join(words.branch_name(ref.local_ref) for ref in refs)
    if commit is None:
        return f"{names}: it names no commit, so nothing can be proven of it" if gated else ""
    snapshot = read_commit(repo, commit, trunk)
    if not has_court(snapshot) or _has_proof(store, snapshot):
        return ""
    short = commit[:12]
    return (
        f"{names}: {short} is not checked out here and has no Proof by today's policy; "
        f"`git worktree add --detach ../{short} {short} && tenure -C ../{short} done` proves it, "
        "then push again"
    )


def _has_proof(store: GateStore | None, snapshot: Snapshot) -> bool:
    try:
        return store is not None and find_proof(store, snapshot) is not None
    except NoPolicy:  # it removed the policy that judges it
        return False


def _judge_here(session: PushSession, cwd: str, head: str, wait: str | None) -> int:
    """The verdict of `tenure done` about the commit that is checked out."""
    from tenure.faces.cli import verb_done

    done = PlainDone(())
    done.cwd, done.wait = cwd, wait
    try:
        code = verb_done.carry_out(session, done)
    except DirtyTree:
        if not _proven_before(session, cwd, head):
            raise
        session.say(f"{head[:12]} has a Proof; what is not committed is not pushed")
        return Exit.MET
    if code == Exit.MET and session.judged != head:
        raise RepositoryError(
            what=f"HEAD moved while {head[:12]} was pushed, and what is proven is another commit",
            next="push again",
        )
    return code


def _proven_before(session: PushSession, cwd: str, head: str) -> bool:
    """Whether a Proof of this commit is there, whatever the working tree is by now."""
    repo = session.repository(cwd)
    store = session.existing_store(session.place(cwd))
    try:
        return _has_proof(store, read_commit(repo, head, known_trunk(repo, store)))
    finally:
        if store is not None:
            store.close()
