"""Setup: a checkout is prepared once for all that decides how, and that is no verdict on anybody."""

import fcntl
import os
from pathlib import Path

import pytest

from tenure.gate.errors import UsageError
from tenure.gate.narration import JobBegan, LogReader
from tenure.gate.policy_text import parse
from tenure.gate.requirement import RequirementSet, requirements
from tenure.testing.faults import Faults
from tests.faces.calls import gated, job, tenure
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import Files, commit, git, worktree

#: A job that runs what the setup makes.
TOOL = '[jobs.lint]\nrun = "tools/lint"\n'

IGNORED: Files = {".gitignore": "tools/\n", "lock.txt": "one\n"}


def prepared(tmp_path: Path, shell: str, jobs: str = "", **more: str) -> Rehearsal:
    """A repository whose setup tells that it ran."""
    text = f'[setup]\nshell = """echo ran >> {tmp_path}/setups; {shell}"""\ninputs = ["lock.txt"]\n'
    text += "".join(f"{key} = {value}\n" for key, value in more.items())
    text += jobs or job("lint", "true", inputs=["a.txt"])
    return Rehearsal(gated(tmp_path / "repo", text, IGNORED))


def setups(tmp_path: Path) -> int:
    return len((tmp_path / "setups").read_text().split()) if (tmp_path / "setups").exists() else 0


def test_it_runs_once_in_each_checkout_for_each_content_of_its_inputs(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "true")
    assert rehearsal.conduct().outcome == "passed"
    commit(rehearsal.top, {"b.txt": "none of its inputs\n"})
    assert rehearsal.conduct().outcome == "passed"
    assert setups(tmp_path) == 1
    commit(rehearsal.top, {"lock.txt": "two\n"})
    assert rehearsal.conduct().outcome == "passed"
    assert setups(tmp_path) == 2
    commit(rehearsal.top, {"lock.txt": "one\n", "b.txt": "yet another\n"})
    assert rehearsal.conduct().outcome == "passed"
    assert setups(tmp_path) == 3, "what it made for the other lock file is what is there"
    side = worktree(rehearsal.top, tmp_path / "side", "side")
    commit(side, {"c.txt": "another candidate\n"})
    assert Rehearsal(side).conduct().outcome == "passed"
    assert setups(tmp_path) == 4


def test_a_worktree_that_was_added_anew_is_another_checkout(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "true")
    for content in ("one", "two"):
        side = worktree(rehearsal.top, tmp_path / "side", f"side-{content}")
        commit(side, {"c.txt": content})
        assert Rehearsal(side).conduct().outcome == "passed"
        git(rehearsal.top, "worktree", "remove", "--force", str(side))
    assert setups(tmp_path) == 2


