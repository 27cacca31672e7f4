"""An agent whose tools ask somebody outside, and how a test finds what they ask."""

import asyncio
from typing import Any

from tenure import Agent, Runtime, Session, ToolContext, tool
from tenure.runtime.model.message import ToolMessage
from tenure.runtime.model.wait import OpenWait
from tenure.runtime.ports.provider import ModelRequest
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import support, until

Ctx = ToolContext[None]


def told(request: ModelRequest) -> str:
    return ", ".join(m.content for m in request.messages if isinstance(m, ToolMessage))


def agent(*tools: Any, arguments: tuple[dict[str, Any], ...] = ({},), **more: Any) -> Agent:
    """Calls each of its tools at once, and then says what they returned."""
    made = [tool(one) if callable(one) else one for one in tools]
    asked = calls(*((one.name, given) for one, given in zip(made, arguments, strict=False)))
    return support(ScriptedProvider(asked, lambda r: text(told(r))), *made, **more)


async def asked(rt: Runtime, number: int = 1) -> list[OpenWait]:
    """The waits that are open, once there are so many."""

    async def enough() -> list[OpenWait]:
        found = await rt.waits()
        return found if len(found) >= number else []

    return list(await until(enough, f"{number} open waits"))


async def begun(rt: Runtime) -> tuple[Session, "asyncio.Task[Any]"]:
    chat = await rt.session("chat", agent="support")
    return chat, asyncio.create_task(chat.turn("Go on."))
