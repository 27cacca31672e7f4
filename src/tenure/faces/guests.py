"""A session store by its address, opened for sessions that other frameworks keep in it."""

from tenure.faces.host import open_access
from tenure.kernel.clock import Clock, SystemClock
from tenure.kernel.lease import LeaseTimings
from tenure.runtime.guests.keep import Keep, OpenStore
from tenure.runtime.runtime import HostedRuntime


def open_store(
    store: str, *, lease_timings: LeaseTimings | None = None, clock: Clock | None = None
) -> OpenStore:
    """Open the store at `sqlite:///path` or `memory://`: once in a process, after any fork.

    `lease_timings` are for sessions that are held. Whoever opens it closes it; it is a context
    manager. A process with a `Runtime` on the same store uses that instead.

    Raises:
        WiringError: the address cannot work.
        StoreUnavailable, StoreNewer: the store cannot be used; see its sentence.
    """
    timings = lease_timings or LeaseTimings(ttl=30, renew_interval=10)
    access = open_access(store, clock or SystemClock(), busy_seconds=timings.retry_pace)
    return OpenStore(access, timings)


def keep_of(store: OpenStore | HostedRuntime) -> Keep:
    """What guests use of an opened store or of a runtime."""
    return store.wiring if isinstance(store, HostedRuntime) else store
