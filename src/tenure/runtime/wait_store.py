"""The durable waits of a session store: each method is one transaction, as all of its are."""

from collections.abc import Callable, Sequence

import msgspec

from tenure.kernel.clock import Clock
from tenure.kernel.fence import Fence
from tenure.kernel.store import Database, Transaction
from tenure.runtime import waits
from tenure.runtime.errors import WaitKeyUnknown
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.wait import (
    Answered,
    OpenWait,
    Resolution,
    WaitRow,
    read_key,
    shown,
    signed,
)
from tenure.runtime.store import RuntimeRows
from tenure.runtime.suspending import suspend
from tenure.runtime.writing import Writing

_PAGE = 500  #: waits that are revoked in one transaction


class Suspension(msgspec.Struct, frozen=True, kw_only=True):
    """What suspending a turn came to: it waits, for these; or these have ended, and it goes on."""

    waiting: tuple[OpenWait, ...] = ()
    ended: tuple[WaitRow, ...] = ()


class WaitStore:
    """Waits of one store. What a method raises is what the transition it names raises."""

    def __init__(
        self, database: Database, rows: Callable[[Transaction], RuntimeRows], clock: Clock
    ) -> None:
        self.database = database
        self._rows = rows
        self._clock = clock
        self._secret: str | None = None

    def _writing(self, operation: str) -> Writing:
        """A write transaction, with the moments at which a test may strike."""
        return Writing(self.database, operation)

    def open_wait(self, fence: Fence, wait: WaitRow, seconds: float | None) -> OpenWait:
        """Have a wait that can be answered from now on, and times out after `seconds`.

        Asked again, the same wait, which may have ended.
        """
        with self._writing("open_wait") as tx:
            rows, now = self._rows(tx), self._clock.now().wall_ns
            due = None if seconds is None else now + round(seconds * 1_000_000_000)
            made = msgspec.structs.replace(wait, created_wall_ns=now, due_at=due)
            return self._shown(rows, waits.open_wait(tx, rows, fence, made, now))

    def resolve(self, key: str, answer: Resolution) -> Answered:
        """Answer a wait; see `waits.resolve`.

        Raises: WaitKeyUnknown: no wait of this store has that key.
        """
        with self._writing("resolve") as tx:
            rows = self._rows(tx)
            wait = self._named(rows, key)
            return waits.resolve(rows, wait, answer, self._clock.now().wall_ns)

    def revoke_waits(self, session: str, reason: str) -> int:
        """Cancel at most a page of a session's open waits; how many."""
        with self._writing("revoke_waits") as tx:
            rows = self._rows(tx)
            found = rows.open_waits(session, "", _PAGE)
            return len(waits.revoke(rows, found, reason, self._clock.now().wall_ns))

    def suspend(
        self,
        turn: str,
        claim: str,
        fence: Fence,
        outcomes: Sequence[tuple[str, Outcome]],
        on: Sequence[str],
    ) -> Suspension:
        """Have a turn wait; see `suspending.suspend`."""
        with self._writing("suspend") as tx:
            rows, now = self._rows(tx), self._clock.now().wall_ns
            ended = suspend(tx, rows, turn, claim, fence, outcomes, on, now)
            if ended:
                return Suspension(ended=tuple(ended))
            open_rows = [row for row in map(rows.wait, on) if row is not None]
            return Suspension(waiting=tuple(self._shown(rows, row) for row in open_rows))

    def rests(self, session: str) -> bool:
        """Whether a session's open turn waits, and has nothing to go on with yet."""
        with self.database.read() as tx:
            rows = self._rows(tx)
            found = rows.session(session)
            if found is None or found.open_turn is None:
                return False
            turn = rows.turn(found.open_turn)
            now = self._clock.now().wall_ns
            return turn is not None and turn.waits and not waits.may_go_on(rows, turn, now)

    def look(self, wait: OpenWait) -> OpenWait:
        """A wait as it is now: one whose row is gone went with its session."""
        with self._writing("look") as tx:
            rows, now = self._rows(tx), self._clock.now().wall_ns
            row = rows.wait(wait.id)
            if row is None:
                return msgspec.structs.replace(wait, resolution=waits.GONE)
            return self._shown(rows, waits.settled(rows, row, now))

    def open_waits(self, session: str | None, after: str, limit: int) -> list[OpenWait]:
        """Waits that nobody has answered, by the ids in their keys, those above `after`."""
        with self._writing("open_waits") as tx:
            rows, now = self._rows(tx), self._clock.now().wall_ns
            found = rows.open_waits(session, after, limit)
            return [self._shown(rows, row) for row in found if not row.ended(now)]

    def _shown(self, rows: RuntimeRows, wait: WaitRow) -> OpenWait:
        return shown(wait, signed(wait.id, self._key_secret(rows)))

    def _key_secret(self, rows: RuntimeRows) -> str:
        if self._secret is None:
            self._secret = rows.secret()
        return self._secret

    def _named(self, rows: RuntimeRows, key: str) -> str:
        """The id of the wait that a key names."""
        wait = read_key(key, rows.secret())
        if wait is None:
            raise WaitKeyUnknown(key=key)
        return wait
