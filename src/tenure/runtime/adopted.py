"""Adopted agents: made for other frameworks, each run of which is a turn here.

Their framework keeps its own loop. What the loop does outside, model calls and tool calls,
goes through `AdoptedRun.part`, and what it waits for through `AdoptedRun.wait`. A run that lost its
process is started again from its beginning and finds in the journal what its parts returned.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeVar

import msgspec

from tenure.kernel.errors import TenureError
from tenure.runtime.agent import Agent, Model
from tenure.runtime.errors import PartFailed, PartInDoubt, WiringError
from tenure.runtime.machine.adopted import AdoptedAnswer, AdoptedMachine
from tenure.runtime.machine.answers import Answer
from tenure.runtime.machine.machine import CheckOutput
from tenure.runtime.model.event import TurnEvent
from tenure.runtime.model.json import Json, storable
from tenure.runtime.model.message import Message, UserMessage
from tenure.runtime.model.program import InDoubt, Program, TurnBudget
from tenure.runtime.model.turn import CommitBudget
from tenure.runtime.model.usage import Usage
from tenure.runtime.model.wait import OpenWait, Resolution
from tenure.runtime.ports.plugin import Plugin, ProtocolFactory
from tenure.runtime.ports.provider import ModelRequest, Provider, ReadAttachment, Say
from tenure.runtime.tools.calls import Calls, Doing, Part, Suspended
from tenure.runtime.tools.toolset import AnyTool

T = TypeVar("T")

#: Seconds until a model is asked again after so many failures, and what it said itself; None for never.
Delay = Callable[[int, float | None], float | None]

#: Turns of the event loop in which nothing moves, before a run that waits is taken to be still.
_STILL = 25

_LONGEST = 4096  #: characters of what a run raised


class AdoptedCall(NamedTuple):
    """Everything that one run is given."""

    session: str
    turn: str
    step: int  #: 1 for the first run of the turn
    effect_key: str
    history: Sequence[Message]  #: what was said and done before, in this turn and the session
    asked: Sequence[UserMessage]
    instructions: str  #: what plugins add
    deps: Any
    content: ReadAttachment
    run: "AdoptedRun"


class AdoptedAgent(Agent):
    """An agent whose turns another framework runs. Subclass it for a framework.

    Raises: WiringError: see `Agent`.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str,
        history: int | None = None,
        budget: TurnBudget | None = None,
        commit_budget: CommitBudget | None = None,
    ) -> None:
        super().__init__(
            name,
            instructions="",
            model=Model(_Nobody(), model),
            history=history,
            budget=budget,
            commit_budget=commit_budget,
        )
        self.protocol = _AdoptedProtocol()

    @abstractmethod
    async def run(self, call: AdoptedCall) -> AdoptedAnswer:
        """One run. Everything outside goes through `call.run`; what else it does may be repeated.

        What it raises ends the turn as stopped.
        """
        ...

    async def answered(self, call: AdoptedCall) -> AdoptedAnswer:
        """What one run came to, whatever it raised."""
        try:
            answer = await self.run(call)
        except Exception as error:  # its own, and the end of its run
            answer = AdoptedAnswer(failed=storable(f"{type(error).__name__}: {error}"[:_LONGEST]))
        return msgspec.structs.replace(answer, usage=call.run.usage)

    async def look_back(self, call: AdoptedCall) -> Json:
        """What a run that is not going on did, for its turn's last message: nothing by default.

        Nothing is carried out: what is not recorded does not return.
        """
        del call
        return None

    def stand(self, plugin: Plugin) -> None:
        """Refuse what would have to stand between a framework and its own tools."""
        kind = type(plugin)
        for name in ("before_tool", "after_tool"):
            if getattr(kind, name) is not getattr(Plugin, name):
                raise WiringError(
                    what=f"{kind.__name__}.{name} would not be called for the tools of "
                    f"{self.name!r}, which another framework calls",
                    next="use what that framework has for it, in a runtime without this plugin",
                )

    def _add(self, made: AnyTool) -> None:
        raise WiringError(
            what=f"agent {self.name!r} is run by another framework and takes no tool {made.name!r}",
            next="give the tool to that framework's agent, and plugins with tools to other agents",
        )


class _Nobody(Provider):
    """The provider of an adopted agent's model: its framework asks it."""

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        raise AssertionError(
            f"its framework asks {request.model!r} by itself, {say!r} hears nothing"
        )


