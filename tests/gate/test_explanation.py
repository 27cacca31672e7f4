"""What an explanation names is what made the difference, and no secret."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from tenure.faces.cli.verb_explain import explanations
from tenure.gate import explanation, requirement
from tenure.gate.errors import UsageError
from tenure.gate.explanation import Explanation
from tenure.gate.kind import CHECK
from tenure.gate.situation import Question
from tests.faces.calls import FAIL, PASS, gated, job, tenure
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit, write

JOBS = job("lint", "true", inputs=["*.txt"], env=["TOKEN"]) + job("other", "true")


@pytest.fixture
def rehearsal(tmp_path: Path) -> Rehearsal:
    rehearsal = Rehearsal(gated(tmp_path / "repo", JOBS))
    rehearsal.conduct()
    return rehearsal


def explained(rehearsal: Rehearsal, *names: str) -> dict[str, Explanation]:
    store = rehearsal.open_store()
    try:
        found = explanations(store, rehearsal.place, str(rehearsal.top), list(names))
    finally:
        store.close()
    return {each.requirement: each for each in found}


def test_what_would_be_reused_names_its_receipt(rehearsal: Rehearsal) -> None:
    found = explained(rehearsal, "lint")
    assert list(found) == ["lint"]
    (told,) = found.values()
    assert (told.reused, told.reasons, told.differences) == (True, (), ())
    assert told.origin is not None
    assert (told.origin.run, told.origin.kind, told.origin.outcome) == (
        rehearsal.run,
        "done",
        "passed",
    )
    assert told.origin.worktree == str(rehearsal.top)
    assert set(explained(rehearsal)) == {"lint", "other"}


def test_files_that_changed_are_named_if_git_still_has_the_earlier_ones(
    rehearsal: Rehearsal,
) -> None:
    write(rehearsal.top, {"a.txt": "2", "new.txt": "", "code.py": "no input of it"})
    told = explained(rehearsal, "lint")["lint"]
    assert (told.reused, told.reasons) == (False, ("inputs changed",))
    (difference,) = told.differences
    assert (difference.name, difference.details) == ("inputs", ("a.txt (edited)", "new.txt (new)"))
    assert difference.then != difference.now
    rehearsal.conduct(Question(kind=CHECK))  # whose files were never committed
    (rehearsal.top / "a.txt").unlink()
    (difference,) = explained(rehearsal, "lint")["lint"].differences
    assert difference.details == ()
    commit(rehearsal.top)
    rehearsal.conduct()
    write(rehearsal.top, {"a.txt": "back"})
    (rehearsal.top / "new.txt").unlink()
    (difference,) = explained(rehearsal, "lint")["lint"].differences
    assert difference.details == ("a.txt (new)", "new.txt (gone)")


def test_a_definition_that_changed_is_told_key_by_key_and_the_old_one_beside(
    rehearsal: Rehearsal,
) -> None:
    write(rehearsal.top, {"tenure.toml": JOBS.replace('"true"', '"test 1"', 1)})
    found = explained(rehearsal, "lint")
    assert set(found) == {"lint", "lint@base"}
    (difference,) = found["lint"].differences
    assert difference.says == "definition changed"
    assert difference.details == ('run: "true" → "test 1"',)
    assert found["lint@base"].reused, "under another name, and the same question"


def test_an_environment_variable_is_named_and_never_shown(
    rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "hunter2")
    told = explained(rehearsal, "lint")["lint"]
    (difference,) = told.differences
    assert (difference.says, difference.then, difference.now) == ("env TOKEN changed", None, None)
    part = next(part for part in told.parts if part.name == "env:TOKEN")
    assert part.value is None
    rehearsal.environ["TOKEN"] = "hunter2"
    rehearsal.conduct()
    store = rehearsal.open_store()
    kept = store.nearest(["lint"])["lint"].parts["env:TOKEN"]
    store.close()
    assert kept not in json.dumps(msgspec.to_builtins(list(explained(rehearsal).values())))


def test_a_failure_and_a_lost_output_are_reasons(tmp_path: Path) -> None:
    jobs = FAIL + job("build", "mkdir out; touch out/x", outputs=["out"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", jobs))
    rehearsal.conduct()
    for kept in Path(rehearsal.place.outputs).iterdir():
        kept.unlink()
    found = explained(rehearsal)
    assert found["lint"].reasons == ("its last run on exactly this input failed",)
    assert found["build"].reasons == ("the captured outputs of its last run are gone",)
    assert found["build"].origin is not None


def test_what_was_never_run_has_no_origin(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    told = explained(rehearsal, "lint")["lint"]
    assert (told.reasons, told.origin, told.differences) == (("no earlier result",), None, ())
    with pytest.raises(UsageError, match="'lnt' is none of these jobs"):
        explained(rehearsal, "lnt")


def test_packages_that_changed_are_named_with_both_versions(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    site = rehearsal.top / ".venv" / "lib" / "python3.11" / "site-packages"
    write(rehearsal.top, {".venv/pyvenv.cfg": ""})
    for name in ("linter-1.0", "other-3"):
        write(site, {f"{name}.dist-info/METADATA": ""})
    rehearsal.conduct()
    os.rename(site / "linter-1.0.dist-info", site / "linter-2.0.dist-info")
    os.rename(site / "other-3.dist-info", site / "added-1.dist-info")
    (reason,) = explained(rehearsal, "lint")["lint"].reasons
    told = "added absent → 1, linter 1.0 → 2.0, other 3 → absent"
    assert reason == f"packages installed in .venv changed ({told})"
    rehearsal.conduct()
    log = Path(rehearsal.place.run(rehearsal.run), "log").read_text()
    assert told in log, "where a run says why it runs it, too"


def test_every_kind_of_part_is_described() -> None:
    assert set(explanation.PARTS) == set(requirement._REASONS) - {"host"}


def test_as_it_is_typed(rehearsal: Rehearsal) -> None:
    write(rehearsal.top, {"a.txt": "2"})
    said = tenure(rehearsal.top, "explain", "lint").out
    assert said.startswith("lint: would run\n  inputs changed\n    a.txt (edited)\n  nearest: ")
    assert "\n    env:TOKEN   the value of TOKEN, or that it is not set" in said
    found = tenure(rehearsal.top, "explain", "lint", "--json").object["explanations"]
    assert [each["requirement"] for each in found] == ["lint"]
