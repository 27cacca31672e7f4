"""Access to a session store from an event loop and from plain threads."""

from contextlib import AbstractContextManager
from typing import Protocol

from tenure.runtime.offload import Offload
from tenure.runtime.ports.blobs import BlobStore
from tenure.runtime.sessions import SessionStore


class StoreAccess(Protocol):
    """An open store. Composed by whoever knows the backend."""

    @property
    def store(self) -> SessionStore:
        """The store whose methods are called through `offload`, and nowhere else."""
        ...

    @property
    def offload(self) -> Offload:
        """Where those calls are made."""
        ...

    @property
    def blobs(self) -> BlobStore:
        """The bytes of attachments. Called from any thread."""
        ...

    def here(self) -> AbstractContextManager[SessionStore]:
        """A store of the calling thread's own, for callers without a loop."""
        ...

    def inside(self, connection: object) -> AbstractContextManager[SessionStore]:
        """A store in the host's own open transaction, which is not committed here.

        Raises: WiringError: the connection is of a kind that would lose rows, to another store,
            or has no transaction open.
        """
        ...

    def close(self) -> None:
        """Close everything. Idempotent."""
        ...
