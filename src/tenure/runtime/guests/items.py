"""Sessions that are a list of items: JSON texts in order, appended, taken from the end, or cleared.

A session's head counts what was ever done to its list, so an item's number is never used twice.
"""

from collections.abc import Sequence

import msgspec

from tenure.runtime.errors import HeadConflict
from tenure.runtime.guests.footing import Footing, known, mine, stand, welcome
from tenure.runtime.guests.store import GuestStore
from tenure.runtime.model.session import HostKind


class Items(msgspec.Struct, frozen=True, kw_only=True):
    """The last items of a session in order, and the head at which they were read."""

    head: int
    bodies: tuple[str, ...]
    last: int = 0  #: the number of the last one


class ItemStore(GuestStore):
    """Lists of items in one store."""

    def items(self, session: str, host: HostKind, limit: int | None) -> Items:
        """The last `limit` items of a session, or all; none if there is no such session.

        Raises: SessionDeleted, HostMismatch.
        """
        with self.database.read() as tx:
            rows = self._rows(tx)
            record = known(rows, session, host)
            if record is None:
                return Items(head=0, bodies=())
            found = rows.items(session, limit)
            last = found[-1][0] if found else 0
            bodies = tuple(body for _, body in found)
            return Items(head=record.head, bodies=bodies, last=last)

    def add_items(self, footing: Footing, call: str, bodies: Sequence[str]) -> int:
        """Append items; the head after it. Asked again by the same call, nothing more is.

        Raises what `footing.stand` raises, SessionDeleted and HostMismatch.
        """
        with self._writing("add_items") as tx:
            rows, now = self._rows(tx), self._clock.now()
            record = welcome(rows, footing.session, footing.host, now)
            first = (footing.seen or 0) + 1
            after = first - 1 + len(bodies)
            if rows.call_of_item(footing.session, first) == call:
                return after
            stand(tx, record, footing, now, together=False)
            rows.add_items(footing.session, first, call, bodies)
            rows.put_session(msgspec.structs.replace(record, head=after))
            return after

    def remove_items(self, footing: Footing, first: int) -> int:
        """Drop the items from number `first` on; the head after it.

        Raises what `add_items` raises.
        """
        with self._writing("remove_items") as tx:
            rows, now = self._rows(tx), self._clock.now()
            record = welcome(rows, footing.session, footing.host, now)
            seen = footing.seen or 0
            last = rows.items(footing.session, 1)
            if not last or last[0][0] < first:
                if record.head == seen + 1 and mine(tx, footing):
                    return record.head  # done before, and its answer was lost
                if record.head != seen:
                    raise HeadConflict(session=record.id, now=record.head, expected=seen)
            stand(tx, record, footing, now, together=False)
            rows.remove_items(footing.session, first)
            rows.put_session(msgspec.structs.replace(record, head=seen + 1))
            return seen + 1
