"""Access to a session store from an event loop and from plain threads."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from tenure.kernel.store import Transaction
from tenure.runtime.offload import Offload
from tenure.runtime.sessions import SessionStore
from tenure.runtime.store import RuntimeRows


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

    def here(self) -> AbstractContextManager[SessionStore]:
        """A store of the calling thread's own, for callers without a loop."""
        ...

    def inside(self, connection: object) -> AbstractContextManager[tuple[Transaction, RuntimeRows]]:
        """The host's own open transaction, as one of ours. It is not committed here.

        Raises: WiringError: the connection is of a kind that would lose rows.
        """
        ...

    def close(self) -> None:
        """Close everything. Idempotent."""
        ...


#: Opens the store of a runtime.
OpenAccess = Callable[[], StoreAccess]
