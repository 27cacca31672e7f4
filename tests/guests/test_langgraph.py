"""LangGraph on checkpoints in a Tenure store."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from tenure.faces.guests import open_store
from tenure.faces.langgraph import TenureSaver


@pytest.mark.parametrize("backend", ["sqlite", "memory"])
def test_the_whole_of_langgraphs_own_conformance_suite_passes(backend: str, tmp_path: Path):
    """Every capability, the optional ones too, and no test of it left out."""
    address = "memory://" if backend == "memory" else f"sqlite:///{tmp_path}/agents.db"

    @checkpointer_test(name=f"tenure {backend}")
    async def saver() -> AsyncIterator[BaseCheckpointSaver[str]]:
        with open_store(address) as store:
            yield TenureSaver(store)

    report = asyncio.run(validate(saver))
    told = {name: result.failures for name, result in report.results.items() if result.failures}
    assert told == {}
    assert set(report.results) == {capability.value for capability in Capability}
    assert all(result.passed and result.detected for result in report.results.values())
    assert sum(result.tests_passed for result in report.results.values()) == 81
