"""What every pick-up in one runtime shares."""

from collections.abc import Mapping, Sequence

from tenure.kernel.clock import Clock
from tenure.kernel.errors import ReplyLost, RevisionConflict, StoreBusy
from tenure.kernel.identity import LeaseOwnerIdentity
from tenure.kernel.lease import LeaseTimings
from tenure.runtime.access import StoreAccess
from tenure.runtime.agent import Agent
from tenure.runtime.driver import TurnDriver
from tenure.runtime.errors import AgentUnknown
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import HostKind
from tenure.runtime.offload import Offload, Steady
from tenure.runtime.performing import DepsFactory, RetryPolicy
from tenure.runtime.ports.plugin import Plugin, ProtocolFactory
from tenure.runtime.ports.tracing import TraceSink
from tenure.runtime.sessions import SessionStore
from tenure.runtime.tape import Tapes
from tenure.runtime.tracing.guarded import GuardedTraceSink
from tenure.runtime.watching import Watchers

#: How long somebody without a hold is kept waiting while others write, in seconds.
_ASKING_SECONDS = 30.0


class Wiring:
    """One runtime's parts, as the host put them together."""

    def __init__(
        self,
        *,
        access: StoreAccess,
        agents: Mapping[str, Agent],
        host: HostKind,
        timings: LeaseTimings,
        clock: Clock,
        protocol: ProtocolFactory,
        plugins: Sequence[Plugin],
        sink: TraceSink | None,
        deps: DepsFactory,
        retry: RetryPolicy,
        cancel_poll: float,
        cancel_grace: float,
    ) -> None:
        self.access = access
        self.agents = agents
        self.host = host
        self.timings = timings
        self.clock = clock
        self.protocol = protocol
        self.plugins = plugins
        self.sink = None if sink is None else GuardedTraceSink(sink)
        self.deps = deps
        self.retry = retry
        self.cancel_poll = cancel_poll  #: seconds between looks for a turn's cancellation
        self.cancel_grace = cancel_grace  #: seconds that effects have to end once they are asked to
        self.watchers = Watchers()
        self.tapes = Tapes(self.watchers.emit, journals=host != "inline")
        self.drivers: dict[str, TurnDriver] = {}  #: by turn, whoever is driven in this process
        self.gone: dict[LeaseOwnerIdentity, str] = {}  #: owners declared gone, and why
        pace = timings.retry_pace
        asking = max(timings.ttl, _ASKING_SECONDS)
        #: For whoever holds a lane: any doubt is asked again for a ttl.
        self.holding: Offload = Steady(access.offload, pace, seconds=timings.ttl)
        #: For everybody else: only others' writing is waited for.
        self.asking: Offload = Steady(
            access.offload, pace, seconds=asking, doubts=(StoreBusy, ReplyLost, RevisionConflict)
        )

    @property
    def store(self) -> SessionStore:
        """The store, to be called through `holding` or `asking`."""
        return self.access.store

    def agent(self, name: str) -> Agent:
        """A registered agent. Raises: AgentUnknown."""
        found = self.agents.get(name)
        if found is None:
            raise AgentUnknown(agent=name)
        return found

    def program(self, agent: str) -> Program:
        """What a turn of an agent that is admitted now is pinned to. Raises: AgentUnknown."""
        found = self.agent(agent)
        return found.program([plugin.instructions(agent) for plugin in self.plugins])
