"""A host that drains on SIGTERM by the levers is never worse than one that is killed."""

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.crash.hosts import Host, effects, side_by_side
from tests.waiting import until

#: Far longer than a test may take: whoever would have to wait for its lapse never gets anywhere.
FOR_EVER = "--ttl=36000"
SHORT = "--ttl=0.9"

MOMENTS = [
    f"{when} {effect}"
    for effect in ("model-1", "charge", "mail", "model-2")
    for when in ("before", "after")
]


@pytest.mark.timeout(400)
def test_a_drained_host_hands_over_at_once_and_is_never_worse_than_a_killed_one(tmp_path: Path):
    ended: dict[tuple[str, str], Mapping[str, Any]] = {}

    def play(case: tuple[str, str]) -> None:
        moment, how = case
        store = tmp_path / f"{moment} {how}.db"
        flags = (f"--hang={moment}", FOR_EVER if how == "SIGTERM" else SHORT)
        with Host("serve", store, flags=flags) as host:
            until(Path(f"{store}.hanging").exists, f"the host hangs {moment}")
            if how == "SIGTERM":
                host.terminate()
                (left,) = host.answers()
                assert left == {"tickets": ["chat"], "closed": [1]}
            else:
                host.process.send(signal.SIGKILL)
                host.expect_killed()
        with Host("recover", store) as other:
            (answer,) = other.answers()
        ended[case] = {**answer, "effects": effects(store)}

    side_by_side(play, [(moment, how) for moment in MOMENTS for how in ("SIGTERM", "SIGKILL")])
    for moment in MOMENTS:
        drained, killed = ended[moment, "SIGTERM"], ended[moment, "SIGKILL"]
        print(f"{moment:14} drained: {_short(drained)}  killed: {_short(killed)}")
        for part in ("found", "results", "messages", "dangling", "at rest"):
            assert drained[part] == killed[part], moment
        assert unknown(drained) <= unknown(killed), moment
        assert drained["effects"] <= killed["effects"], moment


@pytest.mark.parametrize("moment", ["before charge", "after model-2"])
def test_a_turn_that_ends_within_the_grace_is_committed_by_the_host_that_drains(
    moment: str, tmp_path: Path
):
    store = tmp_path / "turn.db"
    with Host("serve", store, flags=(f"--hang={moment}", FOR_EVER, "--grace=600")) as host:
        until(Path(f"{store}.hanging").exists, f"the host hangs {moment}")
        host.terminate()
        Path(f"{store}.go").touch()
        (left,) = host.answers()
    assert left == {"tickets": ["chat"], "closed": [1]}
    with Host("recover", store) as other:
        (answer,) = other.answers()
    assert answer["found"] == "the result"
    assert effects(store) == {"model-1": 1, "charge": 1, "mail": 1, "model-2": 1}


def test_the_example_fits_on_a_screen():
    example = Path(__file__).resolve().parents[2] / "examples" / "drain.py"
    assert example.read_text("utf-8").count("\n") < 60


def unknown(answer: Mapping[str, Any]) -> set[str]:
    """The tools of which the model is told that nobody knows."""
    return {tool for tool, status in answer["told"].items() if status == "unknown"}


def _short(answer: Mapping[str, Any]) -> str:
    return f"{dict(answer['effects'])}, unknown {sorted(unknown(answer)) or 'none'}"
