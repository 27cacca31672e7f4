"""The runtime as a service embeds it: a store by its address, agents by name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from tenure.kernel.clock import Clock, SystemClock
from tenure.kernel.lease import LeaseTimings
from tenure.runtime.access import StoreAccess
from tenure.runtime.agent import Agent
from tenure.runtime.errors import WiringError
from tenure.runtime.performing import RetryPolicy
from tenure.runtime.ports.await_events import AwaitEventResolver
from tenure.runtime.ports.plugin import (
    NativeToolCalling,
    Plugin,
    PluginFactory,
    ProtocolFactory,
)
from tenure.runtime.ports.tracing import TraceSink
from tenure.runtime.runtime import HostedRuntime
from tenure.runtime.wiring import Wiring

SQLITE = "sqlite:///"
MEMORY = "memory://"


class Runtime(HostedRuntime):
    """Durable agent sessions in a host's own process.

    `store` is `sqlite:///path` (four slashes for an absolute path) or `memory://`. `effects`
    says where effects are journaled: in the store, or not at all ("inline"). `poll` is how often
    somebody looks for what is driven elsewhere, `cancel_poll` how often a driver looks whether
    its turn was cancelled elsewhere, `cancel_grace` how long effects have to end once they are
    asked to; all in seconds. `resolver` is for hosts that keep waits outside of the store. Nothing runs until the host asks, and no signal is handled here.

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
        cancel_grace: float = 5.0,
        clock: Clock | None = None,
        resolver: AwaitEventResolver | None = None,
    ) -> None:
        for what, seconds in (("poll", poll), ("cancel_poll", cancel_poll)):
            if not seconds > 0:
                raise WiringError(what=f"{what}={seconds!r} never rests", next="give it seconds")
        named = _by_name(agents)
        made = [factory.make() for factory in plugins]
        known = {name: _extended(agent, made) for name, agent in named.items()}
        timings = lease_timings or LeaseTimings(ttl=30, renew_interval=10)
        clock = clock or SystemClock()
        protocol = protocol or NativeToolCalling()
        if effects == "inline":
            import warnings

            from tenure.runtime.effects.inline import WARNING

            warnings.warn(WARNING, stacklevel=2)
        wiring = Wiring(
            access=open_access(store, clock, busy_seconds=timings.retry_pace),
            agents=known,
            host="inline" if effects == "inline" else "sqlite",
            timings=timings,
            clock=clock,
            protocol=protocol,
            plugins=made,
            sink=trace_sink,
            deps=deps,
            retry=retry or RetryPolicy(),
            cancel_poll=cancel_poll,
            cancel_grace=cancel_grace,
        )
        super().__init__(wiring, protocol=protocol, factories=plugins, poll=poll, resolver=resolver)


def _by_name(agents: Sequence[Agent]) -> Mapping[str, Agent]:
    named: dict[str, Agent] = {}
    for agent in agents:
        if agent.name in named:
            raise WiringError(what=f"two agents are called {agent.name!r}", next="rename one")
        named[agent.name] = agent
    if not named:
        raise WiringError(what="a runtime without agents can do nothing", next="register one")
    return named


def _extended(agent: Agent, plugins: Sequence[Plugin]) -> Agent:
    """An agent with the tools that plugins bring. The host's own stays as it is."""
    for plugin in plugins:
        agent.stand(plugin)
    return agent.extended([tool for plugin in plugins for tool in plugin.tools(agent.name)])


def open_access(store: str, clock: Clock, *, busy_seconds: float = 10.0) -> StoreAccess:
    """Open the store at an address; `busy_seconds` is how long one call waits for other writers."""
    if store == MEMORY:
        from tenure.runtime.stores.memory_access import MemoryAccess

        return MemoryAccess(clock)
    if store.startswith(SQLITE) and len(store) > len(SQLITE):
        from tenure.runtime.stores.sqlite.access import SqliteAccess

        return SqliteAccess(store.removeprefix(SQLITE), clock, busy_seconds=busy_seconds)
    raise WiringError(
        what=f"{store!r} is no address of a store that this version knows",
        next=f"write {SQLITE}agents.db or {MEMORY}",
    )
