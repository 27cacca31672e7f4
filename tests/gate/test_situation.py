"""What a candidate has to meet and what each answer depends on, read from a real repository."""

import os
from pathlib import Path

import pytest

from tenure.gate.candidate import Judging
from tenure.gate.errors import PolicyError
from tenure.gate.kind import DONE
from tenure.gate.reading import read_snapshot
from tenure.gate.situation import Question
from tests.faces.calls import PASS, gated, job
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit, git

EASY = '[jobs.lint]\nrun = "true"\n'
HARD = '[jobs.lint]\nrun = "false"\n'


def branched(path: Path, before: str, after: str) -> Rehearsal:
    """A checkout whose trunk has one policy and whose branch has another."""
    top = gated(path, before)
    git(top, "checkout", "-q", "-b", "topic")
    commit(top, {"tenure.toml": after})
    return Rehearsal(top)


def identity(rehearsal: Rehearsal, name: str = "lint") -> str:
    return rehearsal.read().identities[name].digest


def test_a_branch_is_judged_by_the_policy_of_its_base(tmp_path: Path) -> None:
    found = branched(tmp_path / "repo", HARD, EASY).read()
    assert [r.name for r in found.required.requirements] == ["lint", "lint@base"]
    assert found.required["lint@base"].job.run == ("false",)
    assert found.candidate.judging is Judging.BASE


def test_a_changed_judge_is_another_candidate_of_the_same_tree(tmp_path: Path) -> None:
    """The same tree, judged by its own policy on the trunk and by an older one on a branch."""
    rehearsal = branched(tmp_path / "repo", EASY, EASY + PASS.replace("lint", "more"))
    on_branch = rehearsal.read()
    git(rehearsal.top, "checkout", "-q", "--orphan", "other")
    commit(rehearsal.top)
    git(rehearsal.top, "branch", "-q", "-f", "main", "other")
    alone = rehearsal.read()
    assert alone.candidate.tree == on_branch.candidate.tree
    assert alone.candidate.judging is Judging.OWN
    assert alone.candidate_id != on_branch.candidate_id


def test_the_trunk_that_was_pinned_first_judges_on(tmp_path: Path) -> None:
    """A branch that names another trunk, itself for one, does not get to be judged by that."""
    rehearsal = branched(tmp_path / "repo", 'trunk = "main"\n' + EASY, 'trunk = "topic"\n' + EASY)
    git(rehearsal.top, "checkout", "-q", "main")
    rehearsal.read()
    git(rehearsal.top, "checkout", "-q", "topic")
    git(rehearsal.top, "config", "some.setting", "new")  # what is remembered holds no longer
    store = rehearsal.open_store()
    try:
        snapshot, name = read_snapshot(str(rehearsal.top), store, DONE)
    finally:
        store.close()
    assert (snapshot.trunk_ref, name) == ("refs/heads/main", "main")
    (objection,) = rehearsal.read().required.objections
    assert (objection.name, objection.kind) == ("trunk", "loosened")


def test_what_was_accepted_is_part_of_the_question(tmp_path: Path) -> None:
    rehearsal = branched(tmp_path / "repo", HARD, EASY)
    plain = rehearsal.read()
    accepted = rehearsal.read(Question(accepted=frozenset({"lint"})))
    assert accepted.required.accepted == ("lint",)
    assert accepted.subject != plain.subject
    assert accepted.candidate_id != plain.candidate_id


def test_a_rerun_is_a_question_of_its_own_about_the_same_candidate(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", EASY))
    plain, again = rehearsal.read(), rehearsal.read(Question(rerun=True))
    assert again.candidate_id == plain.candidate_id
    assert again.subject != plain.subject
    assert again.subject != rehearsal.read(Question(rerun=True)).subject


def test_an_unset_variable_is_not_an_empty_one(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "true", env=["SERVICE"])))
    rehearsal.environ.pop("SERVICE", None)
    unset = identity(rehearsal)
    rehearsal.environ["SERVICE"] = ""
    empty = identity(rehearsal)
    rehearsal.environ["SERVICE"] = "https://service.invalid"
    assert len({unset, empty, identity(rehearsal)}) == 3


def test_the_value_of_a_variable_is_nowhere_in_the_identity(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "true", env=["TOKEN"])))
    rehearsal.environ["TOKEN"] = "hunter2hunter2"
    parts = rehearsal.read().identities["lint"].parts
    assert "env:TOKEN" in parts
    assert "hunter2" not in str(parts)


def test_a_variable_that_is_only_passed_changes_nothing(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "true", pass_env=["SOCKET"])))
    before = identity(rehearsal)
    rehearsal.environ["SOCKET"] = "/run/socket"
    assert identity(rehearsal) == before


def test_only_the_inputs_of_a_job_change_its_identity(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "true", inputs=["src/**"])))
    with pytest.raises(PolicyError, match="would never run again"):
        rehearsal.read()
    commit(rehearsal.top, {"src/a": "a", "b": "b"})
    before = identity(rehearsal)
    commit(rehearsal.top, {"b": "another"})
    assert identity(rehearsal) == before
    commit(rehearsal.top, {"src/a": "another"})
    edited = identity(rehearsal)
    assert edited != before
    (rehearsal.top / "src" / "a").chmod(0o755)
    commit(rehearsal.top)
    assert identity(rehearsal) not in (before, edited), "a mode is content"
    commit(rehearsal.top, {"src/a": "a"})
    git(rehearsal.top, "mv", "src/a", "src/b")
    commit(rehearsal.top)
    assert identity(rehearsal) not in (before, edited), "a name is content"


def test_what_a_job_needs_is_part_of_its_identity(tmp_path: Path) -> None:
    policy = job("build", "true", stage="build", inputs=["src"]) + job(
        "test", "true", stage="test", inputs=["a.txt"], needs=["build"]
    )
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy, {"src": "a"}))
    before = identity(rehearsal, "test")
    commit(rehearsal.top, {"src": "b"})
    assert identity(rehearsal, "test") != before


def test_what_a_context_command_says_is_part_of_the_identity(tmp_path: Path) -> None:
    says = tmp_path / "says"
    says.write_text("one")
    policy = EASY + f'context = ["cat {says}"]\n'
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    before = identity(rehearsal)
    says.write_text("two")
    assert identity(rehearsal) != before


def test_another_program_on_the_path_is_another_identity(tmp_path: Path) -> None:
    for name, text in (("old", "#!/bin/sh\n"), ("new", "#!/bin/sh\nexit 0\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "linter").write_text(text)
        (tmp_path / name / "linter").chmod(0o755)
    rehearsal = Rehearsal(gated(tmp_path / "repo", '[jobs.lint]\nrun = "linter"\n'))
    found = set()
    for name in ("old", "new"):
        rehearsal.environ["PATH"] = os.pathsep.join([str(tmp_path / name), os.environ["PATH"]])
        found.add(identity(rehearsal))
    assert len(found) == 2
