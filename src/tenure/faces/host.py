"""The runtime as a service embeds it: a store by its address, agents by name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from tenure.kernel.clock import Clock, SystemClock
from tenure.kernel.lease import LeaseTimings
from tenure.runtime.access import StoreAccess
from tenure.runtime.agent import Agent
from tenure.runtime.errors import WiringError
from tenure.runtime.performing import RetryPolicy
from tenure.runtime.picking import Wiring
from tenure.runtime.ports.plugin import NativeToolCalling, PluginFactory, ProtocolFactory
from tenure.runtime.ports.tracing import TraceSink
from tenure.runtime.runtime import HostedRuntime

SQLITE = "sqlite:///"
MEMORY = "memory://"


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
        from tenure.runtime.stores.memory_access import MemoryAccess

        return MemoryAccess(clock)
    if store.startswith(SQLITE) and len(store) > len(SQLITE):
        from tenure.runtime.stores.sqlite.access import SqliteAccess

        return SqliteAccess(store.removeprefix(SQLITE), clock)
    raise WiringError(
        what=f"{store!r} is no address of a store that this version knows",
        next=f"write {SQLITE}agents.db or {MEMORY}",
    )
