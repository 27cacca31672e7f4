"""Attesting: what a Proof and its receipts say, as the statements of a bundle. Pure.

What leaves the machine is named here, field by field: digests, names, times and ids. No path,
no host, no output, and nothing that was made of an environment variable but the identity,
whose key stays in the store.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from tenure.gate.bundle import canonical, sealed, sha256
from tenure.gate.measurement import Measurement
from tenure.gate.proof import Evidence, Proof
from tenure.gate.receipt import Receipt
from tenure.gate.statement import (
    JUDGED_BY,
    MET,
    NOTHING_ACCEPTED,
    About,
    Configuration,
    FileDigest,
    GitTree,
    JobDigest,
    Judging,
    JudgingPolicy,
    Listed,
    Measured,
    PolicyDigest,
    Ran,
    Result,
    ResultPredicate,
    Subject,
    Summary,
    SummaryPredicate,
    Verifier,
)


def attested(proof: Proof, receipts: Mapping[str, Receipt]) -> bytes:
    """The bundle of a Proof that stands, from its receipts by id. Always the same bytes.

    Raises:
        CannotTell: it would be larger than a bundle may be.
    """
    subject = (Subject(digest=GitTree(tree=proof.tree)),)
    results = [_result(item, receipts[item.receipt], subject) for item in proof.evidence]
    summary = Summary(
        subject=subject,
        predicate=SummaryPredicate(
            verifier=Verifier(policies=(JudgingPolicy(digest=PolicyDigest(policy=proof.policy)),)),
            created=_time(proof.settled_wall_ns),
            properties=_properties(proof),
            tenure=About(
                proof=proof.id,
                candidate=proof.candidate,
                requirements=proof.requirements,
                commit=proof.commit,
                base=proof.base,
                judged_by=cast(Judging, proof.judged_by),
                accepted=proof.accepted,
                results=tuple(
                    Listed(name=each.requirement, digest=FileDigest(sha256=sha256(canonical(each))))
                    for each in results
                ),
                standards=tuple(_measured(each) for each in proof.standards),
            ),
        ),
    )
    return sealed(summary, results)


def _properties(proof: Proof) -> tuple[str, ...]:
    """What was verified, for readers who know no more of Tenure than these words."""
    plain = () if proof.accepted else (NOTHING_ACCEPTED,)
    return (MET, JUDGED_BY[proof.judged_by], *plain)


def _result(item: Evidence, receipt: Receipt, subject: tuple[Subject]) -> Result:
    assert receipt.passed, "a Proof that stands rests on passes"
    name = item.requirement
    return Result(
        subject=subject,
        predicate=ResultPredicate(
            configuration=(
                Configuration(
                    name=name,
                    digest=JobDigest(definition=receipt.parts["definition"]),
                    annotations=Ran(
                        receipt=receipt.id,
                        run=receipt.run,
                        source=item.source,
                        executed=_time(receipt.started_wall_ns),
                        milliseconds=round(receipt.seconds * 1000),
                        identity=receipt.identity,
                        inputs=receipt.parts["inputs"],
                        platform=receipt.parts["platform"],
                    ),
                ),
            ),
            result="WARNED" if receipt.flaky else "PASSED",
            passed=() if receipt.flaky else (name,),
            warned=(name,) if receipt.flaky else (),
            failed=(),
        ),
    )


def _measured(found: Measurement) -> Measured:
    assert found.value is not None, "a standard that is met has a number"
    return Measured(standard=found.standard, job=found.job, value=found.value, limit=found.limit)


def _time(wall_ns: int) -> str:
    """A moment as the specification writes one, to the second."""
    return datetime.fromtimestamp(wall_ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
