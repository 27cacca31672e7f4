"""The capability that makes a Pydantic AI agent durable: its runs are turns of sessions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic_ai.agent import AbstractAgent
from pydantic_ai.capabilities import RequestInput
from pydantic_ai.capabilities.abstract import (
    CapabilityOrdering,
    ValidatedToolArgs,
    WrapRunHandler,
    WrapToolExecuteHandler,
)
from pydantic_ai.durable_exec import (
    JSON_CODEC,
    BaseDurabilityCapability,
    DurabilityEngineSpec,
    external_event_scope,
    replay_scope,
)
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import (
    AgentDepsT,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolDefinition,
)

from tenure.runtime.errors import WiringError
from tenure.runtime.frameworks.pydantic_ai.backend import METADATA, Evidence, PartBackend, checked
from tenure.runtime.frameworks.pydantic_ai.current import current, inside
from tenure.runtime.frameworks.pydantic_ai.parts import jsonable
from tenure.runtime.frameworks.pydantic_ai.waits import EventWaits, decided
from tenure.runtime.model.program import InDoubt


class TenureDurability(BaseDurabilityCapability[AgentDepsT]):
    """Makes the runs of an agent turns of Tenure sessions, durable and fenced.

    Pass it to the agent as one of its `capabilities`, and the agent to `durable`. Every model
    call and tool call of a run is recorded before it is made and after it returned; a run whose
    process died is gone through again by another, which finds there what was returned. What
    needs an approval, or is carried out elsewhere, is a wait that `Runtime.resolve` answers.

    `in_doubt` says, by the name of a tool, what happens to a call that was begun and not recorded:
    "rerun", "report" (the model is told that the outcome is unknown, the default) or "wait". A
    tool can say so itself, with `metadata={"tenure": {"in_doubt": "rerun"}}`; one that does
    nothing outside is not recorded with `metadata={"tenure": False}`. `models` are models that a
    run may be moved to, by name.

    Outside of a turn, `agent.run` and the like are refused, since nothing would be recorded;
    `outside="plain"` lets them be as if this were not there. In a tool of a durable run they are
    part of that tool's call.

    Raises: WiringError: what is in doubt is none of the three.
    """

    engine_spec = DurabilityEngineSpec(
        engine_name="Tenure",
        durable_unit_noun="part",
        durable_container_noun="turn",
        codec=JSON_CODEC,
        toolset_lifecycles={
            "function": "enter-always",
            "mcp": "enter-in-durable-unit",
            "dynamic": "enter-never",
        },
        tool_config_key=METADATA,
    )

    def __init__(
        self,
        *,
        in_doubt: Mapping[str, InDoubt] | None = None,
        models: Mapping[str, Model] | None = None,
        name: str | None = None,
        outside: str = "refuse",
    ) -> None:
        super().__init__(models=models, name=name)
        if outside not in ("refuse", "plain"):
            raise WiringError(what=f"outside={outside!r}", next='say "refuse" or "plain"')
        self._outside = outside
        self._in_doubt = {tool: checked(tool, said) for tool, said in (in_doubt or {}).items()}
        self._backend: PartBackend | None = None

    def get_ordering(self) -> CapabilityOrdering:
        """Innermost, and last of all to be asked about deferred calls."""
        ordering = super().get_ordering()
        return replace(ordering, wrapped_by=(*ordering.wrapped_by, RequestInput))

    def _bind_to_agent(self, agent: AbstractAgent[AgentDepsT, Any]) -> None:
        self._backend = PartBackend(self.name, self._in_doubt)
        super()._bind_to_agent(agent)

    def get_durable_operation_backend(self) -> PartBackend:
        """What carries the operations of a run out."""
        assert self._backend is not None, "it is bound to its agent"
        return self._backend

    @property
    def in_durable_context(self) -> bool:
        """Whether this is the code of a turn's run, and not of one of its parts."""
        return current() is not None

    async def wrap_run(
        self, ctx: RunContext[AgentDepsT], *, handler: WrapRunHandler
    ) -> AgentRunResult[Any]:
        """Run it as what it is: a turn's run, a plain one in a part, or none at all.

        Raises: WiringError: it is called outside of a turn.
        """
        run = current()
        if run is None:
            if not inside() and self._outside == "refuse":
                raise WiringError(
                    what=f"agent {self.name!r} was run outside of a turn, where nothing is recorded",
                    next="ask it through a session, or say outside='plain' if that is meant",
                )
            return await handler()
        with external_event_scope(EventWaits(run)), replay_scope():
            return await super().wrap_run(ctx, handler=handler)

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: ValidatedToolArgs,
        handler: WrapToolExecuteHandler,
    ) -> Any:
        """Keep what a tool returned: the history of a run that is cut short has it."""
        del ctx, tool_def
        result, run = await handler(args), current()
        if run is not None:
            run.returned[call.tool_call_id] = jsonable(result)
        return result

    async def on_tool_execute_error(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: ValidatedToolArgs,
        error: Exception,
    ) -> Any:
        """What somebody outside says that a call returned is what it returns."""
        del ctx, call, tool_def, args
        if isinstance(error, Evidence):
            return error.value
        raise error

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[AgentDepsT], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        """Have every call that nobody here decided wait for somebody outside."""
        del ctx
        run = current()
        return None if run is None else await decided(run, requests)
