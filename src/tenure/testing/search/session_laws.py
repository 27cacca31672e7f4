"""What must hold in every state and across every step of the session model, said without the store's help."""

from collections.abc import Iterator, Mapping
from typing import Any

from tenure.kernel.claim import ClaimRecord
from tenure.kernel.lane import LaneRecord
from tenure.kernel.stores.memory import Contents
from tenure.runtime.commit import CommitRequest
from tenure.runtime.model.effect import Journaled
from tenure.runtime.model.message import AssistantMessage, Message, UserMessage
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.work import WorkRow
from tenure.testing.search.session_world import CHAT, Call, Driver, World, instant, name

SESSIONS, MESSAGES, TURNS = "runtime.sessions", "runtime.messages", "runtime.turns"
CANCELS, WORK, JOURNAL = "runtime.cancels", "runtime.work", "runtime.journal"
WAITS = "runtime.waits"
LANES, CLAIMS = "kernel.lanes", "kernel.claims"

#: What tells one state of the store from another.
TABLES = (LANES, CLAIMS, SESSIONS, MESSAGES, TURNS, CANCELS, WORK, JOURNAL, WAITS)

_LATER_STATES = {
    "pending": {"pending", "accepted", "cancelled"},
    "accepted": {"accepted", "waiting", "completed"},
    "waiting": {"waiting", "accepted"},
    "completed": {"completed"},
    "cancelled": {"cancelled"},
}


def of_state(world: World) -> str:
    """The first law that the state breaks, or ""."""
    return next(_of_state(world), "")


def of_step(before: World, after: World, call: Call) -> str:
    """The first law that a call broke, or ""."""
    if before.contents is after.contents:
        return ""
    return next(_of_step(before.contents, after.contents, call), "")


def is_due(world: World) -> bool:
    """Whether a turn is open, or input waits to become one."""
    rows: Mapping[str, WorkRow] = world.contents.table(WORK)
    waits = any(row.state == "pending" and row.active is None for row in rows.values())
    return _session(world.contents).open_turn is not None or waits


def committed(world: World, driver: Driver) -> bool:
    """Whether the turn is over by this driver's own commit, which it is asking for again."""
    turn = _turns(world.contents).get(driver.turn)
    if driver.place != "commit" or turn is None or turn.end is None or not driver.answers:
        return False
    if turn.end.status != "completed" or not driver.news:
        return False
    return _said(world.contents, turn)[-1] == driver.answers[-1]


def _of_state(world: World) -> Iterator[str]:
    yield from _of_history(world.contents)
    yield from _of_open_turn(world.contents)
    if is_due(world) and any(driver.place == "home" for driver in world.drivers):
        yield "somebody went home though work is due"
    if all(driver.place in ("home", "dead") for driver in world.drivers):
        left = [row.id for row in _rows(world.contents).values() if row.state != "completed"]
        if left:
            yield f"nobody is left and {left} were not answered"


def _of_history(contents: Contents) -> Iterator[str]:
    """The messages are those of the committed turns, each turn's together, in their order."""
    rows = [contents.table(MESSAGES)[key] for key in sorted(contents.table(MESSAGES))]
    if [number for _, number, _ in rows] != list(range(1, _session(contents).head + 1)):
        yield "the head is not the number of the messages"
    order = list(dict.fromkeys(turn for turn, _, _ in rows))
    committed = [turn for turn in _turns(contents).values() if turn.over]
    if sorted(order) != sorted(turn.id for turn in committed):
        yield f"turns {order} have messages, and others are committed"
        return
    sequences = [_rows(contents)[_turns(contents)[turn].work].sequence for turn in order]
    if sequences != sorted(sequences):
        yield f"turns were committed out of order: {order}"
    for turn in order:
        mine = [message for owner, _, message in rows if owner == turn]
        if rows.index((turn, *_first(rows, turn))) + len(mine) > len(rows):
            yield f"the messages of {turn} are not together"
        yield from _of_turn(contents, _turns(contents)[turn], mine)
    yield from _of_answers(contents, [message for _, _, message in rows])


