"""What a run must not pass on is not passed by asking again."""

import os
from pathlib import Path

import pytest

from tests.faces.calls import ended, executed, gated, job, start, store, tenure
from tests.gate.repos import clone, commit, git, write
from tests.waiting import until


def test_a_pass_of_a_run_that_left_files_does_not_count_again(tmp_path: Path) -> None:
    repo = gated(tmp_path / "r", job("make", "touch leftover", inputs=["a.txt"]))
    first = tenure(repo, "done", "--json")
    assert (first.code, first.object["report"]["failures"][0]["kind"]) == (1, "left_files")
    (repo / "leftover").unlink()
    again = tenure(repo, "done", "--json")
    assert again.code == 1, "a fresh clone would say the same"
    assert executed(again) == ["make"]


def test_an_edit_put_back_during_a_fix_job_proves_nothing(tmp_path: Path) -> None:
    edit = "cp -p a.txt keep; echo x > a.txt; cat keep > a.txt; rm keep"
    repo = gated(tmp_path / "r", job("fmt", edit, stage="fix") + job("lint", "true"))
    ending = tenure(repo, "done", "--json")
    (failure,) = ending.object["report"]["failures"]
    assert (ending.code, failure["requirement"], failure["kind"]) == (3, "fmt", "inputs_moved")
    assert "a.txt" in failure["detail"]
    assert tenure(repo, "done").code == 3, "and it still does when it is asked again"


def test_a_folder_swapped_and_put_back_proves_nothing(tmp_path: Path) -> None:
    swap = "mv src away; mkdir src; echo good > src/f; rm -r src; mv away src"
    repo = gated(tmp_path / "r", job("test", swap), {"src/f": "bad\n"})
    ending = tenure(repo, "done", "--json")
    assert (ending.code, ending.object["report"]["failures"][0]["kind"]) == (3, "inputs_moved")


def test_a_program_replaced_during_the_run_proves_nothing(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    write(tools, {"tool": "#!/bin/sh\nexit 1\n"}, executable=["tool"])
    replace = f"printf '#!/bin/sh\\nexit 0\\n' > {tools}/tool"
    policy = job("a", replace, stage="build") + '[jobs.b]\nrun = "tool"\nneeds = ["a"]\n'
    repo = gated(tmp_path / "r", policy)
    env = {"PATH": f"{tools}:{os.environ['PATH']}"}
    ending = tenure(repo, "done", "--json", env=env)
    assert ending.code == 3
    assert {f["kind"] for f in ending.object["report"]["failures"]} <= {"inputs_moved", "unrun"}
    assert str(tools / "tool") in str(ending.object["report"]["failures"])


def test_another_commit_checked_out_and_back_proves_nothing(tmp_path: Path) -> None:
    there = "git checkout -q other && test -f helper && git checkout -q main"
    repo = gated(tmp_path / "r", job("test", there))
    git(repo, "checkout", "-q", "-b", "other")
    write(repo, {"helper": "x\n"})
    commit(repo, message="help")
    git(repo, "checkout", "-q", "main")
    ending = tenure(repo, "done", "--json")
    assert (ending.code, ending.object["report"]["failures"][0]["kind"]) == (3, "inputs_moved")


@pytest.mark.parametrize("setting", ["core.fileMode", "core.symlinks"])
def test_modes_and_links_count_whatever_the_repository_says(tmp_path: Path, setting: str) -> None:
    repo = gated(tmp_path / "r", job("test", "true"), {"s.sh": "x\n"})
    os.symlink("a.txt", repo / "link")
    commit(repo, message="link")
    git(repo, "config", setting, "false")
    if setting == "core.fileMode":
        (repo / "s.sh").chmod(0o755)
    else:
        (repo / "link").unlink()
        (repo / "link").write_text("a.txt")
    ending = tenure(repo, "done")
    assert ending.code == 3
    assert ("s.sh" if setting == "core.fileMode" else "link") in ending.err


def test_a_clone_without_the_trunk_does_not_judge_itself(tmp_path: Path) -> None:
    repo = gated(tmp_path / "r", job("test", "grep -q good a.txt"), {"a.txt": "good\n"})
    git(repo, "checkout", "-q", "-b", "feature")
    write(repo, {"tenure.toml": job("test", "true"), "a.txt": "bad\n"})
    commit(repo, message="loosen")
    write(repo, {"b": "x\n"})
    commit(repo, message="on")
    git(repo, "checkout", "-q", "main")
    single = clone(repo, tmp_path / "single", "--single-branch", "-b", "feature")
    ending = tenure(single, "done")
    assert ending.code == 3
    assert "the trunk of origin is not known here" in ending.err
    assert "git fetch origin" in ending.err
    assert tenure(single, "done").code == 3


def test_a_needed_output_is_never_a_mixture_of_two_builds(tmp_path: Path) -> None:
    def policy(built: str) -> str:
        build = job("build", f"mkdir -p out && touch out/{built}", stage="build", outputs=["out"])
        return build + job("test", "test -f out/b", needs=["build"])

    repo = gated(tmp_path / "r", policy("b"))
    git(repo, "checkout", "-q", "-b", "feature")
    write(repo, {"tenure.toml": policy("a")})
    commit(repo, message="build")
    ending = tenure(repo, "done", "--json")
    failed = {f["requirement"]: f["kind"] for f in ending.object["report"]["failures"]}
    assert (ending.code, failed) == (1, {"test": "failed"})
    assert os.listdir(repo / "out") == ["a"], "the candidate's own outputs are what stays"


def test_nothing_is_deleted_behind_a_link_that_a_job_made(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    write(victim, {"sub/data": "precious\n"})
    policy = job("link", f"ln -s {victim} out", stage="build")
    policy += job("test", "true", needs=["link"], outputs=["out/sub"])
    repo = gated(tmp_path / "r", policy)
    assert tenure(repo, "done").code == 3
    assert (victim / "sub" / "data").read_text() == "precious\n"


def test_a_daemon_that_keeps_the_checkout_is_named(tmp_path: Path) -> None:
    """One that left its session and its environment cannot be found by any mark of ours."""
    daemon = f"setsid env -i /bin/sh -c 'until [ -e {tmp_path}/end ]; do sleep 0.05; done' &"
    repo = gated(tmp_path / "r", job("test", daemon))
    assert tenure(repo, "done").code == 0
    commit(repo, {"b": "x\n"})
    call = start(repo, "done")
    try:
        log = store(repo) / "runs"
        until(
            lambda: b"no run knows of" in b"".join(p.read_bytes() for p in log.glob("*/log")),
            "it is named",
        )
    finally:
        (tmp_path / "end").touch()
    assert ended(call, "done").code == 0


def test_a_trunk_that_was_renamed_away_is_not_replaced_by_the_branch(tmp_path: Path) -> None:
    repo = gated(tmp_path / "r", job("test", "grep -q a a.txt"))
    assert tenure(repo, "done").code == 0
    git(repo, "branch", "-m", "main", "old")
    commit(repo, {"tenure.toml": job("test", "true")}, "loosen")
    ending = tenure(repo, "done")
    assert ending.code == 3
    assert "the trunk of this repository was main" in ending.err
