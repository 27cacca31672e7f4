"""The model of drivers on one session: their steps, and everything that may befall them.

Each store call is a step of its own and goes through the real `SessionStore`, on a store in
memory that is restored to the state at hand. Between two steps anything may happen: a rival
acts, the lease lapses, a driver dies, a reply gets lost, a call that was made long ago is
executed once more, an operator hands the turn back, somebody asks for its end or says
something to it.

A driver looks whether anything is due, takes the lane, is assigned the open turn, asks the
model for what the journal does not have, and commits with its last answer and its last
boundary in one transaction. The model's answers differ from driver to driver, so that one
that is committed and not recorded, or recorded twice, shows.

The model is finite, and no state comes back: a driver looks again only after a commit, a
refusal or a hand-back, and each refusal needs a lapse, a lever, or a rival's commit.
"""

from collections.abc import Callable, Hashable, Iterator

import msgspec

from tenure.kernel.errors import ClaimSuperseded, HoldEnded, HoldLost, LaneBusy, TenureError
from tenure.kernel.stores.memory import Contents, MemoryTables
from tenure.runtime.commit import CommitRequest
from tenure.runtime.driving import Assignment
from tenure.runtime.errors import CommitConflict, TurnCancelRequested
from tenure.runtime.machine.draft import Draft
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.message import AssistantMessage, Message, UserMessage
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.sessions import Entered
from tenure.testing.search import session_laws as laws
from tenure.testing.search import session_trouble as trouble
from tenure.testing.search.explorer import Step
from tenure.testing.search.session_world import (
    CHAT,
    Call,
    Driver,
    Troubles,
    World,
    boundary,
    claim_of,
    founded,
    model_effect,
    name,
    request,
    store_of,
)

_with = msgspec.structs.replace
Steps = Iterator[Step[World]]

#: What proves that the turn is somebody else's, or over. Anything else is a fault.
_GIVE_WAY = (HoldLost, HoldEnded, ClaimSuperseded, CommitConflict)

#: What the store answers, as a driver takes it.
Then = Callable[[object], Driver]


