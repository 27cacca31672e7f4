"""The memo of a Proof: what has to hold for the shortcut to answer without reading everything."""

from collections.abc import Mapping

from tenure.gate.candidate import Judging
from tenure.gate.digest import keyed
from tenure.gate.jobs.environment import CHECKOUT
from tenure.gate.proof import Proof
from tenure.gate.record import Memo, Watched
from tenure.gate.situation import Situation


def memo_of(found: Situation, proof: Proof, secret: str, environ: Mapping[str, str]) -> Memo | None:
    """The memo that `proof` answers `found`; None where the plain question has another answer.

    What was found inside the checkout, a virtual environment or a lock file, holds for this
    checkout alone; what was not there holds wherever it is not there either. What a command
    of `context` prints is known only by running it, and the shortcut runs nothing: where a
    job has one, there is no memo.
    """
    if found.required.accepted or found.required.objections:
        return None
    if any(requirement.job.context for requirement in found.required.requirements):
        return None
    key = secret.encode()
    inside = f"{found.top}/"
    local = any(stat and path.startswith(inside) for path, stat in found.watched.items())
    given = {**environ, CHECKOUT: found.top}
    names = {*found.variables, CHECKOUT} if local else found.variables
    return Memo(
        tree=found.candidate.tree,
        base=found.candidate.base or "",
        tip=(found.snapshot.trunk_tip or "") if found.candidate.judging is not Judging.BASE else "",
        proof=proof.id,
        environment=tuple(
            (name, keyed(key, name, given[name]) if name in given else None)
            for name in sorted(names)
        ),
        watched=tuple(
            Watched(path=path if stat else path.removeprefix(inside), stat=stat)
            for path, stat in found.watched.items()
        ),
    )
