"""Pydantic AI agents in a runtime: the capability that makes one durable, and its registration."""

from tenure.runtime.frameworks.pydantic_ai.agent import DurableAgent, durable
from tenure.runtime.frameworks.pydantic_ai.durability import TenureDurability

__all__ = ["DurableAgent", "TenureDurability", "durable"]
