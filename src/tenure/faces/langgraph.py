"""A checkpointer for LangGraph in a Tenure store. Needs the extra `langgraph`."""

import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from tenure.faces.guests import keep_of
from tenure.runtime.guests.holding import Holding
from tenure.runtime.guests.keep import OpenStore
from tenure.runtime.guests.threads import Threads
from tenure.runtime.model.checkpoint import ChannelValue, Found, PendingWrite, Snapshot
from tenure.runtime.runtime import HostedRuntime

_PAGE = 64  #: checkpoints that a list reads together


class TenureSaver(BaseCheckpointSaver[str]):
    """Checkpoints of any number of threads, each of which stays one line.

    `graph.compile(checkpointer=TenureSaver(store))`, one for each process. Every write is one
    transaction, on disk when it is answered, and is refused in that transaction with HeadConflict
    if another saver wrote to the thread since this one last looked at it, or if the thread went on
    from another checkpoint than the write's parent. Of two runs at once the first to write goes on;
    the other one ends with the refusal, and has changed nothing since.

    `with saver.holding(thread)` and `async with saver.holding(thread)` hold the thread's lane for
    a block, so that nobody else begins: they are refused with LaneBusy, or wait. A holder that
    stalled for longer than its lease may be taken over, and is refused with HoldLost from then on.

    A thread is a session of the store. `delete_thread` ends it for good and its id is never used
    again; `prune([thread], strategy="delete")` empties it and it goes on.
    """

    def __init__(
        self, store: OpenStore | HostedRuntime, *, serde: SerializerProtocol | None = None
    ) -> None:
        super().__init__(serde=serde)
        self._threads = Threads(keep_of(store))
        self._asking = self._threads.keep.asking

    def holding(self, thread_id: str, *, wait: float = 0.0) -> Holding:
        """Hold a thread for a `with` or an `async with` block, waiting at most `wait` seconds."""
        return Holding(self._threads, thread_id, wait)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """A version that no other line of the thread has: a number that rises, and chance."""
        del channel
        number = 0 if current is None else int(str(current).partition(".")[0])
        return f"{number + 1:032}.{random.getrandbits(64):016x}"

    # reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint by its id, or the one that was written last. Raises: HostMismatch."""
        thread, ns, _ = _place(config)
        wanted = get_checkpoint_id(config)
        found = self._asking.ask(lambda: self._threads.look(thread, ns, wanted))
        return None if found is None else self._tuple(found)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The same on an event loop."""
        thread, ns, _ = _place(config)
        wanted = get_checkpoint_id(config)
        found = await self._asking.call(lambda: self._threads.look(thread, ns, wanted))
        return None if found is None else self._tuple(found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, the last written first, of a thread or of all."""
        search = _Search(config, filter, before, limit)
        while not search.over:
            for one in search.chosen(self._asking.ask(self._page(search)), self._read):
                yield self._tuple(self._asking.ask(self._whole(one)))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The same on an event loop."""
        search = _Search(config, filter, before, limit)
        while not search.over:
            for one in search.chosen(await self._asking.call(self._page(search)), self._read):
                yield self._tuple(await self._asking.call(self._whole(one)))

    def _page(self, search: "_Search") -> Callable[[], Sequence[Snapshot]]:
        store = self._threads.store
        return lambda: store.page(search.thread, search.ns, search.below, _PAGE)

    def _whole(self, one: Snapshot) -> Callable[[], Found]:
        return lambda: self._threads.store.whole(one)

    # writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint with the values of those channels that have a new version.

        Raises: HeadConflict, HoldLost: it was not stored, somebody else went on; LaneBusy:
            somebody else holds the thread; SessionDeleted, HostMismatch.
        """
        snapshot, values = self._packed(config, checkpoint, metadata, new_versions)
        self._asking.ask(lambda: self._threads.put(snapshot, values))
        return _config(snapshot.session, snapshot.ns, snapshot.id)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """The same on an event loop. Cancelled, it is stored all the same."""
        snapshot, values = self._packed(config, checkpoint, metadata, new_versions)
        await self._asking.call(lambda: self._threads.put(snapshot, values))
        return _config(snapshot.session, snapshot.ns, snapshot.id)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote on a checkpoint. Raises: what `put` raises."""
        thread, ns, checkpoint = _place(config)
        rows, replace = self._rows(writes, task_id, task_path)
        self._asking.ask(lambda: self._threads.put_writes(thread, ns, checkpoint, rows, replace))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """The same on an event loop."""
        thread, ns, checkpoint = _place(config)
        rows, replace = self._rows(writes, task_id, task_path)
        await self._asking.call(
            lambda: self._threads.put_writes(thread, ns, checkpoint, rows, replace)
        )

    # keeping house

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread for good; its id is not used again.

        Raises: LaneBusy: somebody holds it; HostMismatch.
        """
        self._asking.ask(lambda: self._threads.delete(thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        """The same on an event loop."""
        await self._asking.call(lambda: self._threads.delete(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Drop the checkpoints of some runs. A run that goes on from one of them is refused.

        Raises: LaneBusy: somebody holds one of their threads; threads before it are done.
        """
        self._asking.ask(lambda: self._threads.remove_runs(run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """The same on an event loop."""
        await self._asking.call(lambda: self._threads.remove_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy everything of a thread to one that has nothing yet. Raises: what `put` raises."""
        self._asking.ask(lambda: self._threads.copy(source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """The same on an event loop."""
        await self._asking.call(lambda: self._threads.copy(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Drop all but the last checkpoint of each namespace, or with "delete" everything.

        The threads stay, and a run under way is disturbed by "delete" alone.

        Raises: NotImplementedError: a thread has a channel of deltas, whose value is in what
            would be dropped; or there is no such strategy. LaneBusy: for "delete".
        """
        for thread in thread_ids:
            if strategy == "keep_latest":
                for one in self.list(_config(thread, None, None)):
                    _require_whole(one, thread)
            self._asking.ask(self._pruned(thread, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """The same on an event loop."""
        for thread in thread_ids:
            if strategy == "keep_latest":
                async for one in self.alist(_config(thread, None, None)):
                    _require_whole(one, thread)
            await self._asking.call(self._pruned(thread, strategy))

    def _pruned(self, thread: str, strategy: str) -> Callable[[], None]:
        if strategy == "keep_latest":
            return lambda: self._threads.prune(thread)
        if strategy == "delete":
            return lambda: self._threads.empty(thread)
        raise NotImplementedError(f"there is no strategy {strategy!r} to prune by")

    # bytes

    def _packed(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> tuple[Snapshot, Sequence[ChannelValue]]:
        thread, ns, parent = _place(config)
        body: dict[str, Any] = {**checkpoint}
        held = body.pop("channel_values") or {}
        body.pop("channel_versions")
        said = get_serializable_checkpoint_metadata(config, metadata)
        run = said.get("run_id")
        snapshot = Snapshot(
            session=thread,
            ns=ns,
            id=checkpoint["id"],
            parent=parent or None,
            versions=dict(checkpoint["channel_versions"]),
            body=self.serde.dumps_typed(body),
            metadata=self.serde.dumps_typed(said),
            run=None if run is None else str(run),
        )
        values = [
            ChannelValue(
                channel=channel,
                version=str(version),
                value=self.serde.dumps_typed(held[channel]),
            )
            for channel, version in new_versions.items()
            if channel in held
        ]
        return snapshot, values

    def _rows(
        self, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> tuple[Sequence[PendingWrite], bool]:
        """What is stored, and whether it replaces what is there."""
        rows = [
            PendingWrite(
                task=task_id,
                path=task_path,
                index=WRITES_IDX_MAP.get(channel, index),
                channel=channel,
                value=self.serde.dumps_typed(value),
            )
            for index, (channel, value) in enumerate(writes)
        ]
        return rows, all(channel in WRITES_IDX_MAP for channel, _ in writes)

    def _read(self, one: Snapshot) -> CheckpointMetadata:
        metadata: CheckpointMetadata = self.serde.loads_typed(one.metadata)
        return metadata

    def _tuple(self, found: Found) -> CheckpointTuple:
        one = found.snapshot
        checkpoint: Checkpoint = self.serde.loads_typed(one.body)
        checkpoint["channel_versions"] = one.versions
        checkpoint["channel_values"] = {
            held.channel: self.serde.loads_typed(held.value) for held in found.values
        }
        return CheckpointTuple(
            config=_config(one.session, one.ns, one.id),
            checkpoint=checkpoint,
            metadata=self._read(one),
            parent_config=None if one.parent is None else _config(one.session, one.ns, one.parent),
            pending_writes=[
                (write.task, write.channel, self.serde.loads_typed(write.value))
                for write in found.writes
            ],
        )


class _Search:
    """What a list is asked for, and how far it is."""

    def __init__(
        self,
        config: RunnableConfig | None,
        wanted: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> None:
        place = {} if config is None else config["configurable"]
        thread = place.get("thread_id")
        self.thread = None if thread is None else str(thread)
        self.ns: str | None = place.get("checkpoint_ns")
        self._id = None if config is None else get_checkpoint_id(config)
        self._wanted = wanted or {}
        self._before = None if before is None else get_checkpoint_id(before)
        self._left = limit
        self.below: int | None = None
        self.over = limit == 0

    def chosen(
        self, page: Sequence[Snapshot], read: Callable[[Snapshot], CheckpointMetadata]
    ) -> Iterator[Snapshot]:
        """Those of a page that were asked for."""
        self.over = not page
        for one in page:
            self.below = one.number
            if self._left == 0:
                self.over = True
                return
            if self._suits(one, read):
                self._left = None if self._left is None else self._left - 1
                yield one

    def _suits(self, one: Snapshot, read: Callable[[Snapshot], CheckpointMetadata]) -> bool:
        if self._id is not None and one.id != self._id:
            return False
        if self._before is not None and one.id >= self._before:
            return False
        if not self._wanted:
            return True
        said: dict[str, Any] = dict(read(one))
        return all(key in said and said[key] == value for key, value in self._wanted.items())


def _place(config: RunnableConfig) -> tuple[str, str, str]:
    """Thread, namespace and checkpoint of a config; the last is empty if it says none."""
    place = config["configurable"]
    named = str(place.get("checkpoint_id") or "")
    return str(place["thread_id"]), place.get("checkpoint_ns") or "", named


def _config(thread: str, ns: str | None, checkpoint: str | None) -> RunnableConfig:
    place: dict[str, Any] = {"thread_id": thread}
    if ns is not None:
        place["checkpoint_ns"] = ns
    if checkpoint is not None:
        place["checkpoint_id"] = checkpoint
    return {"configurable": place}


def _require_whole(one: CheckpointTuple, thread: str) -> None:
    """Pass if a checkpoint says what its channels are, without those before it."""
    held = one.checkpoint["channel_values"].values()
    deltas = any(type(value).__name__ == "_DeltaSnapshot" for value in held)
    if deltas or "counters_since_delta_snapshot" in one.metadata:
        raise NotImplementedError(
            f"thread {thread!r} has a channel of deltas, and the last checkpoint is not all of it"
        )
