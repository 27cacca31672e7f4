"""Callers that are killed one after the other, as a tool with a time limit kills them."""

from functools import partial
from pathlib import Path

from tests.scenarios.stage import HOUR, Stage
from tests.waiting import until

#: A suite that is worth three callers' patience, and says how far it is.
LONG = """\
for tick in 1 2 3 4 5 6 7 8 9 10 11 12; do
    echo "$tick" >> "$STORY/ticks"
    sleep 0.2
done
"""

POLICY = """
[jobs.long]
stage = "test"
run = "sh long.sh"
set-env = {{ STORY = "{story}" }}
"""


def test_a_suite_that_outlasts_three_killed_callers_ran_once(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR, extra=POLICY, files={"long.sh": LONG})
    for third in (4, 8, 11):
        caller = stage.done()
        until(partial(_has_come_to, stage, third), f"tick {third} of the suite")
        assert not caller.over
        caller.kill()
    fourth = stage.done()
    fourth.expect(0)
    assert _ticks(stage) == [str(number) for number in range(1, 13)], "the suite ran once"
    assert sorted(stage.began) == ["format", "lint", "suite"]
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["passed"], "in one attempt"
    assert list(books.runs) == stage.run_ids() == [fourth.answer["proof"]["run"]]
    stage.everybody_is_gone()


def _has_come_to(stage: Stage, tick: int) -> bool:
    return len(_ticks(stage)) >= tick


def _ticks(stage: Stage) -> list[str]:
    path = stage.story / "ticks"
    return path.read_text("utf-8").split() if path.exists() else []
