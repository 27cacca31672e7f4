"""A branch may add and tighten. What it changes passes old and new; what it drops is named."""

import pytest

from tests.faces.calls import PASS, executed, failures, gated, job, reused, tenure
from tests.gate.repos import Files, clone, commit, git, make_repo

#: A test that the branch cannot pass honestly.
HONEST = job("test", "grep -q good a.txt", stage="test")
FAKED = job("test", "true", stage="test")
GOOD: Files = {"a.txt": "good\n"}
BAD: Files = {"a.txt": "bad\n"}


def branched(tmp_path, policy=HONEST, files=GOOD):
    """A repository with a trunk that has `policy`, on a branch of its own."""
    repo = gated(tmp_path / "repo", policy, files)
    git(repo, "checkout", "-q", "-b", "side")
    return repo


def objections(ending):
    """Name and kind of every objection."""
    return [(each["name"], each["kind"]) for each in ending.object["objections"]]


# ── Changed ──────────────────────────────────────────────────────────────────────────────


def test_a_faked_job_is_not_met_and_named_as_what_the_base_demands(tmp_path):
    repo = branched(tmp_path)
    commit(repo, {"tenure.toml": FAKED, **BAD})
    ending = tenure(repo, "done", "--json")
    assert (ending.code, ending.object["outcome"]) == (1, "not met")
    assert failures(ending) == [("test@base", "failed")]
    assert executed(ending) == ["test", "test@base"]
    assert "XX      test@base  failed" in tenure(repo, "done").out


def test_a_changed_job_that_passes_old_and_new_is_met(tmp_path):
    repo = branched(tmp_path)
    commit(repo, {"tenure.toml": FAKED})
    ending = tenure(repo, "done", "--json")
    assert ending.code == 0
    assert {e["requirement"] for e in ending.object["proof"]["evidence"]} == {"test", "test@base"}
    assert ending.object["proof"]["judged_by"] == "base"
    assert ending.object["proof"]["accepted"] == []


def test_a_job_that_is_tightened_has_to_pass_as_it_is_now(tmp_path):
    repo = branched(tmp_path, FAKED, BAD)
    commit(repo, {"tenure.toml": HONEST})
    assert failures(tenure(repo, "done", "--json")) == [("test", "failed")]


def test_an_old_definition_reuses_what_the_trunk_has_shown(tmp_path):
    """The name is no part of a definition: `test@base` is what `test` was."""
    policy = job("test", "grep -q good a.txt", inputs=["a.txt"])
    repo = branched(tmp_path, policy)
    assert tenure(repo, "done").code == 0
    commit(repo, {"tenure.toml": job("test", "grep -q good a.txt && true", inputs=["a.txt"])})
    ending = tenure(repo, "done", "--json")
    assert (executed(ending), reused(ending)) == (["test"], ["test@base"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"inputs": ["b.txt"]}),
        ({"inputs": ["*.txt"]}, {"inputs": ["b.txt"]}),
        ({}, {"timeout": "1h"}),
        ({"reuse": False}, {}),
        ({}, {"set_env": {"SKIP": "1"}}),
        ({}, {"env": ["SKIP"]}),
        ({}, {"pass_env": ["SKIP"]}),
        ({}, {"cwd": "sub"}),
        ({"context": ["cat a.txt"]}, {}),
        ({"outputs": ["out/x"]}, {}),
        ({"stage": "test"}, {"stage": "check"}),
    ],
)
def test_whatever_is_changed_of_a_definition_the_old_one_stands(tmp_path, old, new):
    shell = "mkdir -p out; echo x > out/x; grep -q good a.txt ../a.txt 2>/dev/null"
    shell += " || grep -q good a.txt"
    files: Files = {**GOOD, "b.txt": "b\n", "sub/a.txt": "good\n"}
    repo = branched(tmp_path, job("test", shell, **old), files)
    commit(repo, {"tenure.toml": job("test", "true", **new), "a.txt": "bad\n"})
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1, ending
    assert ("test@base", "failed") in failures(ending)


def test_an_unchanged_job_that_needs_a_faked_one_is_run_on_what_the_old_one_builds(tmp_path):
    build = job("build", "mkdir -p out; cp a.txt out/x", stage="build", outputs=["out/x"])
    test = job("test", "grep -q good out/x", stage="test", needs=["build"])
    repo = branched(tmp_path, build + test, BAD)
    faked = build.replace("cp a.txt out/x", "echo good > out/x")
    assert faked != build
    commit(repo, {"tenure.toml": faked + test, "c.txt": "c\n"})
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1, ending
    assert failures(ending) == [("test@base", "failed")]
    assert (repo / "out" / "x").read_text() == "good\n"  # its own, as its author means it


