"""A host is killed at every operation of a turn, and another process goes on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.crash.hosts import Host, effects, side_by_side
from tests.crash.table import POLICIES, Row, rows

COMMITTED = ["UserMessage", "AssistantMessage", "ToolMessage", "ToolMessage", "AssistantMessage"]


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: " ".join(policy.values()))
def test_a_host_killed_at_any_operation_leaves_what_the_table_says(
    policy: Mapping[str, str], tmp_path: Path
):
    chosen = [row for row in rows() if policy is POLICIES[0] or row.depends_on(policy)]
    stores = {str(row): tmp_path / f"{number}.db" for number, row in enumerate(chosen)}
    flags = [f"--{tool}={word}" for tool, word in policy.items()]

    def killed(row: Row) -> None:
        with Host("ask", stores[str(row)], faults=f"{row.point}=kill", flags=flags) as victim:
            victim.expect_killed()

    side_by_side(killed, chosen)
    with Host("recover", *stores.values(), flags=flags) as other:
        answers = other.answers()
    wrong = []
    print(f"{'operation':50} {'moment':7} observed (expected)")
    for row, store, answer in zip(chosen, stores.values(), answers, strict=True):
        observed = row.observed(policy, answer, effects(store))
        print(row.told(observed))
        if row.differs(observed):
            wrong.append(row.told(observed))
        _check(answer)
    assert wrong == []


def _check(answer: Mapping[str, Any]) -> None:
    """What holds in every row."""
    (result,) = answer["results"]
    assert (result["status"], result["text"], result["requests"]) == ("completed", "Done.", 2)
    assert answer["messages"] == COMMITTED
    assert answer["dangling"] == []
    assert answer["at rest"]


#: Where one host after another dies, and how often each effect has happened when it is over.
CHAINS = {
    "charge:after charge:after mail:after": (1, 3, 2, 1),
    "model-1:after model-1:after model-2:after": (3, 1, 1, 2),
    "commit:written commit:written commit:begin": (1, 1, 1, 4),
    "journal:written#2 accept:written model-2:after": (2, 1, 2, 2),
    "enter:written>store:committed assign:written>store:committed charge:after": (1, 2, 1, 1),
}


def test_hosts_that_are_killed_one_after_another_lose_no_more_than_each_alone(tmp_path: Path):
    both = ("--charge=rerun", "--mail=rerun")

    def killed(chain: str) -> None:
        store = tmp_path / f"{list(CHAINS).index(chain)}.db"
        for act, point in zip(("ask", "recover", "recover"), chain.split(), strict=True):
            with Host(act, store, faults=f"{point}=kill", flags=both) as victim:
                victim.expect_killed()
        with Host("recover", store, flags=both) as other:
            (answer,) = other.answers()
        counted = effects(store)
        names = ("model-1", "charge", "mail", "model-2")
        assert tuple(counted[name] for name in names) == CHAINS[chain]
        _check(answer)

    side_by_side(killed, CHAINS)
