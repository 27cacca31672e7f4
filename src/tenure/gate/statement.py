"""The in-toto statements that a bundle is made of, as values. Their JSON is what the specification says.

A summary is a Simple Verification Result, v0.2: that a policy was met, by which tree. A result
is a Test Result, v0.1: that one requirement was. What is ours alone stands in `tenure`, an
extension field of the summary's predicate, and in annotations; whoever does not know them loses
nothing that the specified fields promise.
"""

from typing import Annotated, Final, Literal

import msgspec

STATEMENT: Final = "https://in-toto.io/Statement/v1"
SUMMARY: Final = "https://in-toto.io/attestation/svr/v0.2"
RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"

#: Who verified, by what rules: a package, and within it the version of the gate's rules.
VERIFIER: Final = "pkg:pypi/tenure#gate/v1"

#: Properties of a summary: always the first, then one that says whose policy judged.
MET: Final = "TENURE_POLICY_MET"
JUDGED_BY: Final[dict[str, str]] = {
    "base": "TENURE_JUDGED_BY_BASE",
    "tip": "TENURE_JUDGED_BY_TRUNK",
    "own": "TENURE_JUDGED_BY_ITSELF",
}
NOTHING_ACCEPTED: Final = "TENURE_NO_POLICY_CHANGE_ACCEPTED"

#: Whose policy judged: that of the base, of the trunk's tip, or the candidate's own.
Judging = Literal["base", "tip", "own"]

#: A digest or an object's id.
Hex = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40,64}\Z")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
#: One line of text that cannot do anything to a terminal.
Line = Annotated[
    str, msgspec.Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]{1,300}\Z")
]
Time = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")]
Number = Annotated[str, msgspec.Meta(pattern=r"^-?\d{1,50}(\.\d{1,50})?\Z")]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The root of everything here: what is not known is refused, so that nothing travels unread."""


class GitTree(Part, frozen=True):
    """A digest set with a tree in it."""

    tree: Hex = msgspec.field(name="gitTree")


class Subject(Part, frozen=True):
    """What a statement is about."""

    digest: GitTree


class Statement(Part, frozen=True, kw_only=True):
    """A statement of in-toto, whose predicate its kinds say."""

    subject: tuple[Subject]
    kind: Literal["https://in-toto.io/Statement/v1"] = msgspec.field(
        name="_type", default=STATEMENT
    )

    @property
    def tree(self) -> str:
        """The tree it is about."""
        return self.subject[0].digest.tree


class PolicyDigest(Part, frozen=True):
    """A digest set with the digest of what a policy requires, as a Proof has it."""

    policy: Sha256 = msgspec.field(name="tenurePolicy")


class JudgingPolicy(Part, frozen=True):
    """The policy that judged: a resource descriptor."""

    digest: PolicyDigest
    name: Literal["judging policy"] = "judging policy"


class Verifier(Part, frozen=True):
    """Who verified, and by which policies."""

    policies: tuple[JudgingPolicy]
    id: Literal["pkg:pypi/tenure#gate/v1"] = VERIFIER


class FileDigest(Part, frozen=True):
    """A digest set with the digest of some bytes."""

    sha256: Sha256


class Listed(Part, frozen=True):
    """A result as the summary lists it: a resource descriptor of the statement's line."""

    name: Line
    digest: FileDigest


class Measured(Part, frozen=True):
    """What a standard came to; it was met."""

    standard: Line
    job: Line
    value: Number
    limit: Number


class About(Part, frozen=True):
    """What a Proof says and the specification has no field for."""

    proof: Line
    candidate: Sha256
    requirements: Sha256  #: digest of the requirement set
    commit: Hex
    base: Hex | None
    judged_by: Judging
    accepted: tuple[Line, ...]
    results: tuple[Listed, ...]
    standards: tuple[Measured, ...]


class SummaryPredicate(Part, frozen=True):
    """A Simple Verification Result."""

    verifier: Verifier
    created: Time = msgspec.field(name="timeCreated")
    properties: tuple[Line, ...]
    tenure: About


class Summary(Statement, frozen=True, kw_only=True):
    """The statement that a tree met its policy."""

    predicate: SummaryPredicate
    predicate_type: Literal["https://in-toto.io/attestation/svr/v0.2"] = msgspec.field(
        name="predicateType", default=SUMMARY
    )

    @property
    def policy(self) -> str:
        """The digest of the policy that judged."""
        return self.predicate.verifier.policies[0].digest.policy

    @property
    def about(self) -> About:
        """What the Proof says besides."""
        return self.predicate.tenure


class JobDigest(Part, frozen=True):
    """A digest set with the digest of a job's definition, as its receipt has it."""

    definition: Sha256 = msgspec.field(name="tenureJob")


class Ran(Part, frozen=True):
    """Which receipt it was, and what it was a receipt for."""

    receipt: Line
    run: Line
    source: Literal["executed", "reused"]
    executed: Time
    milliseconds: Count
    identity: Sha256
    inputs: Line
    platform: Line


class Configuration(Part, frozen=True):
    """The definition by which a job was run: a resource descriptor."""

    name: Line
    digest: JobDigest
    annotations: Ran


class ResultPredicate(Part, frozen=True):
    """A Test Result with one test, which is the requirement."""

    configuration: tuple[Configuration]
    result: Literal["PASSED", "WARNED", "FAILED"]
    passed: tuple[Line, ...] = msgspec.field(name="passedTests")
    warned: tuple[Line, ...] = msgspec.field(name="warnedTests")
    failed: tuple[Line, ...] = msgspec.field(name="failedTests")


class Result(Statement, frozen=True, kw_only=True):
    """The statement of what one requirement returned."""

    predicate: ResultPredicate
    predicate_type: Literal["https://in-toto.io/attestation/test-result/v0.1"] = msgspec.field(
        name="predicateType", default=RESULT
    )

    @property
    def requirement(self) -> str:
        """The name of the requirement."""
        return self.predicate.configuration[0].name

    @property
    def definition(self) -> str:
        """The digest of the definition it ran by."""
        return self.predicate.configuration[0].digest.definition

    @property
    def ran(self) -> Ran:
        """Which receipt it is."""
        return self.predicate.configuration[0].annotations

    @property
    def passed(self) -> bool:
        """Whether it passed, by a retry or not, and nothing in it says otherwise."""
        said, mine = self.predicate, (self.requirement,)
        told = {"PASSED": (mine, (), ()), "WARNED": ((), mine, ())}.get(said.result)
        return told == (said.passed, said.warned, said.failed)

    @property
    def flaky(self) -> bool:
        """Whether it took a retry to pass."""
        return self.predicate.result == "WARNED"