def _first(rows: list[Any], turn: str) -> tuple[int, Message]:
    return next((number, message) for owner, number, message in rows if owner == turn)


def _of_turn(contents: Contents, turn: TurnRecord, messages: list[Message]) -> Iterator[str]:
    """A committed turn begins with what was asked, and returned what it said last."""
    assert turn.end is not None
    if _journal_of(contents, turn.id):
        yield f"{turn.id} is over and has a journal"
    if turn.end.status == "completed":
        number = turn.opened_at_head + len(messages)
        if turn.end.text_at != number or not isinstance(messages[-1], AssistantMessage):
            yield f"{turn.id} returned message {turn.end.text_at}, its last is {number}"
    first = messages[0]
    if not isinstance(first, UserMessage) or first.text != turn.work:
        yield f"{turn.id} does not begin with what was asked"
    cancelled = turn.id in contents.table(CANCELS)
    if cancelled != (turn.end.status == "cancelled"):
        yield f"{turn.id} is {turn.end.status}, asked to end: {cancelled}"


def _said(contents: Contents, turn: TurnRecord) -> list[str]:
    """What the model said in a committed turn."""
    rows = [contents.table(MESSAGES)[key] for key in sorted(contents.table(MESSAGES))]
    mine = [message for owner, _, message in rows if owner == turn.id]
    return [m.text for m in mine if isinstance(m, AssistantMessage) and m.stopped is None]


def _of_answers(contents: Contents, messages: list[Message]) -> Iterator[str]:
    """Input is in the history once it is completed, and once."""
    asked = [message.text for message in messages if isinstance(message, UserMessage)]
    for row in _rows(contents).values():
        times = asked.count(row.id)
        if times != (row.state == "completed"):
            yield f"{row.id} is {row.state} and in the history {times} times"


def _of_open_turn(contents: Contents) -> Iterator[str]:
    opened = [turn.id for turn in _turns(contents).values() if not turn.over]
    session = _session(contents)
    if opened != ([] if session.open_turn is None else [session.open_turn]):
        yield f"turns {opened} are open, the session says {session.open_turn}"
    for turn in opened:
        if _turns(contents)[turn].opened_at_head != session.head:
            yield f"the head moved while {turn} was open"


def _of_step(before: Contents, after: Contents, call: Call) -> Iterator[str]:
    yield from _of_lane(before, after, call)
    yield from _of_claims(before, after, call)
    yield from _of_turns(before, after, call)
    yield from _of_journal(before, after, call)
    for key, row in _rows(before).items():
        now = _rows(after).get(key)
        if now is None or now.state not in _LATER_STATES[row.state]:
            yield f"{key} went from {row.state} to {now and now.state}"
    for key, message in before.table(MESSAGES).items():
        if after.table(MESSAGES).get(key) != message:
            yield f"a committed message changed: {key}"


def _of_lane(before: Contents, after: Contents, call: Call) -> Iterator[str]:
    was, now = _lane(before), _lane(after)
    if was is None or now is None or was == now:
        return
    if now.generation < was.generation:
        yield f"the generation fell from {was.generation} to {now.generation}"
    if was.held and not now.held and not _presents(before, was, call):
        yield f"{call.name} freed a lane that somebody else holds"
    if was.held and now.generation > was.generation and call.name != "enter":
        yield f"{call.name} took a lane over"


def _presents(before: Contents, lane: LaneRecord, call: Call) -> bool:
    """Whether a call presents the fence of a lane, or a claim that is pinned to it."""
    pinned = [
        claim.claim
        for claim in _claims(before).values()
        if (claim.generation, claim.token) == (lane.generation, lane.token)
    ]
    return call.fence == lane.fence or any(claim in call.arguments for claim in pinned)


