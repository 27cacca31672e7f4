"""A store call fails, or its answer is lost, at every operation of a turn: the host asks again."""

from pathlib import Path

from tests.crash.hosts import Host, effects, side_by_side
from tests.crash.stored import books
from tests.crash.table import Row, rows


def test_a_call_that_fails_or_whose_answer_is_lost_at_any_operation_costs_nothing(tmp_path: Path):
    def doubtful(row: Row) -> None:
        store = tmp_path / f"{row}.db"
        with Host("ask", store, faults=f"{row.point}=busy", flags=("--ttl=6",)) as host:
            (answer,) = host.answers()
        (result,) = answer["results"]
        assert (result["status"], result["text"]) == ("completed", "Done.")
        assert effects(store) == {"model-1": 1, "charge": 1, "mail": 1, "model-2": 1}
        told = books(store, "chat", result["turn"])
        assert len(told["messages"]) == 5
        assert all(entry.outcome is not None for entry in told["journal"])

    side_by_side(doubtful, [row for row in rows() if ":begin" in row.point or ">" in row.point])
