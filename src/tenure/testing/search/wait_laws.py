"""What must hold of waits in every state and across every step, said without the store's help."""

from collections.abc import Iterator, Mapping

from tenure.kernel.stores.memory import Contents, MemoryTables
from tenure.runtime.model.message import AssistantMessage
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.wait import Resolution, WaitRow
from tenure.runtime.model.work import WorkRow
from tenure.testing.search.session_laws import (
    CANCELS,
    MESSAGES,
    SESSIONS,
    TABLES,
    TURNS,
    WAITS,
    WORK,
)
from tenure.testing.search.session_world import CHAT, Call, World, instant, store_of


def of_state(world: World) -> str:
    """The first law that the state breaks, or ""."""
    return next(_of_state(world), "")


def of_step(before: World, after: World, call: Call) -> str:
    """The first law that a call broke, or ""."""
    if before.contents is after.contents:
        return ""
    return next(_of_step(before, after, call), "")


def rows(contents: Contents) -> Mapping[str, WaitRow]:
    """Every wait, by its id."""
    return contents.table(WAITS)


def ended(world: World, wait: WaitRow) -> bool:
    """Whether a wait is answered, or its time is up."""
    return wait.resolution is not None or _late(world, wait)


def later(world: World) -> bool:
    """Whether a turn waits for something whose time is not up yet."""
    waited_for = (wait for wait in rows(world.contents).values() if wait.blocking)
    return any(wait.due_at is not None and not ended(world, wait) for wait in waited_for)


def word_of(resolution: Resolution) -> str:
    """How a wait ended, for a sentence."""
    return resolution.word if resolution.word != "value" else str(resolution.value)


def describe(world: World) -> str:
    """The waits, on one line."""
    said = (
        f"{wait.name} {word_of(wait.resolution) if wait.resolution else 'open'}"
        f"{' (late)' if wait.resolution is None and _late(world, wait) else ''}"
        f"{' (waited for)' if wait.blocking else ''}"
        for wait in rows(world.contents).values()
    )
    return ", ".join(said) or "no waits"


def _late(world: World, wait: WaitRow) -> bool:
    return wait.due_at is not None and wait.due_at <= instant(world.epoch).wall_ns


# ── In a state ───────────────────────────────────────────────────────────────────────────


def _of_state(world: World) -> Iterator[str]:
    contents = world.contents
    for turn in _turns(contents).values():
        row: WorkRow = contents.table(WORK)[turn.work]
        if turn.waits != (row.state == "waiting"):
            yield f"{turn.id} waits: {turn.waits}, and its work is {row.state}"
        if turn.waits:
            yield from _of_waiting(world, turn)
        elif any(wait.blocking for wait in _of(contents, turn)):
            yield f"{turn.id} does not wait, and a wait of it is waited for"
        if turn.over and any(wait.resolution is None for wait in _of(contents, turn)):
            yield f"{turn.id} is over and a wait of it is open"
    yield from _of_looking(world)


def _of_waiting(world: World, turn: TurnRecord) -> Iterator[str]:
    contents = world.contents
    if turn.claim is not None or turn.work in contents.claims:
        yield f"{turn.id} waits and is claimed"
    if not any(wait.blocking for wait in _of(contents, turn)):
        yield f"{turn.id} waits for nothing"
    if turn.id in contents.table(CANCELS):
        yield f"{turn.id} waits though its end was asked for"


def _of_looking(world: World) -> Iterator[str]:
    """Whoever looks for work finds what is due and free, and nothing else."""
    contents = world.contents
    found = bool(store_of(MemoryTables(contents), world.epoch).to_drive(1))
    opened = contents.table(SESSIONS)[CHAT].open_turn
    if opened is None:
        due = any(row.state == "pending" for row in contents.table(WORK).values())
    else:
        due = _may_go_on(world, _turns(contents)[opened])
    if found and not due:
        yield "a turn is offered though nothing that it waits for has ended"
    if due and not found and _free(world):
        yield "what a turn waits for has ended, and who looks is not told"


def _may_go_on(world: World, turn: TurnRecord) -> bool:
    waited_for = [wait for wait in _of(world.contents, turn) if wait.blocking]
    return not turn.waits or any(ended(world, wait) for wait in waited_for)