class Drivers:
    """Some drivers on one session; a `Model` for the explorer."""

    def __init__(self, drivers: int, troubles: Troubles, inputs: tuple[str, ...]) -> None:
        self._drivers = drivers
        self._troubles = troubles
        self._inputs = inputs
        self._encoded: dict[int, tuple[object, bytes]] = {}

    # ── What the explorer asks ───────────────────────────────────────────────────────────

    def initial(self) -> World:
        """The input is admitted and nobody has looked."""
        return World(founded(self._inputs), 0, self._troubles, (Driver(),) * self._drivers)

    def steps(self, world: World) -> Steps:
        """Every step that anybody may take."""
        fresh = False
        for index, driver in enumerate(world.drivers):
            if driver == Driver():
                if fresh:
                    continue  # they differ by nothing but their names: one goes first
                fresh = True
            if driver.alive:
                yield from self._of_driver(world, index, driver)
        yield from self.befalls(world)

    def key(self, world: World) -> Hashable:
        """The state as bytes: rows are encoded once each."""
        parts = [world.epoch, world.troubles, world.drivers, world.late]
        return msgspec.msgpack.encode(parts) + self._stored(world.contents)

    def _stored(self, contents: Contents) -> bytes:
        known = self._encoded
        rows: list[bytes] = []
        for table in laws.TABLES:
            for key, row in sorted(contents.table(table).items()):
                found = known.get(id(row))
                if found is None or found[0] is not row:
                    found = known[id(row)] = (row, msgspec.msgpack.encode((key, row)))
                rows.append(found[1])
        return b"".join(rows)

    def broken(self, world: World) -> str:
        """Which law the state breaks."""
        return laws.of_state(world)

    def judged(self, before: World, after: World, call: Call) -> str:
        """Which law a call broke."""
        return laws.of_step(before, after, call)

    def befalls(self, world: World) -> Steps:
        """Every step that is nobody's doing here."""
        return trouble.befalls(world, self.judged)

    def done(self, world: World) -> bool:
        """Whether every driver went home or died."""
        return not any(driver.alive for driver in world.drivers)

    def describe(self, world: World) -> str:
        """The drivers and the store, on one line."""
        return laws.describe(world)

    # ── What a driver does, in its order ─────────────────────────────────────────────────

    def _of_driver(self, world: World, index: int, driver: Driver) -> Steps:
        match driver.place:
            case "look":
                yield self._look(world, index, driver)
            case "enter":
                yield from self._enter(world, index, driver)
            case "assign":
                yield from self._assign(world, index, driver)
            case "intend":
                yield from self._intend(world, index, driver)
            case "ask":
                yield self._ask(world, index, driver)
            case "record":
                yield from self._record(world, index, driver)
            case "commit":
                yield from self._commit(world, index, driver)
            case "let go":
                yield from self._let_go(world, index, driver)
            case "leave":
                yield from self._leave(world, index, driver)
            case _:
                raise AssertionError(driver.place)

    def _look(self, world: World, index: int, driver: Driver) -> Step[World]:
        """Is anything due, whoever has it?"""
        if laws.is_due(world):
            return moves(world, index, "finds work", _with(driver, place="enter"))
        return moves(world, index, "goes home", Driver(place="home", entries=driver.entries))

    def _enter(self, world: World, index: int, driver: Driver) -> Steps:
        asked = request(index, driver.entries + 1)

        def then(got: object) -> Driver:
            assert isinstance(got, Entered)
            return Driver(place="assign", entries=driver.entries + 1, fence=got.fence)

        call = Call("enter", (asked,))
        if laws.is_due(world):
            yield from self.calls(world, index, call, "enters", then=then)
        else:  # what it saw is over
            yield moves(world, index, "sees it over", _with(driver, place="look"))

    def _assign(self, world: World, index: int, driver: Driver) -> Steps:
        call = Call("assign", (CHAT, driver.fence, claim_of(index, driver), "sqlite"))

        def then(got: object) -> Driver:
            if got is None:
                return _with(driver, place="leave")
            assert isinstance(got, Assignment)
            return resumed(driver, got)

        yield from self.calls(world, index, call, "is assigned", then=then)

    def _intend(self, world: World, index: int, driver: Driver) -> Steps:
        """Intend the next question, with whatever is not recorded yet."""
        number = len(driver.answers) + 1
        outcomes = self.outcomes(driver)
        call = Call("journal", (driver.turn, driver.fence, outcomes, (model_effect(number),)))
        after = _with(driver, place="ask", news=0)
        yield from self.calls(world, index, call, "intends", then=lambda _: after)

    def _ask(self, world: World, index: int, driver: Driver) -> Step[World]:
        """Ask the model. It answers whoever asks, however often."""
        said = f"{claim_of(index, driver)} says {len(driver.answers) + 1}"
        after = _with(driver, place="commit", answers=(*driver.answers, said), news=driver.news + 1)
        return moves(world, index, "asks the model", after)

    def _record(self, world: World, index: int, driver: Driver) -> Steps:
        """Asked to stop, record what arrived before letting go."""
        call = Call("journal", (driver.turn, driver.fence, self.outcomes(driver), ()))
        after = _with(driver, place="let go", news=0)
        yield from self.calls(world, index, call, "records", then=lambda _: after)

    def _commit(self, world: World, index: int, driver: Driver) -> Steps:
        """Commit with the last answer and the last boundary, or take in what waits there."""
        made = draft(driver)
        asked = CommitRequest(
            turn=driver.turn,
            session=CHAT,
            head=driver.head,
            claim=claim_of(index, driver),
            draft=made,
            fence=driver.fence,
        )
        last = boundary(len(driver.answers)) if made.status == "completed" else None
        call = Call("commit", (asked, self.outcomes(driver), last))

        def then(got: object) -> Driver:
            if isinstance(got, TurnResult):
                return Driver(entries=driver.entries)
            assert isinstance(got, Outcome)
            return taken_in(driver, got)

        yield from self.calls(world, index, call, "commits", made.status, then=then)

    def _let_go(self, world: World, index: int, driver: Driver) -> Steps:
        """Hand back what was not committed, and the lane."""
        call = Call("hand_back_claim", (claim_of(index, driver), driver.fence))
        after = Driver(entries=driver.entries)
        yield from self.calls(world, index, call, "lets go", then=lambda _: after)

    def _leave(self, world: World, index: int, driver: Driver) -> Steps:
        call = Call("leave", (driver.fence,))
        after = Driver(entries=driver.entries)
        yield from self.calls(world, index, call, "leaves", then=lambda _: after)

    def outcomes(self, driver: Driver) -> tuple[tuple[str, Outcome], ...]:
        """The answers that are not recorded yet."""
        first = len(driver.answers) - driver.news + 1
        return tuple(
            (model_effect(number).key, Outcome(status="ok", value=answer))
            for number, answer in enumerate(driver.answers, 1)
            if number >= first
        )

    # ── A store call, and what may become of it ──────────────────────────────────────────

    def calls(
        self, world: World, index: int, call: Call, what: str, which: str = "", *, then: Then
    ) -> Steps:
        """The call; the call with its reply lost; and the call remembered, to come once more."""
        driver = world.drivers[index]
        label = (name(index), what, which)
        tables = MemoryTables(world.contents)
        try:
            after = then(getattr(store_of(tables, world.epoch), call.name)(*call.arguments))
        except (TenureError, AssertionError) as error:
            yield from _refusal(world, index, driver, label, error)
            return
        stored = _with(world, contents=tables.freeze())
        broken = self.judged(world, stored, call)
        step = moves(stored, index, what, after, which)
        yield _with(step, broken=broken)
        if stored.contents is world.contents:
            return
        if world.troubles.losses:
            lost = (name(index), f"{what}, reply lost", which)
            yield Step(lost, stored.spending("losses"), adverse=True)
        if world.troubles.duplicates and world.late is None:
            twice = (name(index), f"{what}, and once more later", which)
            target = _with(step.target.spending("duplicates"), late=call)
            yield Step(twice, target, adverse=True)


