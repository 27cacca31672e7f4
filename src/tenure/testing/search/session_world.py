"""The values of the session model: what each driver knows, what the store holds, what may go wrong."""

from functools import cache
from typing import Any, Literal

import msgspec

from tenure.kernel.clock import Instant
from tenure.kernel.fence import Fence
from tenure.kernel.identity import Executor, LeaseOwnerIdentity, Token
from tenure.kernel.lane import AcquireRequest
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.stores.memory import Contents, MemoryDatabase, MemoryTables
from tenure.runtime.model.effect import Effect
from tenure.runtime.model.message import UserMessage
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.work import ActiveTurn, NewWork
from tenure.runtime.sessions import SessionStore
from tenure.runtime.stores.memory import memory_runtime_rows

CHAT = "chat"
FIRST, LATER, BESIDE = "w1", "w2", "w3"
FIRST_TURN = f"turn-{FIRST}"
SECRETS, SECRET = "runtime.secret", "secret"
PROGRAM = Program(agent="clerk", instructions="help", model="m")
TIMINGS = LeaseTimings(30.0, 10.0)

#: Where a driver is. At each but the last two it takes one step, with one store call at most.
Place = Literal[
    "look",
    "enter",
    "assign",
    "intend",
    "ask",
    "open",  # a wait
    "suspend",
    "record",
    "commit",
    "let go",
    "leave",
    "home",  # nothing is left to do, and it saw so
    "dead",
]


class Call(msgspec.Struct, frozen=True):
    """One call of the store, as data, so that it can be repeated at any later time."""

    name: str
    arguments: tuple[Any, ...]

    @property
    def fence(self) -> Fence | None:
        """The fence that the call presents."""
        for argument in self.arguments:
            if isinstance(argument, Fence):
                return argument
            if hasattr(argument, "fence"):
                fence: Fence | None = argument.fence
                return fence
        return None


class Driver(msgspec.Struct, frozen=True):
    """What one driver knows. Everything else it must read again."""

    place: Place = "look"
    entries: int = 0  #: how often it asked for the lane
    fence: Fence | None = None
    turn: str = ""
    head: int = 0
    opening: str = ""
    answers: tuple[str, ...] = ()  #: of the model, as recorded or as they came
    news: int = 0  #: how many of them are not recorded, from the end
    accepted: tuple[tuple[int, str, str], ...] = ()  #: after which answer, which work, what it says
    asked_to_end: bool = False
    opened: tuple[str, ...] = ()  #: waits, in this pick-up
    heard: tuple[tuple[str, str], ...] = ()  #: which of them ended, and how

    @property
    def alive(self) -> bool:
        """Whether it can still act, now or later."""
        return self.place not in ("home", "dead")


class Troubles(msgspec.Struct, frozen=True):
    """How often each thing may still go wrong, or come from outside."""

    lapses: int = 0  #: the clock jumps past every lease
    crashes: int = 0  #: a driver dies
    losses: int = 0  #: a call is executed and its reply lost
    duplicates: int = 0  #: a call is executed once more, at any later time
    stops: int = 0  #: a driver is asked to hand back
    levers: int = 0  #: an operator hands a claimed turn back
    cancels: int = 0  #: somebody asks for the first turn's end
    inputs: int = 0  #: somebody says something to the first turn while it is open
    answers: int = 0  #: somebody answers a wait who need not, or comes too late
    revokes: int = 0  #: an operator cancels what is waited for
    ticks: int = 0  #: the clock goes on by as much as a lease, and whoever has the lane renewed it


class World(msgspec.Struct, frozen=True):
    """One state of the model."""

    contents: Contents
    epoch: int  #: the clock, in leases: one renewed in an earlier epoch has lapsed
    troubles: Troubles
    drivers: tuple[Driver, ...]
    late: Call | None = None  #: a call that is on its way once more

    def spending(self, trouble: str) -> "World":
        """This state with one trouble less to come."""
        left = getattr(self.troubles, trouble) - 1
        troubles = msgspec.structs.replace(self.troubles, **{trouble: left})
        return msgspec.structs.replace(self, troubles=troubles)


class EpochClock:
    """Implements `tenure.kernel.clock.Clock` for one state."""

    def __init__(self, epoch: int) -> None:
        self._now = instant(epoch)

    def now(self) -> Instant:
        """The present moment."""
        return self._now

    def monotonic(self) -> float:
        """Nothing here waits."""
        return 0.0


@cache
def instant(epoch: int) -> Instant:
    """The clock in this epoch."""
    ns = epoch * TIMINGS.ttl_ns
    return Instant(boot="boot", boot_ns=ns, awake_ns=ns, wall_ns=ns + 1)


def store_of(tables: MemoryTables, epoch: int) -> SessionStore:
    """The real store, over these tables and at this time."""
    return SessionStore(MemoryDatabase(tables), memory_runtime_rows, EpochClock(epoch))


def founded(inputs: tuple[str, ...]) -> Contents:
    """A session that was asked something already."""
    tables = MemoryTables(Contents({SECRETS: {"only": SECRET}}))
    store = store_of(tables, 0)
    store.create(SessionRecord(id=CHAT, agent="clerk", host="sqlite"))
    for name in inputs:
        store.admit(work(name), PROGRAM)
    return tables.freeze()


def work(name: str, active: ActiveTurn | None = None) -> NewWork:
    """Input that says its own name."""
    content = {"type": "user", "text": name, "attachments": []}
    assert msgspec.convert(content, UserMessage).text == name
    return NewWork(id=name, session=CHAT, content=content, source_key=name, active=active)


def name(index: int) -> str:
    """A driver's name."""
    return f"d{index + 1}"


@cache
def request(index: int, entry: int) -> AcquireRequest:
    """A driver's `entry`-th request for the lane: the same token however often it is made."""
    owner = LeaseOwnerIdentity(owner_id=name(index), incarnation_id="incarnation")
    return AcquireRequest(
        lane=CHAT,
        executor=Executor(owner=owner, executor_id="executor"),
        token=Token(n=entry, secret=f"{name(index)}.{entry}"),
        timings=TIMINGS,
    )


def claim_of(index: int, driver: Driver) -> str:
    """The claim id that a driver minted for its present entry."""
    return f"{name(index)}.{driver.entries}"


@cache
def model_effect(number: int) -> Effect:
    """The `number`-th question to the model."""
    return Effect(kind="model", occurrence=str(number), request={"step": number})


@cache
def boundary(number: int) -> Effect:
    """The boundary after the `number`-th answer."""
    return Effect(
        kind="accept",
        occurrence=f"{number}.before_completion",
        request={"boundary": "before_completion"},
    )
