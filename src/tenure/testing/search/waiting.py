"""The model of drivers of a turn that waits, and of everybody who answers it, or does not.

The drivers are those of the session model, with other work: each pick-up makes the turn's one
call, which opens a wait for every question, goes on with the answers that are there, and has the
turn wait for those that are not. Between any two store calls somebody may answer, once more or
for the first time, a wait may time out or be cancelled, and everything may happen that happens
to a session.

Whether anything is due is asked of the store itself, since that is what wakes a turn.

The model is finite, and no state comes back: a turn is picked up again only after one of its
waits has ended, and each ends once.
"""

import msgspec

from tenure.kernel.stores.memory import MemoryTables
from tenure.runtime.driving import Assignment
from tenure.runtime.machine.suspended import Waiting
from tenure.runtime.model.effect import Effect, Outcome
from tenure.runtime.model.wait import OpenWait, WaitRow, wait_id
from tenure.runtime.wait_store import Suspension
from tenure.testing.search import session_laws, wait_laws, wait_trouble
from tenure.testing.search.session_world import (
    CHAT,
    Call,
    Driver,
    Troubles,
    World,
    claim_of,
    store_of,
)
from tenure.testing.search.sessions import Drivers, Steps, moves

_with = msgspec.structs.replace

#: The one call of a turn, which asks every question.
CALL = Effect(kind="tool", occurrence="1.0", request={"name": "ask"})


class Question(msgspec.Struct, frozen=True):
    """What a turn asks, and for how many seconds."""

    name: str
    seconds: float | None = None

    def row(self, turn: str) -> WaitRow:
        """Its wait, as a driver has it opened."""
        asked = {"question": self.name}
        return WaitRow(
            id=wait_id(turn, CALL.key, self.name, asked),
            session=CHAT,
            turn=turn,
            name=self.name,
            asked=asked,
            created_wall_ns=0,
        )


class WaitingDrivers(Drivers):
    """Some drivers of turns that ask these questions; a `Model` for the explorer."""

    def __init__(
        self,
        drivers: int,
        troubles: Troubles,
        inputs: tuple[str, ...],
        questions: tuple[Question, ...],
    ) -> None:
        super().__init__(drivers, troubles, inputs)
        self._questions = questions

    # ── What the explorer asks ───────────────────────────────────────────────────────────

    def broken(self, world: World) -> str:
        """Which law the state breaks."""
        return session_laws.of_state(world) or wait_laws.of_state(world)

    def judged(self, before: World, after: World, call: Call) -> str:
        """Which law a call broke."""
        found = session_laws.of_step(before, after, call)
        return found or wait_laws.of_step(before, after, call)

    def befalls(self, world: World) -> Steps:
        """Every step that is nobody's doing here."""
        return wait_trouble.befalls(world, self.judged)

    def describe(self, world: World) -> str:
        """The drivers, the store and its waits, on one line."""
        return f"{session_laws.describe(world)} | {wait_laws.describe(world)}"

    # ── What a driver does, in its order ─────────────────────────────────────────────────

    def _of_driver(self, world: World, index: int, driver: Driver) -> Steps:
        match driver.place:
            case "look":
                yield from self._looks(world, index, driver)
            case "enter":
                yield from self._enters(world, index, driver)
            case "assign":
                yield from self._is_assigned(world, index, driver)
            case "intend":
                yield from self._intends(world, index, driver)
            case "open":
                yield from self._opens(world, index, driver)
            case "suspend":
                yield from self._suspends(world, index, driver)
            case _:
                yield from super()._of_driver(world, index, driver)

    def _looks(self, world: World, index: int, driver: Driver) -> Steps:
        """Is anything due that nobody drives? Who finds nothing looks again."""
        if store_of(MemoryTables(world.contents), world.epoch).to_drive(1):
            yield moves(world, index, "finds work", _with(driver, place="enter"))
        elif not session_laws.is_due(world):
            yield moves(world, index, "goes home", Driver(place="home", entries=driver.entries))

    def _enters(self, world: World, index: int, driver: Driver) -> Steps:
        """Take the lane, unless by now the turn waits."""
        if store_of(MemoryTables(world.contents), world.epoch).rests(CHAT):
            yield moves(world, index, "sees it wait", _with(driver, place="look"))
        else:
            yield from self._enter(world, index, driver)

    def _is_assigned(self, world: World, index: int, driver: Driver) -> Steps:
        call = Call("assign", (CHAT, driver.fence, claim_of(index, driver), "sqlite"))

        def then(got: object) -> Driver:
            if got is None:
                return _with(driver, place="leave")
            assert isinstance(got, Assignment)
            return resumed(driver, got)

        yield from self.calls(world, index, call, "is assigned", then=then)

    def _intends(self, world: World, index: int, driver: Driver) -> Steps:
        """Intend the call; one that waited is made again."""
        call = Call("journal", (driver.turn, driver.fence, (), (CALL,)))
        after = _with(driver, place="open", opened=(), heard=())
        yield from self.calls(world, index, call, "intends", then=lambda _: after)

    def _opens(self, world: World, index: int, driver: Driver) -> Steps:
        """Open the wait of the next question, or hear how it ended."""
        question = self._questions[len(driver.opened)]
        row = question.row(driver.turn)
        call = Call("open_wait", (driver.fence, row, question.seconds))

        def then(got: object) -> Driver:
            assert isinstance(got, OpenWait)
            knows = _with(driver, opened=(*driver.opened, row.id))
            if got.resolution is not None:
                knows = _with(
                    knows, heard=(*knows.heard, (row.id, wait_laws.word_of(got.resolution)))
                )
            if len(knows.opened) < len(self._questions):
                return knows
            return self._returned(index, knows)

        yield from self.calls(world, index, call, "opens", question.name, then=then)

    def _returned(self, index: int, driver: Driver) -> Driver:
        """The driver whose call asked everything: it has its answers, or it has to wait."""
        if len(driver.heard) < len(driver.opened):
            return _with(driver, place="suspend")
        text = f"{claim_of(index, driver)} heard {', '.join(said for _, said in driver.heard)}"
        return _with(driver, place="commit", answers=(text,), news=1)

    def _suspends(self, world: World, index: int, driver: Driver) -> Steps:
        """Have the turn wait for what it did not hear, or go on with what ended meanwhile."""
        known = {wait for wait, _ in driver.heard}
        on = tuple(wait for wait in driver.opened if wait not in known)
        outcomes = ((CALL.key, Waiting(on=on).outcome()),)
        call = Call("suspend", (driver.turn, claim_of(index, driver), driver.fence, outcomes, on))

        def then(got: object) -> Driver:
            assert isinstance(got, Suspension)
            if got.ended:
                return _with(driver, place="intend")
            return Driver(entries=driver.entries)

        yield from self.calls(world, index, call, "suspends", then=then)

    def outcomes(self, driver: Driver) -> tuple[tuple[str, Outcome], ...]:
        """What the call returned, unless that is recorded."""
        if not driver.news:
            return ()
        return ((CALL.key, Outcome(status="ok", value=driver.answers[-1])),)


def resumed(driver: Driver, got: Assignment) -> Driver:
    """The driver with a turn, as the journal has it."""
    journal = {entry.key: entry for entry in got.journal}
    knows = _with(driver, place="intend", turn=got.turn.id, head=got.head, opening=got.opening.text)
    call = journal.get(CALL.key)
    if call is not None and call.over:
        assert call.outcome is not None, "it is over"
        knows = _with(knows, place="commit", answers=(call.outcome.value,))
    if got.cancel is not None:
        knows = _with(knows, place="commit", asked_to_end=True)
    return knows
