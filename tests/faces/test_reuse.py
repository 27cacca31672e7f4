"""A pass is reused for exactly its input, anywhere in the repository, and the reason for a miss is told."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.faces.calls import (
    at_rest,
    executed,
    failures,
    gated,
    job,
    reused,
    rows,
    store,
    tenure,
)
from tests.gate.repos import Files, commit, git, worktree

#: Two jobs, each with a file of its own; the policy's text is an input of neither.
TWO = job("one", "cat one.txt", inputs=["one.txt"]) + job("two", "cat two.txt", inputs=["two.txt"])
FILES: Files = {"one.txt": "1\n", "two.txt": "2\n"}

#: Fails as long as `broken` is there, which is no part of the tree.
FLAKY = job("test", "test ! -e out/broken", stage="test")


def reasons(ending):
    """Why each job of a call had to run, as it is told."""
    lines = [line.strip() for line in ending.out.splitlines()]
    told = [line.removeprefix("run ").strip() for line in lines if line.startswith("run  ")]
    return {line.split()[0]: line.split("(", 1)[1].rsplit(")", 1)[0] for line in told}


def bare(reason):
    """A reason without the time the job took last time."""
    return reason.partition(", took ")[0]


# ── What is run again ────────────────────────────────────────────────────────────────────


def test_an_edit_to_one_file_runs_only_what_depends_on_it_and_says_why(tmp_path):
    repo = gated(tmp_path / "repo", TWO, FILES)
    assert {bare(why) for why in reasons(tenure(repo, "done")).values()} == {"no earlier result"}
    commit(repo, {"one.txt": "edited\n"})
    ending = tenure(repo, "done")
    assert {name: bare(why) for name, why in reasons(ending).items()} == {"one": "inputs changed"}
    assert "  reuse   two  (run " in ending.out
    assert "(2 requirements: 1 run, 1 reused" in ending.out


def test_an_edit_to_neither_runs_nothing(tmp_path):
    repo = gated(tmp_path / "repo", TWO, FILES)
    assert tenure(repo, "done").code == 0
    commit(repo, {"a.txt": "edited\n"})
    ending = tenure(repo, "done", "--json")
    assert (executed(ending), reused(ending)) == ([], ["one", "two"])
    assert {each["source"] for each in ending.object["proof"]["evidence"]} == {"reused"}


def test_a_commit_with_the_same_tree_has_its_proof_already(tmp_path):
    repo = gated(tmp_path / "repo", TWO, FILES)
    commit(repo, {"a.txt": "x\n"})
    first = tenure(repo, "done", "--json").object
    git(repo, "commit", "-q", "--amend", "-m", "Another message")
    again = tenure(repo, "done", "--json").object
    assert again["proof"] == first["proof"]
    assert again["commit"] != first["commit"]
    assert again["run"] is None


def test_what_a_job_to_be_run_needs_is_run_as_well(tmp_path):
    build = job("build", "true", stage="build", inputs=["one.txt"])
    use = job("use", "true", inputs=["two.txt"], needs=["build"])
    repo = gated(tmp_path / "repo", build + use, FILES)
    assert tenure(repo, "done").code == 0
    commit(repo, {"two.txt": "edited\n"})
    told = {name: bare(why) for name, why in reasons(tenure(repo, "done")).items()}
    assert told == {"build": "use needs it and has to run", "use": "inputs changed"}


def test_a_job_that_needs_a_changed_one_is_run_and_names_it(tmp_path):
    build = job("build", "true", stage="build", inputs=["one.txt"])
    use = job("use", "true", inputs=["two.txt"], needs=["build"])
    repo = gated(tmp_path / "repo", build + use, FILES)
    assert tenure(repo, "done").code == 0
    commit(repo, {"one.txt": "edited\n"})
    told = {name: bare(why) for name, why in reasons(tenure(repo, "done")).items()}
    assert told == {"build": "inputs changed", "use": "build changed, which it needs"}


def test_rerun_runs_everything_again(tmp_path):
    repo = gated(tmp_path / "repo", TWO, FILES)
    assert tenure(repo, "done").code == 0
    ending = tenure(repo, "done", "--rerun")
    assert {bare(why) for why in reasons(ending).values()} == {"asked to run again"}
    assert executed(tenure(repo, "done", "--rerun", "--json")) == ["one", "two"]


def test_a_job_that_is_never_reused_runs_every_time(tmp_path):
    repo = gated(tmp_path / "repo", job("one", "true", inputs=["one.txt"], reuse=False), FILES)
    assert tenure(repo, "done").code == 0
    commit(repo, {"two.txt": "edited\n"})
    assert bare(reasons(tenure(repo, "done"))["one"]) == "its policy says reuse = false"


# ── Failures ─────────────────────────────────────────────────────────────────────────────


def test_a_failure_is_never_reused(tmp_path):
    repo = gated(tmp_path / "repo", FLAKY)
    (repo / "out").mkdir()
    (repo / "out" / "broken").touch()
    assert tenure(repo, "done").code == 1
    ending = tenure(repo, "done")
    assert bare(reasons(ending)["test"]) == "its last run on exactly this input failed"
    (repo / "out" / "broken").unlink()
    assert tenure(repo, "done").code == 0


def test_a_newer_failure_voids_the_proof(tmp_path):
    repo = gated(tmp_path / "repo", FLAKY)
    proof = tenure(repo, "done", "--json").object["proof"]
    (repo / "out").mkdir()
    (repo / "out" / "broken").touch()
    assert tenure(repo, "done", "--rerun").code == 1
    shown = tenure(repo, "proof", proof["id"], "--json")
    assert (shown.code, shown.object["stands"]) == (1, False)
    assert tenure(repo, "proof").out.startswith("void: ")
    assert tenure(repo, "done").code == 1  # not from memory
    (repo / "out" / "broken").unlink()
    renewed = tenure(repo, "done", "--json")
    assert (renewed.code, executed(renewed)) == (0, ["test"])


def test_a_dropped_receipt_voids_the_proof_and_its_job_runs_again(tmp_path):
    repo = gated(tmp_path / "repo", job("one", "true") + job("two", "true"))
    proof = tenure(repo, "done", "--json").object["proof"]
    dropped = {each["requirement"]: each["receipt"] for each in proof["evidence"]}["two"]
    found = tenure(repo, "proof", "drop", dropped[:12], "--reason", "bad disk", "--json").object
    assert found["verb"] == "proof drop"
    assert (found["receipt"]["id"], found["receipt"]["dropped"]) == (dropped, "bad disk")
    assert found["void"] == [proof["id"]]
    assert tenure(repo, "proof").code == 1
    again = tenure(repo, "done")
    assert (
        bare(reasons(again)["two"]) == "its last run on exactly this input was dropped (bad disk)"
    )
    assert "one" not in reasons(again)
    renewed = tenure(repo, "proof", "--json").object["proof"]
    assert renewed["id"] != proof["id"]
    assert tenure(repo, "proof", proof["id"]).code == 1, "the old one stays void"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["zzz"], "no receipt's id begins with 'zzz'"),
        ([""], "begins the ids of"),
        (["x", "--reason", " "], "--reason is empty"),
    ],
)
def test_a_receipt_that_cannot_be_meant_is_not_dropped(tmp_path, typed, words):
    repo = gated(tmp_path / "repo", job("one", "true") + job("two", "true"))
    assert tenure(repo, "done").code == 0
    ending = tenure(repo, "proof", "drop", *typed)
    assert ending.code == 2
    assert words in ending.err
    assert tenure(repo, "proof").code == 0


def test_a_cancelled_job_leaves_no_receipt(tmp_path):
    repo = gated(tmp_path / "repo", job("one", "true", timeout="5m"))
    assert tenure(repo, "done", "--json", faults="run.begin:one=raise").code == 70
    assert rows(repo, "select count(*) from receipt") == [(0,)]


# ── Worktrees ────────────────────────────────────────────────────────────────────────────


def test_an_identical_tree_in_another_worktree_shares_the_proof_and_says_where_from(tmp_path):
    repo = gated(tmp_path / "repo", TWO, FILES)
    commit(repo, {"a.txt": "x\n"})
    side = worktree(repo, tmp_path / "side", "side")
    proof = tenure(repo, "done", "--json").object["proof"]
    found = tenure(side, "done", "--json").object
    assert found["proof"]["id"] == proof["id"]
    assert (found["worktree"], found["branch"]) == (str(repo), "refs/heads/side")


def test_another_worktree_shares_the_receipts_whose_inputs_are_the_same(tmp_path):
    repo = gated(tmp_path / "repo", TWO, FILES)
    first = tenure(repo, "done", "--json").object
    side = worktree(repo, tmp_path / "side", "side")
    commit(side, {"two.txt": "edited\n"})
    ending = tenure(side, "done", "--json")
    assert (executed(ending), reused(ending)) == (["two"], ["one"])
    (one,) = [e for e in ending.object["proof"]["evidence"] if e["requirement"] == "one"]
    (origin,) = [e for e in first["proof"]["evidence"] if e["requirement"] == "one"]
    assert one == {**origin, "source": "reused"}
    assert one["worktree"] == str(repo)


def test_the_same_path_with_other_content_shares_nothing(tmp_path):
    repo = gated(tmp_path / "repo", job("one", "grep -q 1 one.txt", inputs=["one.txt"]), FILES)
    assert tenure(repo, "done").code == 0
    side = worktree(repo, tmp_path / "side", "side")
    commit(side, {"one.txt": "broken\n"})
    ending = tenure(side, "done", "--json")
    assert (ending.code, failures(ending)) == (1, [("one", "failed")])


def test_questions_from_several_worktrees_never_mix(tmp_path):
    """Each worktree is answered for its own tree, whatever was asked in between."""
    repo = gated(tmp_path / "repo", job("one", "grep -q pass one.txt"), {"one.txt": "pass\n"})
    places = {repo: 0}
    for number, word in enumerate(["fail\n", "pass too\n", "fail too\n"]):
        side = worktree(repo, tmp_path / f"side-{number}", f"side-{number}")
        commit(side, {"one.txt": word})
        places[side] = 1 if "fail" in word else 0
    for _ in range(3):
        for place, code in places.items():
            assert tenure(place, "done").code == code


# ── Outputs ──────────────────────────────────────────────────────────────────────────────

BUILD = "mkdir -p out/sub; cat one.txt > out/sub/built; ln -s sub/built out/link; chmod +x out/sub/built"


def test_outputs_are_deleted_before_captured_and_restored_on_reuse(tmp_path):
    repo = gated(tmp_path / "repo", job("one", BUILD, inputs=["one.txt"], outputs=["out"]), FILES)
    (repo / "out").mkdir()
    (repo / "out" / "stale").touch()
    assert tenure(repo, "done").code == 0
    assert not (repo / "out" / "stale").exists()
    shutil.rmtree(repo / "out")
    (repo / "out").mkdir()
    (repo / "out" / "stray").touch()
    commit(repo, {"two.txt": "edited\n"})
    ending = tenure(repo, "done", "--json")
    assert reused(ending) == ["one"]
    assert (repo / "out" / "sub" / "built").read_text() == "1\n"
    assert os.access(repo / "out" / "sub" / "built", os.X_OK)
    assert os.readlink(repo / "out" / "link") == "sub/built"
    assert not (repo / "out" / "stray").exists()


@pytest.mark.parametrize("harm", ["lost", "cut", "changed"])
def test_a_capture_that_is_not_whole_costs_a_run_of_its_job(tmp_path, harm):
    write = job("one", "echo content > r.xml", inputs=["one.txt"], outputs=["r.xml"])
    repo = gated(tmp_path / "repo", write, FILES)
    assert tenure(repo, "done").code == 0
    (kept,) = (store(repo) / "outputs").iterdir()
    if harm == "lost":
        kept.unlink()
    else:
        kept.write_text({"cut": "", "changed": "CONTENT\n"}[harm])
    (repo / "r.xml").unlink()
    commit(repo, {"two.txt": "edited\n"})
    ending = tenure(repo, "done")
    assert ending.code == 0, ending
    assert bare(reasons(ending)["one"]) == "the captured outputs of its last run are gone"
    assert (repo / "r.xml").read_text() == "content\n"


def test_what_a_job_builds_is_there_for_what_needs_it_in_a_fresh_worktree(tmp_path):
    build = job(
        "build",
        "mkdir -p out; cp one.txt out/x",
        stage="build",
        outputs=["out/x"],
        inputs=["one.txt"],
    )
    use = job("use", "cmp one.txt out/x", needs=["build"], inputs=["one.txt", "two.txt"])
    repo = gated(tmp_path / "repo", build + use, FILES)
    assert tenure(repo, "done").code == 0
    side = worktree(repo, tmp_path / "side", "side")
    commit(side, {"two.txt": "edited\n"})
    assert tenure(side, "done").code == 0


# ── The environment ──────────────────────────────────────────────────────────────────────


def test_another_value_of_a_variable_is_another_input_and_is_named(tmp_path):
    repo = gated(tmp_path / "repo", job("one", "true", env=["LEVEL"]))
    for value in (None, "", "a", "b"):
        ending = tenure(repo, "done", "--json", env={"LEVEL": value})
        assert executed(ending) == ["one"], f"absent, empty and each value differ: {value!r}"
    for value in (None, "", "a", "b"):
        assert tenure(repo, "done", "--json", env={"LEVEL": value}).object["run"] is None
    ending = tenure(repo, "done", env={"LEVEL": "c"})
    assert bare(reasons(ending)["one"]) == "env LEVEL changed"


def test_a_variable_that_is_only_passed_is_no_input(tmp_path):
    repo = gated(tmp_path / "repo", job("one", "true", pass_env=["LEVEL"]))
    assert tenure(repo, "done", env={"LEVEL": "a"}).code == 0
    assert tenure(repo, "done", "--json", env={"LEVEL": "b"}).object["run"] is None


def test_what_is_pinned_for_every_job_is_no_input_of_any(tmp_path):
    repo = gated(tmp_path / "repo", job("one", 'test "$TZ" = UTC'))
    assert tenure(repo, "done", env={"TZ": "Europe/Budapest", "LANG": "hu_HU"}).code == 0
    again = tenure(repo, "done", "--json", env={"TZ": "Asia/Tokyo", "LC_ALL": "C"})
    assert again.object["run"] is None


def test_a_command_of_context_that_prints_something_else_is_another_input(tmp_path):
    tool = tmp_path / "version"
    tool.write_text("1\n")
    repo = gated(tmp_path / "repo", job("one", "true", context=[f"cat {tool}"]))
    assert tenure(repo, "done").code == 0
    assert tenure(repo, "done", "--json").object["run"] is None
    tool.write_text("2\n")
    ending = tenure(repo, "done")
    assert bare(reasons(ending)["one"]) == f"output of `cat {tool}` changed"


def test_a_context_command_that_fails_tells_nothing(tmp_path):
    repo = gated(tmp_path / "repo", job("one", "true", context=["no-such-tool --version"]))
    ending = tenure(repo, "done")
    assert (ending.code, ending.out) == (3, "")
    assert "the context command `no-such-tool --version` gave no answer" in ending.err


# ── The toolchain ────────────────────────────────────────────────────────────────────────


def venv(top: Path, version: str = "1.0") -> Path:
    """A virtual environment with one linter in it, as installers leave it."""
    place = top / ".venv"
    site = place / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    site.mkdir(parents=True)
    (place / "bin").mkdir()
    (place / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    home = os.path.dirname(os.path.realpath(sys.executable))
    (place / "pyvenv.cfg").write_text(f"home = {home}\n")
    (place / "bin" / "linter").write_text(f"#!{place}/bin/python\nprint('fine')\n")
    (place / "bin" / "linter").chmod(0o755)
    _install(site, version)
    return place


def _install(site: Path, version: str) -> None:
    for old in site.glob("linter-*"):
        shutil.rmtree(old)
    (site / f"linter-{version}.dist-info").mkdir()


def path_with(place: Path) -> dict[str, str | None]:
    """What activating a virtual environment changes."""
    return {"PATH": f"{place}/bin:{os.environ['PATH']}", "VIRTUAL_ENV": str(place)}


LINT = '[jobs.lint]\nrun = "linter"\n'


def test_a_worktree_with_a_virtual_environment_of_its_own_shares_receipts(tmp_path):
    """The same versions at another path, in scripts that name that path."""
    repo = gated(tmp_path / "repo", LINT)
    commit(repo, {"a.txt": "x\n"})
    side = worktree(repo, tmp_path / "side", "side")
    assert tenure(repo, "done", env=path_with(venv(repo))).code == 0
    found = tenure(side, "done", "--json", env=path_with(venv(side))).object
    assert (found["outcome"], found["run"]) == ("met", None)
    assert found["worktree"] == str(repo)


def test_an_upgraded_linter_is_another_input_and_its_environment_is_named(tmp_path):
    repo = gated(tmp_path / "repo", LINT)
    place = venv(repo)
    assert tenure(repo, "done", env=path_with(place)).code == 0
    (site,) = place.glob("lib/*/site-packages")
    _install(site, "2.0")
    ending = tenure(repo, "done", env=path_with(place))
    assert "packages installed in" in reasons(ending)["lint"]
    assert ending.code == 0


def test_a_program_that_changed_on_disk_is_another_input_and_is_named(tmp_path):
    repo = gated(tmp_path / "repo", LINT)
    place = venv(repo)
    assert tenure(repo, "done", env=path_with(place)).code == 0
    linter = place / "bin" / "linter"
    linter.write_text(linter.read_text() + "print('more')\n")
    ending = tenure(repo, "done", env=path_with(place))
    assert bare(reasons(ending)["lint"]) == "linter changed on disk"


def test_a_program_that_shadows_another_on_the_path_is_found(tmp_path):
    repo = gated(tmp_path / "repo", LINT)
    place = venv(repo)
    first = tmp_path / "first"
    first.mkdir()
    env = {"PATH": f"{first}:{place}/bin:{os.environ['PATH']}"}
    assert tenure(repo, "done", env=env).code == 0
    assert tenure(repo, "done", "--json", env=env).object["run"] is None
    shutil.copy(place / "bin" / "linter", first / "linter")
    (first / "linter").write_text("#!/bin/sh\nexit 1\n")
    assert tenure(repo, "done", env=env).code == 1


def test_a_lock_file_that_is_ignored_is_another_input(tmp_path):
    repo = gated(tmp_path / "repo", job("one", "true", inputs=["one.txt"]), FILES)
    commit(repo, {".gitignore": "/out/\nuv.lock\n"})
    (repo / "uv.lock").write_text("1")
    assert tenure(repo, "done").code == 0
    (repo / "uv.lock").write_text("2")
    assert bare(reasons(tenure(repo, "done"))["one"]) == "uv.lock changed"


def test_the_order_in_which_python_builds_its_sets_is_no_input(tmp_path):
    many = job("one", "true", env=["A", "B", "C"], pass_env=["D"], set_env={"Z": "1", "Y": "2"})
    repo = gated(tmp_path / "repo", many)
    assert tenure(repo, "done", env={"PYTHONHASHSEED": "1"}).code == 0
    for seed in ("2", "3", "4"):
        rows(repo, "delete from memo")
        rows(repo, "delete from memo_path")
        rows(repo, "delete from memo_variable")
        found = tenure(repo, "done", "--json", env={"PYTHONHASHSEED": seed}).object
        assert found["run"] is None
    assert at_rest(repo).exists()


def test_a_worktree_with_another_linter_of_its_own_is_asked_itself(tmp_path):
    """What one checkout remembers says nothing about what lies in another."""
    repo = gated(tmp_path / "repo", '[jobs.lint]\nrun = ".venv/bin/linter"\n')
    commit(repo, {"a.txt": "x\n"})
    side = worktree(repo, tmp_path / "side", "side")
    venv(repo)
    (venv(side) / "bin" / "linter").write_text("#!/bin/sh\nexit 3\n")
    assert tenure(repo, "done").code == 0
    assert tenure(side, "done").code == 1
    assert tenure(repo, "done", "--json").object["run"] is None


def test_another_home_may_hold_other_packages(tmp_path):
    repo = gated(tmp_path / "repo", '[jobs.lint]\nrun = "python3 -c pass"\n')
    site = f"lib/python3.{sys.version_info[1]}/site-packages"
    plain = path_without_virtual_environment()
    assert tenure(repo, "done", env=plain).code == 0
    other = tmp_path / "home"
    (other / ".local" / site / "more-1.0.dist-info").mkdir(parents=True)
    ending = tenure(repo, "done", env={**plain, "HOME": str(other)})
    assert "packages installed in" in reasons(ending)["lint"]


def path_without_virtual_environment() -> dict[str, str | None]:
    """A PATH on which `python3` is the one that virtual environments are made of."""
    base = os.path.dirname(os.path.realpath(sys.executable))
    return {"PATH": f"{base}:{os.environ['PATH']}", "VIRTUAL_ENV": None}


def test_what_is_in_neither_checkout_is_remembered_for_both(tmp_path):
    """Until it is there in one of them."""
    repo = gated(tmp_path / "repo", '[jobs.lint]\nrun = "python3 -c pass"\n')
    commit(repo, {"a.txt": "x\n", ".gitignore": "/out/\n.venv/\nuv.lock\n"})
    side = worktree(repo, tmp_path / "side", "side")
    assert tenure(repo, "done").code == 0
    assert rows(repo, "select count(*) from memo") == [(1,)]
    assert tenure(side, "done").code == 0
    assert rows(repo, "select count(*) from memo") == [(1,)]  # the memo of the other answered
    (side / "uv.lock").write_text("1")
    assert bare(reasons(tenure(side, "done"))["lint"]) == "lock file uv.lock is new"
    assert tenure(repo, "done", "--json").object["run"] is None
