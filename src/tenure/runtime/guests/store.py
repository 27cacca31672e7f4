"""What every store of guest sessions does: a hold for a block of writes. Each method is one
transaction, as all of a store's are, and may be called again after its answer was lost."""

from collections.abc import Callable

from tenure.kernel import ledger
from tenure.kernel.clock import Clock
from tenure.kernel.fence import Fence
from tenure.kernel.store import Database, Transaction
from tenure.runtime.guests.footing import Footing, Seat, take, welcome
from tenure.runtime.store import RuntimeRows
from tenure.runtime.writing import Writing


class GuestStore:
    """Guest sessions of one store, of whatever framework."""

    def __init__(
        self, database: Database, rows: Callable[[Transaction], RuntimeRows], clock: Clock
    ) -> None:
        self.database = database
        self._rows = rows
        self._clock = clock

    def _writing(self, operation: str) -> Writing:
        return Writing(self.database, operation)

    def hold(self, footing: Footing, secret: str) -> Seat:
        """Acquire the session's lane, which is created if it is not there.

        Raises what `lane.acquire` raises, SessionDeleted and HostMismatch.
        """
        with self._writing("hold_guest") as tx:
            now = self._clock.now()
            record = welcome(self._rows(tx), footing.session, footing.host, now)
            return Seat(fence=take(tx, footing, secret, now).fence, head=record.head)

    def renew(self, fence: Fence) -> None:
        """Renew a hold. Raises what `lane.held` raises."""
        with self._writing("renew") as tx:
            ledger.renew_lane(tx, fence, self._clock.now())

    def leave(self, fence: Fence) -> int:
        """Let a lane go; the session's head then. Raises what `lane.held` raises."""
        with self._writing("leave") as tx:
            ledger.release(tx, fence)
            record = self._rows(tx).session(fence.record)
            return 0 if record is None else record.head