def test_what_only_looks_different_is_no_change(tmp_path):
    policy = '[jobs.test]\nrun = "grep -q good a.txt"\ninputs = ["a.txt", "b.txt"]\n'
    repo = branched(tmp_path, policy, {**GOOD, "b.txt": "b\n"})
    same = '# a remark\n[jobs]\n[jobs.test]\ninputs = ["b.txt", "a.txt"]\nrun = ["grep", "-q", "good", "a.txt"]\n'
    commit(repo, {"tenure.toml": same})
    assert executed(tenure(repo, "done", "--json")) == ["test"]


def test_a_policy_that_moves_to_pyproject_is_the_same_policy(tmp_path):
    repo = branched(tmp_path)
    moved = HONEST.replace("[jobs.", "[tool.tenure.jobs.")
    commit(repo, {"pyproject.toml": moved}, remove=["tenure.toml"])
    assert executed(tenure(repo, "done", "--json")) == ["test"]


# ── Added, removed, renamed ──────────────────────────────────────────────────────────────


def test_a_job_may_be_added_freely(tmp_path):
    repo = branched(tmp_path)
    commit(repo, {"tenure.toml": HONEST + PASS})
    assert executed(tenure(repo, "done", "--json")) == ["lint", "test"]


def test_a_removed_job_is_not_met_by_name_and_nothing_is_run(tmp_path):
    repo = branched(tmp_path, HONEST + PASS)
    commit(repo, {"tenure.toml": PASS})
    ending = tenure(repo, "done", "--json")
    assert (ending.code, ending.object["outcome"]) == (1, "not met")
    assert objections(ending) == [("test", "removed")]
    assert ending.object["run"] is None
    plain = tenure(repo, "done")
    assert "test: the base requires this job and the branch removes it" in plain.out
    assert "tenure done --accept-policy-change test" in plain.out


def test_a_renamed_job_is_a_removed_one(tmp_path):
    repo = branched(tmp_path)
    commit(repo, {"tenure.toml": HONEST.replace("jobs.test", "jobs.tests")})
    assert objections(tenure(repo, "done", "--json")) == [("test", "removed")]


def test_a_branch_without_any_policy_is_no_way_out(tmp_path):
    repo = branched(tmp_path)
    commit(repo, remove=["tenure.toml"])
    ending = tenure(repo, "done")
    assert ending.code == 2
    assert "there is no policy" in ending.err


@pytest.mark.parametrize("before", ['trunk = "main"\n', ""])
def test_a_renamed_trunk_is_not_met(tmp_path, before):
    repo = branched(tmp_path, before + HONEST)
    git(repo, "branch", "easy", "main")
    commit(repo, {"tenure.toml": 'trunk = "easy"\n' + HONEST})
    ending = tenure(repo, "done", "--json")
    assert (ending.code, objections(ending)) == (1, [("trunk", "loosened")])
    accepted = tenure(repo, "done", "--json", "--accept-policy-change", "trunk")
    assert accepted.code == 0
    assert accepted.object["proof"]["accepted"] == ["trunk"]


def test_the_trunk_is_the_one_of_the_first_use_and_no_branch_chooses_another(tmp_path):
    """Without a remote the name is pinned: a later `main` is not suddenly the judge."""
    repo = gated(tmp_path / "repo", HONEST, GOOD, branch="work")
    assert tenure(repo, "done", "--json").object["proof"]["judged_by"] == "own"
    git(repo, "checkout", "-q", "-b", "main")
    commit(repo, {"tenure.toml": FAKED, **BAD})
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("test@base", "failed")]


def test_a_remote_decides_where_there_is_one(tmp_path):
    source = gated(tmp_path / "source", HONEST, GOOD)
    repo = clone(source, tmp_path / "repo")
    git(repo, "checkout", "-q", "main")
    commit(repo, {"tenure.toml": FAKED, **BAD})
    commit(repo, {"b.txt": "the second commit on the local trunk launders nothing\n"})
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("test@base", "failed")]


# ── Accepted ─────────────────────────────────────────────────────────────────────────────


def test_an_accepted_change_is_recorded_in_the_proof(tmp_path):
    repo = branched(tmp_path, HONEST + PASS)
    commit(repo, {"tenure.toml": FAKED, **BAD})
    ending = tenure(repo, "done", "--json", "--accept-policy-change", "lint")
    assert failures(ending) == [("test@base", "failed")]
    both = ("--accept-policy-change", "lint", "--accept-policy-change", "test")
    ending = tenure(repo, "done", "--json", *both)
    assert ending.code == 0, ending
    assert ending.object["proof"]["accepted"] == ["lint", "test"]
    assert "accepted: lint, test" in tenure(repo, "done", *both).out
    assert "accepted: lint, test" in tenure(repo, "proof").out


def test_what_was_accepted_once_is_not_accepted_for_whoever_asks_next(tmp_path):
    repo = branched(tmp_path, HONEST + PASS)
    commit(repo, {"tenure.toml": HONEST})
    assert tenure(repo, "done", "--accept-policy-change", "lint").code == 0
    for _ in range(2):
        assert objections(tenure(repo, "done", "--json")) == [("lint", "removed")]