class _AdoptedProtocol(ProtocolFactory):
    def machine(
        self, program: Program, *, opening: UserMessage, head: int, check_output: CheckOutput
    ) -> AdoptedMachine:
        return AdoptedMachine(program, opening=opening, head=head, check_output=check_output)


class AdoptedRun:
    """One run of an adopted agent: what of it is under way, and what it waits for.

    It is over when its own loop returns. It is still when nothing of it is under way and
    something waits: then nobody needs to drive it until there is an answer.
    """

    def __init__(
        self,
        calls: Calls,
        emit: Callable[[TurnEvent], None],
        turn: str,
        delay: Delay,
        *,
        over: bool = False,
    ) -> None:
        self.over = over  #: it is only looked back at
        self.returned: dict[str, Json] = {}  #: what its tool calls returned, by their ids
        self.emit = emit
        self.turn = turn
        self.delay = delay
        self.model = ""  #: what its model is called
        self.steps = 0  #: model calls so far
        self.usage = Usage()  #: of its model calls so far, whoever made them
        self._calls = calls
        self.refused = False  #: the store ended it
        self._moving = 0
        self._waits: list[str] = []
        self._looking: asyncio.Task[None] | None = None
        self._ended: asyncio.Future[NoReturn] = asyncio.get_running_loop().create_future()

    async def part(self, name: str, request: Json, in_doubt: InDoubt, doing: Doing) -> Part:
        """What one part returned: carried out once, recorded, and known by `name` in this run.

        A name that comes again in the run is the next of that name.

        Raises:
            PartFailed: it raised, now or when it was carried out.
            PartInDoubt: a process died in it, and `in_doubt` does not say "rerun".
        """
        if self.over:
            return await self._moved(lambda: self._known(name, request))
        return await self._moved(lambda: self._calls.part(name, request, in_doubt, doing))

    async def _known(self, name: str, request: Json) -> Part:
        known = self._calls.known(name, request)
        if known is None:
            raise Suspended((name,))
        return known

    def next_step(self) -> int:
        """The number of the model call that comes next, as whoever watches is told."""
        self.steps += 1
        return self.steps

    async def wait(self, name: str, asked: Json, within: float | None) -> Resolution:
        """How somebody outside answered. Until then the run is suspended, and the turn with it."""
        return await self.answer(await self.open_wait(name, asked, within))

    async def open_wait(self, name: str, asked: Json, within: float | None) -> OpenWait:
        """A wait that can be answered from now on, for `answer`."""
        return await self._moved(lambda: self._calls.open_wait(name, asked, within))

    async def answer(self, wait: OpenWait) -> Resolution:
        """How an open wait was answered; see `wait`."""
        return await self._moved(lambda: self._calls.answer(wait))

    async def _moved(self, asking: Callable[[], Awaitable[T]]) -> T:
        """Ask the store. What it refuses ends the run from outside, not in its own loop."""
        self._moving += 1
        try:
            return await asking()
        except (PartFailed, PartInDoubt):
            raise
        except Suspended as suspended:
            self._waits += suspended.on
        except TenureError as error:
            self.refused = True
            if not self._ended.done():
                self._ended.set_exception(error)
        finally:
            self._moving -= 1
            self._look()
        never: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        return await never  # until the run is ended

    def _look(self) -> None:
        if self._waits and self._looking is None:
            self._looking = asyncio.ensure_future(self._watch())

    async def _watch(self) -> None:
        """Wait until nothing has moved for a while."""
        still = 0
        while still < _STILL:
            await asyncio.sleep(0)
            if self._moving:
                self._looking = None
                return
            still += 1
        if not self._ended.done():
            self._ended.set_exception(Suspended(tuple(dict.fromkeys(self._waits))))

    async def until_over(self, running: Awaitable[T]) -> T:
        """What its own loop returned.

        Raises:
            what it raises; Suspended: it waits; and what the store refused, where its own
            loop was ended in the middle.
        """
        task = asyncio.ensure_future(running)
        returned = False
        try:
            await asyncio.wait((task, self._ended), return_when=asyncio.FIRST_COMPLETED)
            if task.done() and not self.refused:
                result: T = task.result()
                returned = True
                return result
            reason = self._ended.exception()
            assert reason is not None, "nothing but a reason ends it"
            raise reason
        finally:
            if self._looking is not None:
                self._looking.cancel()
            await _ended(self._ended)
            await _ended(task)
            await self._calls.settled(keep=not returned)


async def _ended(task: "asyncio.Future[T]") -> None:
    """End what is left, and look at what it raises then."""
    task.cancel()
    await asyncio.wait((task,))
    if not task.cancelled():
        task.exception()