def _of_claims(before: Contents, after: Contents, call: Call) -> Iterator[str]:
    """A claim ends by its own hand-back or commit, or because a later hold claims the work."""
    for work, row in _claims(before).items():
        now = _claims(after).get(work)
        if now is None and row.claim not in _presented(call):
            yield f"{call.name} handed back {work}, which somebody else claimed"
        if now is not None and now.claim != row.claim and now.generation <= row.generation:
            yield f"{work} was claimed again by a hold that is no later"


def _presented(call: Call) -> tuple[object, ...]:
    """The claims that a call presents, among its other arguments."""
    first = call.arguments[0] if call.arguments else None
    return (*call.arguments, first.claim) if isinstance(first, CommitRequest) else call.arguments


def _of_turns(before: Contents, after: Contents, call: Call) -> Iterator[str]:
    for key, turn in _turns(after).items():
        was = _turns(before).get(key)
        if was == turn:
            continue
        if was is not None and was.over:
            yield f"{key} was committed already and changed"
        if turn.over:
            yield from _of_commit(before, after, turn)
            request = call.arguments[0]
            row = _claims(before).get(turn.work)
            if row is None or row.claim != request.claim:
                yield f"{key} was committed under a claim that is not its claim any more"
        elif was is not None and turn.claim != was.claim and turn.claim is not None:
            yield from _of_fence(before, call, f"{key} was claimed")


def _of_commit(before: Contents, after: Contents, turn: TurnRecord) -> Iterator[str]:
    """A turn is committed as its journal has it. The last answer may come with the commit."""
    journal = _journal_of(before, turn.id)
    recorded = [
        entry.outcome.value
        for entry in journal
        if entry.key.startswith("model") and entry.outcome is not None
    ]
    said = _said(after, turn)
    if said[: len(recorded)] != recorded or len(said) - len(recorded) > 1:
        yield f"{turn.id} says {said}, and its journal {recorded}"


def _of_journal(before: Contents, after: Contents, call: Call) -> Iterator[str]:
    was, now = before.table(JOURNAL), after.table(JOURNAL)
    changed = {key for key, row in now.items() if was.get(key) != row}
    if changed:
        yield from _of_fence(before, call, f"{sorted(changed)} was journaled")
    for key, (turn, entry) in was.items():
        if key not in now:
            if not _turns(after)[turn].over:
                yield f"{call.name} dropped {key} of an open turn"
        elif _final(entry) and now[key][1].outcome != entry.outcome:
            yield f"the outcome of {key} changed after it was recorded"


def _final(entry: Journaled) -> bool:
    return entry.outcome is not None and entry.outcome.status != "waiting"


def _of_fence(before: Contents, call: Call, what: str) -> Iterator[str]:
    lane = _lane(before)
    if lane is None or not lane.held or call.fence != lane.fence:
        yield f"{what} under a fence that does not hold the lane"


def describe(world: World) -> str:
    """The drivers and the store, on one line."""
    drivers = (f"{name(i)} {driver.place}" for i, driver in enumerate(world.drivers))
    lane, session = _lane(world.contents), _session(world.contents)
    holder = "free" if lane is None or lane.lease is None else f"{lane.token.secret}"
    if lane is not None and lane.lease is not None and lane.lease.renewed != instant(world.epoch):
        holder += " (lapsed)"
    work = ", ".join(f"{row.id} {row.state}" for row in _rows(world.contents).values())
    turn = session.open_turn or "none"
    return f"{', '.join(drivers)} | lane {holder} | open {turn} | {work}"


def _session(contents: Contents) -> SessionRecord:
    found: SessionRecord = contents.table(SESSIONS)[CHAT]
    return found


def _lane(contents: Contents) -> LaneRecord | None:
    return contents.lanes.get(CHAT)


def _claims(contents: Contents) -> Mapping[str, ClaimRecord]:
    return contents.claims


def _turns(contents: Contents) -> Mapping[str, TurnRecord]:
    return contents.table(TURNS)


def _rows(contents: Contents) -> Mapping[str, WorkRow]:
    return contents.table(WORK)


def _journal_of(contents: Contents, turn: str) -> list[Journaled]:
    return [entry for owner, entry in contents.table(JOURNAL).values() if owner == turn]
