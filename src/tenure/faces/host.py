"""The runtime as a service embeds it: a store by its address, agents by name."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal

from tenure.kernel.clock import Clock, SystemClock
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.store import Transaction
from tenure.runtime.access import StoreAccess
from tenure.runtime.agent import Agent
from tenure.runtime.errors import WiringError
from tenure.runtime.offload import Inline, Offload
from tenure.runtime.performing import RetryPolicy
from tenure.runtime.picking import Wiring
from tenure.runtime.ports.plugin import NativeToolCalling, PluginFactory, ProtocolFactory
from tenure.runtime.ports.tracing import TraceSink
from tenure.runtime.runtime import HostedRuntime
from tenure.runtime.sessions import SessionStore
from tenure.runtime.store import RuntimeRows

SQLITE = "sqlite:///"
MEMORY = "memory://"

_BUSY_SECONDS = 10.0


class Runtime(HostedRuntime):
    """Durable agent sessions in a host's own process.

    `store` is `sqlite:///path` (four slashes for an absolute path) or `memory://`. `effects`
    says where effects are journaled: in the store, or not at all ("inline"). Nothing runs until the host asks, and no signal is handled here.

    Raises:
        WiringError: the store's address, an agent or a combination of them cannot work.
        StoreUnavailable, StoreNewer: the store cannot be used; see its sentence.
    """

    def __init__(
        self,
        *,
        store: str,
        agents: Sequence[Agent],
        lease_timings: LeaseTimings | None = None,
        trace_sink: TraceSink | None = None,
        plugins: Sequence[PluginFactory] = (),
        protocol: ProtocolFactory | None = None,
        deps: Callable[[], Any] = lambda: None,
        effects: Literal["store", "inline"] = "store",
        retry: RetryPolicy | None = None,
        poll: float = 0.5,
        cancel_poll: float = 1.0,
        clock: Clock | None = None,
    ) -> None:
        named = _by_name(agents)
        made = [factory.make() for factory in plugins]
        for name, agent in named.items():
            for plugin in made:
                for tool in plugin.tools(name):
                    agent.add(tool)
        clock = clock or SystemClock()
        protocol = protocol or NativeToolCalling()
        if effects == "inline":
            import warnings

            from tenure.runtime.effects.inline import WARNING

            warnings.warn(WARNING, stacklevel=2)
        wiring = Wiring(
            access=open_access(store, clock),
            agents=named,
            host="inline" if effects == "inline" else "sqlite",
            timings=lease_timings or LeaseTimings(ttl=30, renew_interval=10),
            clock=clock,
            protocol=protocol,
            plugins=made,
            sink=trace_sink,
            deps=deps,
            retry=retry or RetryPolicy(),
            cancel_poll=cancel_poll,
        )
        super().__init__(wiring, protocol=protocol, factories=plugins, poll=poll)


def _by_name(agents: Sequence[Agent]) -> Mapping[str, Agent]:
    named: dict[str, Agent] = {}
    for agent in agents:
        if agent.name in named:
            raise WiringError(what=f"two agents are called {agent.name!r}", next="rename one")
        named[agent.name] = agent
    if not named:
        raise WiringError(what="a runtime without agents can do nothing", next="register one")
    return named


def open_access(store: str, clock: Clock) -> StoreAccess:
    """Open the store at an address."""
    if store == MEMORY:
        return MemoryAccess(clock)
    if store.startswith(SQLITE) and len(store) > len(SQLITE):
        return SqliteAccess(store.removeprefix(SQLITE), clock)
    raise WiringError(
        what=f"{store!r} is no address of a store that this version knows",
        next=f"write {SQLITE}agents.db or {MEMORY}",
    )


class MemoryAccess:
    """`StoreAccess` in this process's memory: for tests, gone with the process."""

    def __init__(self, clock: Clock) -> None:
        from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
        from tenure.runtime.stores.memory import memory_runtime_rows

        self._database = MemoryDatabase(MemoryTables())
        self.store = SessionStore(self._database, memory_runtime_rows, clock)
        self.offload: Offload = Inline()

    @contextmanager
    def here(self) -> Iterator[SessionStore]:
        """The same store: it is shared by every thread."""
        yield self.store

    def inside(self, connection: object) -> AbstractContextManager[tuple[Transaction, RuntimeRows]]:
        """There is no connection to a store in memory."""
        raise WiringError(
            what=f"a store in memory has no {type(connection).__name__} to admit in",
            next="leave `connection` out",
        )

    def close(self) -> None:
        """Let go of it."""
        self.store.close()


class SqliteAccess:
    """`StoreAccess` to one SQLite file, through one writing thread."""

    def __init__(self, path: str, clock: Clock) -> None:
        from tenure.kernel.stores.sqlite.store import SqliteDatabase
        from tenure.runtime.stores.sqlite.rows import LINES, sqlite_runtime_rows
        from tenure.runtime.stores.sqlite.writer import BatchDatabase, Writer

        def opened() -> SqliteDatabase:
            return SqliteDatabase.open(self._path, lines=LINES, busy_seconds=_BUSY_SECONDS)

        self._path = os.path.abspath(path)
        self._clock = clock
        self._rows = sqlite_runtime_rows
        self._opened = opened
        self._threads = threading.local()
        self._writer = Writer(lambda: BatchDatabase(opened()))
        assert self._writer.database is not None, "the writer has opened its database"
        self.store = SessionStore(self._writer.database, sqlite_runtime_rows, clock)
        self.offload: Offload = self._writer

    @contextmanager
    def here(self) -> Iterator[SessionStore]:
        """A connection of the calling thread's own, opened for the call."""
        store = SessionStore(self._opened(), self._rows, self._clock)
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def inside(self, connection: object) -> Iterator[tuple[Transaction, RuntimeRows]]:
        """The transaction that the host has open on an apsw connection to this very file."""
        import apsw

        from tenure.kernel.stores.sqlite.store import SqliteTransaction

        if not isinstance(connection, apsw.Connection):
            raise WiringError(
                what=f"a {type(connection).__module__} connection cannot share a file with this "
                "store: two copies of SQLite in one process drop each other's locks",
                next="use an apsw connection to the store's file",
            )
        if os.path.realpath(connection.filename) != os.path.realpath(self._path):
            raise WiringError(
                what=f"the connection is to {connection.filename}, the store is {self._path}",
                next="admit through a connection to the store's own file",
            )
        if not connection.in_transaction:
            raise WiringError(
                what="the connection has no transaction open",
                next="begin one, and commit it after this call",
            )
        tx = SqliteTransaction(connection)
        try:
            yield tx, self._rows(tx)
        finally:
            tx.end()

    def close(self) -> None:
        """End the writing thread and close its connection."""
        self._writer.close()
