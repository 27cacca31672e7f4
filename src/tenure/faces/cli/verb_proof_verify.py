"""`tenure proof verify`: say whether a bundle proves a commit, from git and the file alone."""

import argparse

import msgspec

from tenure.faces.cli.files import read_bounded
from tenure.faces.cli.session import Session
from tenure.gate.bundle import MOST_BYTES, Bundle, opened
from tenure.gate.diagnosis import listed
from tenure.gate.errors import BundleChanged
from tenure.gate.merging import Merged, merged
from tenure.gate.revision import find_commit, read_repository, read_revision
from tenure.gate.verification import Reason, require_recorded, stale, verify


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Verify a bundle: exit 0 if it proves the commit, 1 with every reason if it does not."""
    repo, head = read_repository(session.directory(chosen.cwd))
    commit = head if chosen.commit is None else find_commit(repo, chosen.commit)
    onto = None if chosen.onto is None else find_commit(repo, chosen.onto)
    told = frozenset(chosen.accept_policy_change)
    bundle: Bundle | None = None
    merge: Merged | None = None
    try:
        bundle = opened(read_bounded(chosen.file, MOST_BYTES))
    except BundleChanged as changed:
        part = str(changed.fields["part"])
        reasons = [Reason(kind="changed", name=part, detail=str(changed))]
    else:
        require_recorded(told, bundle)
        judged = read_revision(repo, commit, frozenset(bundle.summary.about.accepted))
        reasons = verify(bundle, judged, told)
        if onto is not None:
            merge = merged(repo, commit, onto)
            reasons += stale(bundle, chosen.onto, merge.tree, listed(list(merge.conflicts)))
    session.result(
        commit=commit,
        file=chosen.file,
        bundle=None if bundle is None else _told(bundle),
        merged=None if merge is None else merge.tree,
        reasons=[msgspec.to_builtins(reason) for reason in reasons],
    )
    for reason in reasons:
        named = "" if reason.kind == "changed" else f"{reason.name}: "  # its sentence has it
        session.say(named + reason.detail)
    names = ", ".join(dict.fromkeys(reason.name for reason in reasons))
    session.say(
        f"not met: {commit[:12]} ({names})" if bundle is None or reasons else _met(bundle, commit)
    )
    return 1 if reasons else 0


def _told(bundle: Bundle) -> dict[str, object]:
    """What a bundle says, for machines."""
    about = bundle.summary.about
    return {
        "proof": about.proof,
        "tree": bundle.summary.tree,
        "commit": about.commit,
        "base": about.base,
        "judged_by": about.judged_by,
        "accepted": list(about.accepted),
        "requirements": [result.requirement for result in bundle.results],
        "flaky": [result.requirement for result in bundle.results if result.flaky],
        "standards": [item.standard for item in about.standards],
        "created": bundle.summary.predicate.created,
    }


def _met(bundle: Bundle, commit: str) -> str:
    about = bundle.summary.about
    count = len(bundle.results)
    accepted = f"; accepted: {', '.join(about.accepted)}" if about.accepted else ""
    own = "; judged by its own policy, there was none before it" if about.judged_by == "own" else ""
    flaky = [result.requirement for result in bundle.results if result.flaky]
    retried = f"; FLAKY, passed by a retry: {', '.join(flaky)}" if flaky else ""
    return (
        f"met: the bundle of Proof {about.proof[:12]} proves {commit[:12]} "
        f"({count} requirement{'' if count == 1 else 's'}{own}{retried}{accepted})"
    )
