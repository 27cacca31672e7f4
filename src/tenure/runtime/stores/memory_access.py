"""Access to a session store in this process's memory."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from tenure.kernel.clock import Clock
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
from tenure.runtime.errors import WiringError
from tenure.runtime.offload import Inline, Offload
from tenure.runtime.ports.blobs import BlobStore
from tenure.runtime.sessions import SessionStore
from tenure.runtime.stores.memory import memory_runtime_rows
from tenure.runtime.stores.memory_blobs import MemoryBlobs


class MemoryAccess:
    """`StoreAccess` in this process's memory: for tests, gone with the process."""

    def __init__(self, clock: Clock) -> None:
        self._database = MemoryDatabase(MemoryTables())
        self.store = SessionStore(self._database, memory_runtime_rows, clock)
        self.offload: Offload = Inline()
        self.blobs: BlobStore = MemoryBlobs()

    @contextmanager
    def here(self) -> Iterator[SessionStore]:
        """The same store: it is shared by every thread."""
        yield self.store

    def inside(self, connection: object) -> AbstractContextManager[SessionStore]:
        """There is no connection to a store in memory."""
        raise WiringError(
            what=f"a store in memory has no {type(connection).__module__} connection to admit in",
            next="leave `connection` out",
        )

    def close(self) -> None:
        """Let go of it."""
        self.offload.close()
        self.store.close()
