"""Threads of graphs as one writer reads and writes them: what it saw, and what it holds.

There is no waiting here: each method makes one store call, for whoever runs it.
"""

from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from tenure.kernel.errors import Doubt, LaneBusy, Refused
from tenure.kernel.identity import Executor, mint_token, new_id, this_process
from tenure.kernel.lane import AcquireRequest
from tenure.runtime.errors import (
    HostMismatch,
    RuntimeClosed,
    SessionDeleted,
    SessionMissing,
    WiringError,
)
from tenure.runtime.guests.checkpoints import CheckpointStore
from tenure.runtime.guests.footing import Footing, Seat
from tenure.runtime.guests.keep import Keep
from tenure.runtime.model.checkpoint import ChannelValue, Found, PendingWrite, Snapshot
from tenure.runtime.model.session import HostKind

HOST: HostKind = "langgraph"
_MOST = 65_536  #: threads and checkpoints that are remembered


class Threads:
    """One writer's view of a store's threads. Its methods are called from any thread, as store
    calls through `keep.asking`.

    A plain look at a thread is what later writes to it stand on; a checkpoint that was asked for
    by its id may be gone on from, even if it is not the last.
    """

    def __init__(self, keep: Keep) -> None:
        self.keep = keep
        self.store = keep.store.beside(CheckpointStore)
        self._executor = Executor(owner=this_process(), executor_id=new_id())
        self._seen: OrderedDict[str, int] = OrderedDict()
        self._asked_for: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._held: dict[str, Seat] = {}

    # reading

    def look(self, thread: str, ns: str, checkpoint: str | None) -> Found | None:
        """A checkpoint, or a namespace's last one; None if there is none any more."""
        try:
            looked = self.store.look(thread, HOST, ns, checkpoint)
        except SessionDeleted:
            return None
        if checkpoint is None:
            self._remember(thread, looked.head)
        else:
            self._asked_for[thread, checkpoint] = None
            if len(self._asked_for) > _MOST:
                self._asked_for.popitem(last=False)
        return looked.found

    # writing

    def put(self, snapshot: Snapshot, values: Sequence[ChannelValue]) -> None:
        """Store a checkpoint. Raises what `CheckpointStore.put` raises."""
        branch = snapshot.parent is not None and (
            (snapshot.session, snapshot.parent) in self._asked_for
        )
        footing = self._footing(snapshot.session)
        self._remember(snapshot.session, self.store.put(footing, snapshot, values, branch=branch))

    def put_writes(
        self, thread: str, ns: str, checkpoint: str, writes: Sequence[PendingWrite], replace: bool
    ) -> None:
        """Store what a task wrote. Raises what `CheckpointStore.put_writes` raises."""
        branch = (thread, checkpoint) in self._asked_for
        footing = self._footing(thread)
        head = self.store.put_writes(
            footing, ns, checkpoint, writes, replace=replace, branch=branch
        )
        self._remember(thread, head)

    def copy(self, source: str, target: str) -> None:
        """Copy a thread to one that has nothing yet. Raises what `CheckpointStore.copy` raises."""
        self._remember(target, self.store.copy(source, self._footing(target)))

    def remove_runs(self, runs: Sequence[str]) -> None:
        """Drop what some runs left. Raises: LaneBusy, HoldLost."""
        for thread in self.store.sessions_of_runs(runs):
            self._remember(thread, self.store.remove_runs(self._footing(thread), runs))

    def empty(self, thread: str) -> None:
        """Drop everything of a thread, which stays. Raises: LaneBusy, HoldLost, SessionDeleted."""
        self._remember(thread, self.store.empty(self._footing(thread)))

    def prune(self, thread: str) -> None:
        """Drop all but the last checkpoint of each namespace."""
        self.store.prune(thread, HOST)

    def delete(self, thread: str) -> None:
        """Delete a thread for good. Deleted twice, or never there, nothing happens.

        Raises: LaneBusy, HoldLost, HostMismatch.
        """
        store, seat = self.keep.store, self._held.get(thread)
        try:
            found = store.session(thread)
            if found.host != HOST:
                raise HostMismatch(session=thread, recorded=found.host, here=HOST)
            if seat is not None:
                store.delete(seat.fence)
                return
            request = AcquireRequest(
                lane=thread,
                executor=Executor(owner=this_process(), executor_id=new_id()),
                token=mint_token(),
                timings=self.keep.timings,
            )
            store.delete_free(request)
        except (SessionMissing, SessionDeleted):
            pass

    # holding

    def hold(self, thread: str, secret: str) -> bool:
        """Take a thread's lane; whether it was free.

        Raises: SessionDeleted, HostMismatch; WiringError: it is held here already.
        """
        held = self._held.get(thread)
        if held is not None and held.fence.token.secret != secret:
            raise WiringError(
                what=f"thread {thread!r} is held by this saver already",
                next="leave the block it is held for, or make another saver",
            )
        try:
            seat = self.store.hold(self._fresh(thread), secret)
        except LaneBusy:
            return False
        self._held[thread] = seat
        self._remember(thread, seat.head)
        return True

    def renew(self, thread: str) -> None:
        """Renew a hold. Raises what `lane.held` raises."""
        seat = self._held.get(thread)
        if seat is not None:
            self.store.renew(seat.fence)

    def leave(self, thread: str) -> None:
        """Let a thread's lane go. What was lost meanwhile is not raised."""
        seat = self._held.get(thread)
        if seat is None:
            return
        try:
            self._remember(thread, self.store.leave(seat.fence))
        except (Refused, RuntimeClosed):
            pass  # somebody else has it: every write said so
        self._held.pop(thread, None)

    def _fresh(self, thread: str) -> Footing:
        return Footing(
            session=thread,
            host=HOST,
            executor=self._executor,
            timings=self.keep.timings,
            seen=self._seen.get(thread),
        )

    def _footing(self, thread: str) -> Footing:
        seat = self._held.get(thread)
        fence = None if seat is None else seat.fence
        return msgspec.structs.replace(self._fresh(thread), fence=fence)

    def _remember(self, thread: str, head: int) -> None:
        self._seen[thread] = head
        self._seen.move_to_end(thread)
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)


#: What a hold that is left is not told: the lapse gives the lane to whoever comes next.
UNTOLD = (Doubt, RuntimeClosed)