@pytest.mark.parametrize("name", ["test", "nothing", "trunk", "policy", "test@base"])
def test_what_did_not_change_cannot_be_accepted(tmp_path, name):
    repo = branched(tmp_path)
    commit(repo, {"b.txt": "b\n"})
    ending = tenure(repo, "done", "--accept-policy-change", name)
    assert ending.code == 2
    assert f"{name!r} is no change of policy that could be accepted" in ending.err


def test_what_could_be_accepted_is_listed(tmp_path):
    repo = branched(tmp_path, HONEST + PASS)
    commit(repo, {"tenure.toml": FAKED})
    ending = tenure(repo, "done", "--accept-policy-change", "tset")
    assert "what could be: 'lint', 'test'" in ending.err


# ── Which policy judges ──────────────────────────────────────────────────────────────────


def test_a_first_policy_judges_itself_and_says_so(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.txt": "a\n"})
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": PASS})
    ending = tenure(repo, "done", "--json")
    assert ending.object["proof"]["judged_by"] == "own"
    assert "judged by its own policy, there was none before it" in tenure(repo, "done").out


def test_a_trunk_that_has_a_policy_by_now_judges_an_old_branch(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.txt": "bad\n"})
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": FAKED})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"tenure.toml": HONEST})
    git(repo, "checkout", "-q", "side")
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("test@base", "failed")]


def test_a_project_that_only_mentions_us_has_no_policy(tmp_path):
    """A dependency called tenure is no table of that name."""
    repo = make_repo(
        tmp_path / "repo", {"pyproject.toml": '[project]\ndependencies = ["tenure"]\n'}
    )
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": PASS})
    assert tenure(repo, "done", "--json").object["proof"]["judged_by"] == "own"


BROKEN: dict[str, Files] = {
    "torn": {"tenure.toml": "[jobs.test\n"},
    "unknown to us": {"tenure.toml": HONEST + "[standards.x]\nfrom = 'test'\n"},
    "double": {"tenure.toml": HONEST, "pyproject.toml": "[tool.tenure.jobs.a]\nrun = 'x'\n"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_policy_on_the_base_that_cannot_be_read_is_named_and_can_be_passed_over(tmp_path, name):
    repo = make_repo(tmp_path / "repo", {**BROKEN[name], "a.txt": "a\n"})
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": PASS, "pyproject.toml": ""})
    for _ in range(2):
        ending = tenure(repo, "done")
        assert ending.code == 2, ending
        assert ending.err.startswith(f"tenure: {base[:12]}:tenure.toml"), ending
        assert "this policy judges the branch and has to be readable" in ending.err
        assert "--accept-policy-change policy" in ending.err
        accepted = tenure(repo, "done", "--json", "--accept-policy-change", "policy")
        assert accepted.code == 0, accepted
        assert accepted.object["proof"]["accepted"] == ["policy"]


def test_past_a_broken_base_the_tip_of_the_trunk_still_judges(tmp_path):
    repo = make_repo(tmp_path / "repo", {"tenure.toml": "[jobs\n", **BAD})
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": FAKED})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"tenure.toml": HONEST})
    git(repo, "checkout", "-q", "side")
    ending = tenure(repo, "done", "--json", "--accept-policy-change", "policy")
    assert failures(ending) == [("test@base", "failed")]


def test_a_policy_of_its_own_that_cannot_be_read_cannot_be_passed_over(tmp_path):
    repo = branched(tmp_path)
    commit(repo, {"tenure.toml": "[jobs\n"})
    assert tenure(repo, "done", "--accept-policy-change", "policy").code == 2


def test_a_merge_of_the_trunk_is_judged_by_where_it_left_it_last(tmp_path):
    repo = branched(tmp_path)
    commit(repo, {"b.txt": "b\n"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"tenure.toml": HONEST + job("more", "grep -q good a.txt")})
    git(repo, "checkout", "-q", "side")
    git(repo, "merge", "-q", "--no-edit", "main")
    commit(repo, {"tenure.toml": HONEST})
    assert objections(tenure(repo, "done", "--json")) == [("more", "removed")]


def test_another_base_is_another_question(tmp_path):
    """The same tree, judged by a policy that meanwhile asks for more."""
    repo = branched(tmp_path)
    commit(repo, {"b.txt": "b\n"})
    assert tenure(repo, "done").code == 0
    git(repo, "checkout", "-q", "main")
    commit(repo, {"tenure.toml": HONEST + job("more", "false")})
    git(repo, "checkout", "-q", "side")
    git(repo, "rebase", "-q", "main")
    commit(repo, {"tenure.toml": HONEST})
    assert objections(tenure(repo, "done", "--json")) == [("more", "removed")]