def resumed(driver: Driver, got: Assignment) -> Driver:
    """The driver with a turn, as the journal has it."""
    journal = {entry.key: entry.outcome for entry in got.journal if entry.outcome is not None}
    knows = _with(driver, place="intend", turn=got.turn.id, head=got.head, opening=got.opening.text)
    while (answer := journal.get(model_effect(len(knows.answers) + 1).key)) is not None:
        knows = _with(knows, place="commit", answers=(*knows.answers, answer.value))
        crossed = journal.get(boundary(len(knows.answers)).key)
        if crossed is not None and crossed.value:
            knows = taken_in(knows, crossed)
    if got.cancel is not None:
        knows = _with(knows, place="commit", asked_to_end=True)
    return knows


def taken_in(driver: Driver, outcome: Outcome) -> Driver:
    """The driver whose turn took in what waited at the boundary it reached."""
    number = len(driver.answers)
    taken = [(number, item["work"], item["message"]["text"]) for item in outcome.value]
    return _with(driver, place="intend", news=0, accepted=(*driver.accepted, *taken))


def draft(driver: Driver) -> Draft:
    """What the driver is going to commit."""
    messages: list[Message] = [UserMessage(text=driver.opening)]
    for number, answer in enumerate(driver.answers, 1):
        messages.append(AssistantMessage(text=answer))
        messages += [UserMessage(text=text) for at, _, text in driver.accepted if at == number]
    if driver.asked_to_end:
        messages.append(AssistantMessage(stopped="cancelled"))
    return Draft(
        status="cancelled" if driver.asked_to_end else "completed",
        messages=tuple(messages),
        text=driver.answers[-1] if driver.answers else "",
        accepted=tuple(work for _, work, _ in driver.accepted),
    )


def moves(
    world: World, index: int, what: str, after: Driver, which: str = "", *, adverse: bool = False
) -> Step[World]:
    """The step of a driver that now knows `after`."""
    drivers = (*world.drivers[:index], after, *world.drivers[index + 1 :])
    return Step((name(index), what, which), _with(world, drivers=drivers), adverse)


def _refusal(
    world: World,
    index: int,
    driver: Driver,
    label: tuple[str, str, str],
    error: TenureError | AssertionError,
) -> Steps:
    """The step of a driver that was refused, if it does not just ask again."""
    if isinstance(error, TurnCancelRequested) and not driver.asked_to_end:
        after = _with(driver, place="commit", asked_to_end=True)
        yield moves(world, index, "hears of its end", after)
    elif isinstance(error, LaneBusy):
        return  # it waits
    elif laws.committed(world, driver):
        sentence = f"{' '.join(label).strip()} was done and is refused: {type(error).__name__}"
        yield Step(label, world, broken=sentence)
    elif isinstance(error, _GIVE_WAY):
        yield moves(world, index, "gives way", _with(driver, place="let go"), label[1])
    else:
        sentence = f"{' '.join(label).strip()}: {type(error).__name__}: {error}"
        yield Step(label, world, broken=sentence)