def _free(world: World) -> bool:
    lane = world.contents.lanes.get(CHAT)
    return lane is None or lane.lease is None or lane.lease.renewed != instant(world.epoch)


# ── Across a step ────────────────────────────────────────────────────────────────────────


def _of_step(before: World, after: World, call: Call) -> Iterator[str]:
    was, now = rows(before.contents), rows(after.contents)
    for wait, row in was.items():
        if wait not in now:
            yield f"{call.name} dropped the wait {row.name}"
            return
        yield from _of_wait(after, row, now[wait])
    for wait in now.keys() - was.keys():
        yield from _of_opening(before, now[wait], call)
    if call.name == "resolve":
        changed = [name for name in TABLES if _differs(before, after, name)]
        if changed not in ([], [WAITS]) or sum(was[key] != now[key] for key in was) > 1:
            yield f"an answer changed {changed}"
    for turn in _turns(after.contents).values():
        yield from _of_turn(before, after, turn, call)


def _of_wait(after: World, was: WaitRow, now: WaitRow) -> Iterator[str]:
    """A wait ends once, by its timeout if and only if its time is up."""
    if was.resolution is not None and now.resolution != was.resolution:
        yield f"{was.name} had ended by {was.resolution}, and a second answer counts"
    late = _late(after, was)
    ended_now = now.resolution if was.resolution is None else None
    if ended_now is not None and (ended_now.word == "timeout") != late:
        yield f"{was.name} ended by {ended_now}, its time was up: {late}"


def _of_opening(before: World, wait: WaitRow, call: Call) -> Iterator[str]:
    lane = before.contents.lanes.get(CHAT)
    if lane is None or not lane.held or call.fence != lane.fence:
        yield f"{wait.name} was opened under a fence that does not hold the lane"
    if wait.blocking or wait.resolution is not None:
        yield f"{wait.name} was opened as {wait}"


def _of_turn(before: World, after: World, turn: TurnRecord, call: Call) -> Iterator[str]:
    was = _turns(before.contents).get(turn.id)
    waited = was is not None and was.waits
    if turn.waits and not waited:
        yield from _of_suspending(before, after, turn, call)
    if was is not None and was.waits and not turn.waits:
        cancelled = turn.id in after.contents.table(CANCELS)
        if not cancelled and not _may_go_on(before, was):
            yield f"{turn.id} goes on though nothing that it waits for has ended"
    if turn.over and was is not None and not was.over:
        yield from _of_commit(before, after, turn)


def _of_suspending(before: World, after: World, turn: TurnRecord, call: Call) -> Iterator[str]:
    """A turn begins to wait for what has not ended, under its driver's hold, and that ends."""
    lane, now = before.contents.lanes.get(CHAT), after.contents.lanes.get(CHAT)
    if lane is None or not lane.held or call.fence != lane.fence:
        yield f"{turn.id} was suspended under a fence that does not hold the lane"
    if now is not None and now.held:
        yield f"{turn.id} waits and keeps the lane"
    for wait in _of(before.contents, turn):
        if wait.id in call.arguments[-1] and ended(before, wait):
            yield f"{turn.id} begins to wait for {wait.name}, which has ended"


def _of_commit(before: World, after: World, turn: TurnRecord) -> Iterator[str]:
    """A turn says what its waits came to, as they were answered."""
    messages = [
        message for owner, _, message in after.contents.table(MESSAGES).values() if owner == turn.id
    ]
    said = messages[-1]
    if not isinstance(said, AssistantMessage) or said.stopped is not None:
        return
    answers = [word_of(w.resolution) for w in _of(before.contents, turn) if w.resolution]
    heard = said.text.partition(" heard ")[2]
    if heard != ", ".join(answers):
        yield f"{turn.id} heard {heard}, and its waits ended by {answers}"


def _differs(before: World, after: World, name: str) -> bool:
    return before.contents.table(name) != after.contents.table(name)


def _of(contents: Contents, turn: TurnRecord) -> list[WaitRow]:
    return [wait for wait in rows(contents).values() if wait.turn == turn.id]


def _turns(contents: Contents) -> Mapping[str, TurnRecord]:
    return contents.table(TURNS)
