"""`tenure gc`: remove what no kept Proof rests on and nothing needs any more."""

import argparse

import msgspec

from tenure.faces.cli.session import Session
from tenure.faces.cli.sizes import told_size, told_usage
from tenure.gate.clearing import Clearing, Found
from tenure.gate.disk import Removed, clear_locks, clear_outputs, clear_runs, usage
from tenure.gate.duration import parse_duration
from tenure.gate.errors import UsageError
from tenure.gate.place import Place
from tenure.gate.revision import checked_out
from tenure.gate.store import GateStore
from tenure.kernel.points import point

_LONGEST = 3650 * 86_400.0

#: Records removed in one transaction: others wait for no longer than that takes.
_AT_ONCE = 1000


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Clear the repository's store, as somebody asked for it: nothing does so by itself."""
    cwd = session.directory(chosen.cwd)
    clearing = _clearing(session, chosen, cwd)
    place = session.place(cwd)
    store = session.existing_store(place, writable=not chosen.dry_run)
    gone, files = Found(), dict[str, Removed]()
    if store is not None:
        try:
            gone, files = _clear(store, place, clearing, dry=chosen.dry_run)
        finally:
            store.close()
    left = usage(place)
    session.result(
        dry_run=chosen.dry_run,
        removed={
            "proofs": list(gone.proofs),
            "receipts": list(gone.receipts),
            "runs": list(gone.runs),
        },
        files={kind: msgspec.to_builtins(found) for kind, found in files.items()},
        usage=msgspec.to_builtins(left),
    )
    records = {"Proofs": gone.proofs, "receipts": gone.receipts, "runs": gone.runs}
    told = [f"{len(ids)} {kind}" for kind, ids in records.items() if ids]
    told += [f"{f.count} {kind} ({told_size(f.size)})" for kind, f in files.items() if f.count]
    would = "would go" if chosen.dry_run else "removed"
    session.say(f"{would}: {', '.join(told) or 'nothing'}")
    session.say(f"{'used' if chosen.dry_run else 'left'}: {told_usage(left)}")
    return 0


def _clearing(session: Session, chosen: argparse.Namespace, cwd: str) -> Clearing:
    if chosen.keep_proofs < 0:
        raise UsageError(what="--keep-proofs has to be at least 0")
    try:
        age = parse_duration(chosen.older_than, _LONGEST)
    except UsageError as error:
        raise UsageError(
            what=f"--older-than: {error.fields['what']}", next=error.fields["next"]
        ) from error
    return Clearing(
        before_ns=session.clock.now().wall_ns - int(age * 1e9),
        keep_proofs=chosen.keep_proofs,
        trees=checked_out(session.repository(cwd)),
    )


def _clear(
    store: GateStore, place: Place, clearing: Clearing, *, dry: bool
) -> tuple[Found, dict[str, Removed]]:
    """Records first, so that none ever names a file that is not there; then the files."""
    gone = store.would_clear(clearing) if dry else _clear_records(store, clearing)
    point("gc.records")
    named = store.named(without=gone.receipts if dry else ())
    before = clearing.before_ns
    return gone, {
        "run directories": clear_runs(place, named, gone.runs, before, dry=dry),
        "captured outputs": clear_outputs(place, named, before, dry=dry),
        "locks": clear_locks(place, named, before, dry=dry),
    }


def _clear_records(store: GateStore, clearing: Clearing) -> Found:
    gone = Found()
    while (found := store.clear(clearing, _AT_ONCE)).count:
        gone = Found(
            proofs=gone.proofs + found.proofs,
            receipts=gone.receipts + found.receipts,
            runs=gone.runs + found.runs,
        )
    return gone
