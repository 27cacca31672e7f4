"""The people of the guests' law books: two runs of another framework on one session, `chat-7`."""

from collections.abc import Sequence

import msgspec

from tenure.kernel.identity import Executor
from tenure.runtime.guests.footing import Footing
from tenure.runtime.guests.items import ItemStore
from tenure.testing.conformance.requests import TIMINGS, executor
from tenure.testing.conformance.session_scene import SessionBackend

GUEST = "chat-7"


class Run:
    """One run of the framework, with a handle of its own on the store."""

    def __init__(self, sessions: SessionBackend, name: str, seen: int | None = 0) -> None:
        store, self.wire = sessions.handle()
        self.name = name
        self.items = store.beside(ItemStore)
        self.footing = Footing(
            session=GUEST,
            host="openai-agents",
            executor=self.executor,
            timings=TIMINGS,
            seen=seen,
        )

    @property
    def executor(self) -> Executor:
        """Who it is."""
        return executor(self.name)

    def looks(self) -> tuple[str, ...]:
        """Read everything anew."""
        found = self.items.items(GUEST, "openai-agents", None)
        self._saw(found.head)
        return found.bodies

    def holds(self, secret: str = "secret") -> None:
        """Take the lane."""
        seat = self.items.hold(self.footing, secret)
        self.footing = msgspec.structs.replace(self.footing, fence=seat.fence, seen=seat.head)

    def leaves(self) -> None:
        """Let the lane go."""
        assert self.footing.fence is not None, "it holds the lane"
        self._saw(self.items.leave(self.footing.fence))
        self.footing = msgspec.structs.replace(self.footing, fence=None)

    def adds(self, *bodies: str, call: str = "") -> None:
        """Append items."""
        self._saw(self.items.add_items(self.footing, call or f"{self.name}-{bodies}", bodies))

    def removes(self, first: int) -> None:
        """Drop items from this number on."""
        self._saw(self.items.remove_items(self.footing, first))

    def _saw(self, head: int) -> None:
        self.footing = msgspec.structs.replace(self.footing, seen=head)


def stored(sessions: SessionBackend) -> Sequence[str]:
    """What is in the session now."""
    return sessions.store.beside(ItemStore).items(GUEST, "openai-agents", None).bodies
