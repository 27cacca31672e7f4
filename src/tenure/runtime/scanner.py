"""The scanner: looks for turns that nobody drives, and has them driven. It is run by the host."""

import asyncio
import random
from typing import Any

from tenure.kernel.errors import Doubt
from tenure.runtime import mishap
from tenure.runtime.errors import RuntimeClosed, WiringError
from tenure.runtime.intake import Intake
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.picking import Picker
from tenure.runtime.wiring import Wiring

#: A session whose driving failed is left alone for this long, in seconds; each time for twice as long.
_FIRST_REST = 1.0
_LONGEST_REST = 60.0


class Scanner:
    """Drives what is due in one store, as one runtime."""

    def __init__(self, wiring: Wiring, intake: Intake, poll: float) -> None:
        self._wiring = wiring
        self._intake = intake
        self._poll = poll
        self._resting: dict[str, tuple[float, float]] = {}  #: session: how long, and until when

    async def once(self, limit: int, concurrency: int) -> list[TurnResult]:
        """Look once, and drive what is found to its end; what was committed."""
        _positive(limit, "limit")
        _positive(concurrency, "concurrency")
        gate = asyncio.Semaphore(concurrency)

        async def one(session: str) -> TurnResult | None:
            async with gate:
                return await self._pick_up(session)

        sessions = await self._due(limit)
        found = await asyncio.gather(*(one(session) for session in sessions))
        return [result for result in found if result is not None]

    async def forever(self, concurrency: int) -> None:
        """Drive whatever is due, at most `concurrency` turns at a time, until this is cancelled."""
        _positive(concurrency, "concurrency")
        running: dict[asyncio.Task[TurnResult | None], str] = {}
        kicked = asyncio.Event()
        loop = asyncio.get_running_loop()
        silence = self._intake.listen(lambda: _set_from_anywhere(loop, kicked))
        try:
            while True:
                kicked.clear()
                for session in await self._free(running, concurrency):
                    running[asyncio.ensure_future(self._pick_up(session))] = session
                await self._wait(running, kicked)
        finally:
            silence()
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running)

    async def _free(
        self, running: dict["asyncio.Task[TurnResult | None]", str], concurrency: int
    ) -> list[str]:
        """As many due sessions as there is room for, but those that are under way or rest."""
        room = concurrency - len(running)
        if room < 1:
            return []
        now = asyncio.get_running_loop().time()
        resting = {session for session, (_, until) in self._resting.items() if until > now}
        left_out = resting.union(running.values())
        try:
            due = await self._due(room + len(left_out))
        except Doubt as doubt:
            mishap.tell("the store could not be asked for what is due; it is asked again", doubt)
            return []
        return [session for session in due if session not in left_out][:room]

    async def _wait(
        self, running: dict["asyncio.Task[TurnResult | None]", str], kicked: asyncio.Event
    ) -> None:
        """Until a turn was committed, something was admitted, or it is time to look again."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._poll * random.uniform(0.5, 1.0)
        kick = asyncio.ensure_future(kicked.wait())
        try:
            while not kicked.is_set() and (left := until - loop.time()) > 0:
                awaited: set[asyncio.Future[Any]] = {*running, kick}
                await asyncio.wait(awaited, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                ended = [task for task in running if task.done()]
                for task in ended:
                    del running[task]
                if any(task.result() is not None for task in ended):
                    return
        finally:
            kick.cancel()

    async def _due(self, limit: int) -> list[str]:
        wiring, store = self._wiring, self._wiring.store
        agents, gone = tuple(wiring.agents), dict(wiring.gone)
        return await wiring.asking.call(lambda: store.to_drive(limit, agents, wiring.host, gone))

    async def _pick_up(self, session: str) -> TurnResult | None:
        """Drive a session's next turn. What fails is told, and left for later looks."""
        store = self._wiring.store
        try:
            found = await self._wiring.asking.call(lambda: store.session(session))
            result = await Picker(self._wiring, session, found.agent).pick_up()
        except RuntimeClosed:
            raise
        except Exception as error:
            mishap.tell(f"session {session!r} could not be driven; its turn stays admitted", error)
            self._rest(session)
            return None
        self._resting.pop(session, None)
        return result

    def _rest(self, session: str) -> None:
        last, _ = self._resting.get(session, (0.0, 0.0))
        rest = min(_LONGEST_REST, max(_FIRST_REST, 2 * last))
        self._resting[session] = (rest, asyncio.get_running_loop().time() + rest)


def _positive(number: int, what: str) -> None:
    if number < 1:
        raise WiringError(what=f"{what}={number} drives nothing", next="give one or more")


def _set_from_anywhere(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    try:
        loop.call_soon_threadsafe(event.set)
    except RuntimeError:
        pass  # that loop is gone
