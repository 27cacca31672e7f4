"""The agent of the desk, as of two releases of the service.

In your service a release is a deployment. Here it is a number, so that both run from one checkout.
"""

import json
import os
from pathlib import Path

from tenure import Agent, Model, Tool, ToolContext, tool

#: What sessions call the agent. It stays, release after release.
DESK = "desk"

#: How long somebody has to agree to a refund, in seconds.
A_WEEK = 7 * 86_400.0


class Bank:
    """Pays money back, as an API outside would: it knows idempotency keys.

    A file with a line for each payment stands in for it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def pay(self, order: int, euros: int, key: str) -> None:
        """Pay once for each key, however often it is asked."""
        if key not in self.paid():
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "order": order, "euros": euros}) + "\n")
                file.flush()
                os.fsync(file.fileno())

    def paid(self) -> dict[str, int]:
        """Euros by key."""
        if not self._path.exists():
            return {}
        lines = self._path.read_text(encoding="utf-8").splitlines()
        return {payment["key"]: payment["euros"] for payment in map(json.loads, lines)}


@tool(in_doubt="rerun")
def look_up(order: int) -> str:
    """Say what is known of an order."""
    return f"Order {order} was paid and delivered."


@tool(in_doubt="rerun")  # the bank knows the key, so that asking again is safe
async def refund(order: int, euros: int, ctx: ToolContext[Bank]) -> str:
    """Pay money back for an order, once a person at the desk agrees."""
    if not await ctx.approve(f"Refund {euros} € for order {order}?", within=A_WEEK):
        return "Nobody agreed, so nothing was paid."
    ctx.deps.pay(order, euros, ctx.effect_key)
    return f"{euros} € were paid back."


#: Instructions and tools by release. The second is friendlier, and has one tool fewer.
RELEASES: dict[int, tuple[str, list[Tool]]] = {
    1: ("You are Ada, of a shop's help desk. Be brief. Check an order after a refund.",
        [look_up, refund]),
    2: ("You are Grace, of a shop's help desk. Be kind.", [refund]),
}  # fmt: skip


def desk(release: int, model: Model) -> Agent:
    """The agent as of a release. A turn that is open keeps the one it was admitted with."""
    instructions, tools = RELEASES[release]
    return Agent(DESK, instructions=instructions, model=model, tools=tools, history=20)
