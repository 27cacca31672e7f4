"""A tool that ends its process every time it is called does not do so for ever."""

from pathlib import Path

from tests.crash.hosts import Host, effects

FLAGS = ("--deadly", "--charge=rerun", "--mail=rerun", "--ttl=0.3", "--drives=5")


def test_a_tool_that_kills_its_process_every_time_ends_its_turn_after_its_drives(tmp_path: Path):
    store = tmp_path / "turn.db"
    with Host("ask", store, flags=FLAGS) as host:
        host.expect_killed()
    for _ in range(5):
        with Host("recover", store, flags=FLAGS) as host:
            host.expect_killed()
    with Host("recover", store, flags=FLAGS) as host:
        (answer,) = host.answers()
    assert effects(store) == {"model-1": 1, "charge": 1 + 5}
    (result,) = answer["results"]
    assert result["status"] == "stopped"
    assert result["reason"].startswith("no_progress")
    assert answer["dangling"] == []
    assert answer["at rest"]
