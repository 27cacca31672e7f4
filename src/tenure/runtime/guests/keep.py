"""An open store as guests use it: what a runtime has already, or one opened without a runtime."""

from typing import Protocol, Self

from tenure.kernel.lease import LeaseTimings
from tenure.runtime.access import StoreAccess
from tenure.runtime.offload import Offload, Steady
from tenure.runtime.sessions import SessionStore


class Keep(Protocol):
    """What a guest needs of whoever opened the store."""

    @property
    def store(self) -> SessionStore:
        """The store, to be called through `asking`."""
        ...

    @property
    def asking(self) -> Offload:
        """Where its calls are made, again while others write."""
        ...

    @property
    def timings(self) -> LeaseTimings:
        """For holds."""
        ...


class OpenStore:
    """A session store that was opened for guests alone. Shared by all of them in a process."""

    def __init__(self, access: StoreAccess, timings: LeaseTimings) -> None:
        self._access = access
        self.timings = timings
        self.asking: Offload = Steady(access.offload, timings.retry_pace, seconds=timings.ttl)

    @property
    def store(self) -> SessionStore:
        """The store, to be called through `asking`."""
        return self._access.store

    def close(self) -> None:
        """Close the store and its thread. Holds are left as they are. Idempotent."""
        self._access.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