def test_it_runs_under_the_checkouts_lock_and_under_no_attempt(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "true")
    seen = []

    def look() -> None:
        store = rehearsal.open_store()
        seen.append([store.unfinished(), [run.id for run in store.open_runs()]])
        store.close()
        git_dir = os.open(rehearsal.top / ".git", os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(git_dir, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(git_dir)

    with Faults() as faults:
        faults.at("run.finish:setup", look)
        rehearsal.conduct()
    assert seen == [[[], [rehearsal.run]]], "and its run can be found, and cancelled"


def test_what_fails_to_prepare_a_checkout_says_nothing_about_the_commit(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "echo no network; exit 7")
    report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("unproven", 3)
    (failure,) = report.failures
    assert (failure.requirement, failure.kind) == ("setup", "setup")
    assert failure.detail == "it exited with 7"
    assert failure.tail == "no network"
    assert Path(failure.log).read_text() == "no network\n"
    assert failure.reproduce.startswith("(cd ")
    store = rehearsal.open_store()
    assert store.unfinished() == []
    store.close()
    assert rehearsal.receipts() == {}
    rehearsal.conduct()
    assert setups(tmp_path) == 2, "what failed is tried again"


def test_what_it_made_is_identified_before_anything_is_bound(tmp_path: Path) -> None:
    made = "mkdir -p tools; printf '#!/bin/sh\\\\nexit 0\\\\n' > tools/lint; chmod +x tools/lint"
    rehearsal = prepared(tmp_path, made, TOOL)
    report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("again", 75), "another candidate by now"
    assert rehearsal.conduct().outcome == "passed"
    assert setups(tmp_path) == 1
    (rehearsal.top / "tools" / "lint").unlink()
    assert rehearsal.conduct().outcome == "again", "a program is missing, so it is not prepared"
    assert setups(tmp_path) == 2


def test_done_goes_back_to_the_question_and_answers_it(tmp_path: Path) -> None:
    made = "mkdir -p tools; printf '#!/bin/sh\\\\nexit 0\\\\n' > tools/lint; chmod +x tools/lint"
    rehearsal = prepared(tmp_path, made, TOOL)
    ending = tenure(rehearsal.top, "done")
    assert ending.code == 0
    assert "  start   setup" in ending.out
    assert tenure(rehearsal.top, "done").code == 0
    assert setups(tmp_path) == 1


def test_a_setup_that_changes_what_is_judged_proves_nothing(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "echo more >> a.txt; touch new.txt")
    report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("unproven", 3)
    (failure,) = report.failures
    assert sorted(failure.paths) == ["a.txt", "new.txt"]
    assert "have git ignore them" in failure.detail


def test_a_setup_that_was_killed_half_way_counts_for_nothing(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "true")
    assert tenure(rehearsal.top, "done", faults="setup.done=kill").code == 3
    assert tenure(rehearsal.top, "done").code == 0
    assert setups(tmp_path) == 2
    commit(rehearsal.top, {"b.txt": "none of its inputs\n"})
    assert tenure(rehearsal.top, "done").code == 0
    assert setups(tmp_path) == 2


def test_one_that_starts_again_forgets_what_was_there_first(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "true")
    assert rehearsal.conduct().outcome == "passed"
    commit(rehearsal.top, {"lock.txt": "two\n"})
    assert tenure(rehearsal.top, "done", faults="run.finish:setup=kill").code == 3
    commit(rehearsal.top, {"lock.txt": "one\n", "b.txt": "another\n"})
    assert tenure(rehearsal.top, "done").code == 0
    assert setups(tmp_path) == 3, "half of what was made for the other is there"


def test_its_environment_counts_by_value(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "true", env='["INDEX"]')
    for index, times in (("one", 1), ("one", 1), ("two", 2)):
        rehearsal.environ["INDEX"] = index
        commit(rehearsal.top, {"b.txt": f"{index} {times}\n"})
        rehearsal.conduct()
        assert setups(tmp_path) == times


def test_inputs_that_match_nothing_are_refused(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "true")
    git(rehearsal.top, "mv", "lock.txt", "lock.md")
    commit(rehearsal.top)
    report = rehearsal.conduct()
    assert report.exit_code == 3
    assert "no file matches the inputs of setup" in report.reason


# judged by the base

JOB = "[jobs.a]\nrun = 'x'\n"
OLD, NEW = "[setup]\nrun = 'old'\n", "[setup]\nrun = 'new'\n"


def required(base: str, own: str, *accepted: str) -> RequirementSet:
    old, new = (parse("tenure.toml", (text + JOB).encode()) for text in (base, own))
    return requirements(old, new, frozenset(accepted))


@pytest.mark.parametrize(
    ("base", "own", "accepted", "runs", "objections"),
    [
        ("", "", (), [], []),
        ("", NEW, (), ["setup"], []),
        (OLD, OLD, (), ["setup"], []),
        (OLD, NEW, (), ["setup@base", "setup"], []),
        (OLD, NEW, ("setup",), ["setup"], []),
        (OLD, "", (), [], ["setup"]),
        (OLD, "", ("setup",), [], []),
    ],
)
def test_what_the_base_declares_is_done_the_bases_way_too(base, own, accepted, runs, objections):
    found = required(base, own, *accepted)
    assert [one.name for one in found.setups] == runs
    assert [one.name for one in found.objections] == objections
    assert found.accepted == accepted


def test_what_did_not_change_cannot_be_accepted() -> None:
    with pytest.raises(UsageError, match="no change of policy"):
        required(OLD, OLD, "setup")


def test_the_bases_way_comes_first_and_has_to_pass(tmp_path: Path) -> None:
    rehearsal = prepared(tmp_path, "exit 3")
    text = (rehearsal.top / "tenure.toml").read_text()
    commit(rehearsal.top, {"tenure.toml": text.replace("exit 3", "true")})
    report = rehearsal.conduct()
    assert [one.requirement for one in report.failures] == ["setup@base"]
    events = LogReader(rehearsal.place.run(rehearsal.run)).events()
    began = [event.requirement for event in events if isinstance(event, JobBegan)]
    assert began == ["setup@base"]
