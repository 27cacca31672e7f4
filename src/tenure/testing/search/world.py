"""The values of the model: what each run knows, what the store holds, what may still go wrong."""

from functools import cache
from typing import Literal

import msgspec

from tenure.kernel.attempt import AttemptRecord, BindRequest, Outcome
from tenure.kernel.clock import Instant
from tenure.kernel.identity import LeaseOwnerIdentity, Token
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.ledger import Liveness
from tenure.kernel.liveness import OwnerEvidence, Verdict
from tenure.kernel.stores.memory import Contents
from tenure.kernel.takeover import Licence

RECEIPTS, PROOFS, CANCELS = "receipts", "proofs", "cancels"
REPOSITORY = "repository"
OPERATOR = "operator"
TIMINGS = LeaseTimings(30.0, 10.0)

#: Where a run is. At each of the first eight it takes one step, with one store call at most.
Place = Literal[
    "look",
    "rival",
    "scan",
    "retire",
    "bind",
    "job",
    "settle",
    "follow",
    "ended",  # it reported
    "dead",  # and everybody can see it
    "vanished",  # dead, and nobody can tell
]

#: What a run reported at its end, and which attempt says so, or who cancelled it.
Report = tuple[str, str]


class Run(msgspec.Struct, frozen=True):
    """What one run knows. Everything else it must read again."""

    place: Place = "look"
    bindings: int = 0  #: how many attempts it asked for; the last one is its own
    rival: str = ""  #: the attempt it follows
    found: tuple[tuple[AttemptRecord, Licence], ...] = ()  #: what it is about to retire
    job: int = 0  #: how many are done
    outcome: Outcome = "passed"  #: what it is about to settle
    report: Report | None = None

    @property
    def alive(self) -> bool:
        """Whether it can still act, now or later."""
        return self.place not in ("ended", "dead", "vanished")


class Troubles(msgspec.Struct, frozen=True):
    """How often each thing may still go wrong."""

    lapses: int = 0  #: the clock jumps past every lease
    crashes: int = 0  #: a run dies while it holds an attempt
    losses: int = 0  #: a call is executed and its reply lost
    failures: int = 0  #: a job fails
    cancels: int = 0  #: somebody asks a run to stop


class World(msgspec.Struct, frozen=True):
    """One state of the model."""

    contents: Contents  #: of the store
    epoch: int  #: the clock, in leases: one renewed in an earlier epoch has lapsed
    troubles: Troubles
    runs: tuple[Run, ...]

    def spending(self, trouble: str) -> "World":
        """This state with one trouble less to come."""
        left = getattr(self.troubles, trouble) - 1
        troubles = msgspec.structs.replace(self.troubles, **{trouble: left})
        return msgspec.structs.replace(self, troubles=troubles)


def ended(run: Run, kind: str, by: str) -> Run:
    """The run after its report; it keeps nothing else but the number of its attempts."""
    return Run(place="ended", bindings=run.bindings, report=(kind, by))


@cache
def instant(epoch: int) -> Instant:
    """The clock in this epoch."""
    ns = epoch * TIMINGS.ttl_ns
    return Instant(boot="boot", boot_ns=ns, awake_ns=ns, wall_ns=ns)


def name(index: int) -> str:
    """The run's name, which is also what it signs a retirement with."""
    return f"r{index + 1}"


def attempt_of(index: int, binding: int) -> str:
    """The id of the run's `binding`-th attempt."""
    return f"{name(index)}.{binding}"


def receipt_of(attempt: str, job: int) -> str:
    """The key of one job's receipt."""
    return f"{attempt}/{job}"


def token_of(index: int, binding: int) -> Token:
    """The token of the run's `binding`-th attempt."""
    return Token(n=binding, secret=name(index))


@cache
def request(index: int, binding: int, subject: str) -> BindRequest:
    """The run's `binding`-th request: the same ids and token however often it is made."""
    return BindRequest(
        attempt=attempt_of(index, binding),
        run=name(index),
        repository=REPOSITORY,
        subject=subject,
        kind="done",
        owner=LeaseOwnerIdentity(owner_id=name(index), incarnation_id="incarnation"),
        evidence=OwnerEvidence(
            boot="boot",
            pid=index,
            pid_namespace=1,
            start_ticks=1,
            lock_path=name(index),
            lock_device=1,
            lock_inode=1,
        ),
        token=token_of(index, binding),
        timings=TIMINGS,
    )


def judging(world: World) -> Liveness:
    """What anybody can tell, in this state, about the owner that left some evidence."""

    def judge(evidence: OwnerEvidence) -> Verdict:
        match world.runs[evidence.pid].place:
            case "dead":
                return Verdict(state="gone", reason="its process ended")
            case "vanished":
                return Verdict(state="unknown", reason="its run lock cannot be read")
            case _:
                return Verdict(state="running", reason="its process is there")

    return judge


def describe(world: World) -> str:
    """The runs and the records, on one line."""
    runs = (f"{name(i)} {run.report or run.place}" for i, run in enumerate(world.runs))
    rows = sorted(world.contents.attempts.values(), key=lambda row: row.sequence)
    records = (f"{row.id}@{row.revision} {_became(row, world.epoch)}" for row in rows)
    proofs = "".join(f"; proof of {attempt}" for attempt in world.contents.table(PROOFS))
    return f"{', '.join(runs)} | {', '.join(records)}{proofs}"


def _became(row: AttemptRecord, epoch: int) -> str:
    if row.joined is not None:
        return f"joined {row.joined}"
    if row.retired is not None:
        return f"retired by {row.retired.by}"
    return row.outcome or ("bound" if row.lease.renewed == instant(epoch) else "lapsed")
