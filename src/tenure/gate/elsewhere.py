"""A commit that need not be checked out here: what a store has to say about it.

Only a checkout can be judged. For any other commit there is nothing but a Proof of its tree
by the policy that judges it now. Today's tools and variables are not compared: they are those
of another checkout.
"""

from tenure.gate.git import ask, demand
from tenure.gate.policy import policy_digest
from tenure.gate.proof import Proof
from tenure.gate.situation import read_policies
from tenure.gate.store import GateStore
from tenure.gate.worktree import Repository, Snapshot, base_of


def commit_of(repo: Repository, name: str) -> str | None:
    """The commit that an object is or, as an annotated tag, points to; None if it is neither."""
    asked = ask(
        repo.top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
    )
    return asked.output.decode().strip() if asked.code == 0 else None


def read_commit(repo: Repository, commit: str, trunk: str | None) -> Snapshot:
    """`commit` as a clean checkout of it would be read, against the ref `trunk`.

    Raises: RepositoryError when the repository is too shallow to tell its base.
    """
    tree, *parents = (
        demand(repo.top, "rev-parse", f"{commit}^{{tree}}", f"{commit}^@").decode().split()
    )
    tip, bases = None, list[str]()
    if trunk is not None:
        said = demand(repo.top, "rev-parse", f"{trunk}...{commit}").decode().split()
        bases = [name[1:] for name in said if name.startswith("^")]
        tip = next(name for name in reversed(said) if not name.startswith("^"))
    return Snapshot(
        repo=repo,
        head=commit,
        tree=tree,
        parents=parents,
        branch=None,
        trunk_ref=trunk,
        trunk_tip=tip,
        base=None if trunk is None else base_of(repo, commit, parents, bases),
        changes=(),
    )


def find_proof(store: GateStore, snapshot: Snapshot) -> Proof | None:
    """A Proof that stands, of this tree, by the policy that judges the commit now.

    One that accepted a change of policy counts for whoever accepts it again, so not here.

    Raises:
        PolicyError, NoPolicy: that policy cannot be read; the commit has none of its own.
    """
    _, own, judging, _ = read_policies(snapshot, frozenset())
    digest = policy_digest(own if judging is None else judging)
    return next(
        (
            proof
            for proof, stands in store.proofs_of_tree(snapshot.tree)
            if stands and proof.policy == digest and not proof.accepted
        ),
        None,
    )
