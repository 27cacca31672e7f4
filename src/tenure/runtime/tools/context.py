"""What a tool may know about the call it serves, and whom it may wake with it."""

from typing import Generic, TypeVar

import msgspec

from tenure.runtime.errors import WiringError
from tenure.runtime.model.json import Json, plain, storable
from tenure.runtime.model.wait import OpenWait, Resolution
from tenure.runtime.model.work import Wake
from tenure.runtime.tools.calls import Calls, Doing

Deps = TypeVar("Deps")

_LONGEST_DELAY = 10 * 365 * 86_400  #: seconds


class ToolContext(msgspec.Struct, Generic[Deps], frozen=True, kw_only=True):
    """Handed to tools that ask for it by a parameter of this type.

    `effect_key` is the same for every try of the same call: give it to outside APIs as their
    idempotency key. `deps` is made anew by the host's factory in whatever process this is.
    """

    session: str
    turn: str
    call: str
    effect_key: str
    deps: Deps
    wakes: list[Wake] = []  #: what `wake` was told so far
    calls: Calls | None = None  #: the store, where a turn is driven

    def wake(self, session: str, text: str, *, delay: float = 0.0) -> None:
        """Say something to another session on the system's own behalf, once this turn is committed.

        It is recorded with the call's result and sent by the commit, once, whoever drives the
        turn by then; `delay` seconds later it is a turn of its own there. Nothing is sent by a
        call that fails, and nothing to a session that is deleted before the commit. If there is
        no such session when the call returns, the call has failed, and the model is told.

        Raises: WiringError: there is nothing to say, nobody to say it to, or a delay that is none.
        """
        named = bool(session) and storable(session) == session
        if not named or not text or not 0 <= delay <= _LONGEST_DELAY:
            raise WiringError(
                what=f"a wake of session {session!r} with the text {text!r} after {delay!r} s",
                next="name a session, say something, and wait between 0 s and ten years",
            )
        self.wakes.append(Wake(session=session, text=storable(text), delay=float(delay)))

    async def approve(self, question: str, *, within: float | None = None) -> bool:
        """Whether somebody outside says yes, however long that takes: `wait` for a plain True.

        Any other answer, a timeout and a cancellation are no.
        """
        return (await self.wait("approve", question, within=within)).approved

    async def wait(
        self, name: str, asked: Json = None, *, within: float | None = None
    ) -> Resolution:
        """How somebody outside answered, through `Runtime.resolve` with the wait's key.

        Until then the turn waits: nobody drives it, and no thread, task or process is kept for
        it. Once there is an answer, **this call is made again from its start**, wherever that
        is, and gets the answer here. So put what must happen once behind the wait, or into
        `once`. A changed question is another wait. After `within` seconds, from the first time
        it is asked, it has timed out.

        Raises: WiringError: the question is no JSON, or a time that is none.
        """
        return await self.answer(await self.open_wait(name, asked, within=within))

    async def open_wait(
        self, name: str, asked: Json = None, *, within: float | None = None
    ) -> OpenWait:
        """A wait that can be answered from now on, to give its key to somebody before `answer`.

        Returned by the tool, whoever answers it answers for the call: a value is its result.
        """
        if within is not None and not 0 <= within <= _LONGEST_DELAY:
            raise WiringError(
                what=f"a wait with within={within!r}",
                next="give it seconds, up to ten years, or None",
            )
        try:
            plain(asked)
        except (TypeError, msgspec.MsgspecError) as error:
            raise WiringError(
                what=f"what is asked is no JSON: {error}", next="ask with plain values"
            ) from error
        return await self._store().open_wait(name, asked, within)

    async def answer(self, wait: OpenWait) -> Resolution:
        """How an open wait was answered; see `wait`."""
        return await self._store().answer(wait)

    async def sleep(self, seconds: float) -> None:
        """Let the turn rest for that long, as `wait` does, with nobody to answer."""
        await self.wait("sleep", seconds, within=seconds)

    async def once(self, name: str, doing: Doing) -> Json:
        """What one part of this call returned: carried out once, recorded, and not repeated when
        the call is made again. It has to be something that JSON can say.

        Raises:
            PartFailed: it raised, which is recorded as well.
            PartInDoubt: a process died in it; with in_doubt="rerun" it is carried out again.
        """
        return await self._store().once(name, doing)

    def _store(self) -> Calls:
        if self.calls is None:
            raise WiringError(
                what="this tool is called without a turn", next="wait in turns of a runtime only"
            )
        return self.calls
