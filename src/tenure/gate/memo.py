"""The memo of a Proof: what has to hold for the shortcut to answer without reading everything."""

from collections.abc import Mapping

from tenure.gate.candidate import Judging
from tenure.gate.digest import keyed
from tenure.gate.proof import Proof
from tenure.gate.record import Memo, Watched
from tenure.gate.situation import Situation


def memo_of(found: Situation, proof: Proof, secret: str, environ: Mapping[str, str]) -> Memo | None:
    """The memo that `proof` answers `found`; None where the plain question has another answer.

    A job whose identity includes what a command prints cannot be answered without running
    that command only as long as the command's program is watched, which it is.
    """
    if found.required.accepted or found.required.objections:
        return None
    key = secret.encode()
    return Memo(
        tree=found.candidate.tree,
        base=found.candidate.base or "",
        tip=(found.snapshot.trunk_tip or "") if found.candidate.judging is not Judging.BASE else "",
        proof=proof.id,
        environment=tuple(
            (name, keyed(key, name, environ[name]) if name in environ else None)
            for name in sorted(found.variables)
        ),
        watched=tuple(Watched(path=path, stat=stat) for path, stat in found.watched.items()),
    )
