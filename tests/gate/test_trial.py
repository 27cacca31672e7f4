"""A job on a copy of what it declares passes if that is all it reads, and touches nothing else."""

import signal
from pathlib import Path

import pytest

from tenure.gate.errors import CannotTell
from tenure.gate.kind import CHECK
from tenure.gate.signals import Signals
from tenure.gate.situation import Question
from tenure.gate.trial import Trial, conduct_trial
from tests.faces.calls import HOLD, ended, gated, job, start, tenure
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import Files, make_repo, submodule, write
from tests.waiting import until


def tried(rehearsal: Rehearsal, name: str, scratch: Path) -> Trial:
    found = rehearsal.read(Question(kind=CHECK, requested=frozenset({name})))
    store, signals = rehearsal.open_store(), Signals(())
    scratch.mkdir()
    try:
        return conduct_trial(
            found,
            name,
            str(scratch),
            kept=rehearsal.place.outputs,
            deciding=store.deciding(item.digest for item in found.identities.values()),
            environ=rehearsal.environ,
            clock=rehearsal.clock,
            signals=signals,
        )
    finally:
        signals.close()
        store.close()


def below(top: Path) -> set[str]:
    return {str(path.relative_to(top)) for path in top.rglob("*") if not path.is_dir()}


def test_a_job_gets_what_it_declares_and_nothing_else(tmp_path: Path) -> None:
    shell = "find . -type f -o -type l | sort"
    policy = job("lint", shell, inputs=["src/**", "link"])
    files: Files = {"src/a.py": "1", "src/deep/b.py": "2", "data.json": "3"}
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy, files))
    (rehearsal.top / "link").symlink_to("nowhere")
    (rehearsal.top / "src" / "a.py").chmod(0o755)
    write(rehearsal.top, {"src/new.py": "untracked", "out/x": "ignored"})
    trial = tried(rehearsal, "lint", tmp_path / "scratch")
    assert trial.tail.split() == ["./link", "./src/a.py", "./src/deep/b.py", "./src/new.py"]
    assert (trial.passed, trial.files) == (True, 4)
    assert (tmp_path / "scratch" / "copy" / "src" / "a.py").stat().st_mode & 0o111


def test_a_file_that_was_not_declared_is_missing_and_named(tmp_path: Path) -> None:
    policy = job("lint", "cat data/rules.json a.txt", inputs=["*.txt"])
    files: Files = {"data/rules.json": "{}", "other.json": ""}
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy, files))
    trial = tried(rehearsal, "lint", tmp_path / "one")
    assert (trial.outcome, trial.passed_here) == ("failed", False)
    assert trial.named == ("data/rules.json",)
    assert rehearsal.conduct().outcome == "passed"
    assert tried(rehearsal, "lint", tmp_path / "two").passed_here


def test_nothing_is_published_and_the_checkout_is_as_it_was(tmp_path: Path) -> None:
    policy = job("lint", "echo 2 > a.txt; touch left", outputs=["out"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    write(rehearsal.top, {"out/precious": "1"})
    rehearsal.read(Question(kind=CHECK))  # which makes the store
    before = below(rehearsal.top)
    assert tried(rehearsal, "lint", tmp_path / "scratch").outcome == "no_output"
    assert below(rehearsal.top) - before == set()
    assert (rehearsal.top / "a.txt").read_text() == "a\n"
    store = rehearsal.open_store()
    assert (store.nearest(["lint"]), store.recent_runs(9)) == ({}, [])
    store.close()


def test_what_a_job_needs_comes_from_its_receipts(tmp_path: Path) -> None:
    policy = job("build", "mkdir out; echo built > out/x", outputs=["out"], inputs=["a.txt"])
    policy += job("test", "cat out/x", needs=["build"], inputs=["tests/**"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy, {"tests/t": "1"}))
    with pytest.raises(CannotTell, match=r"build, which it needs.*`tenure check build` first"):
        tried(rehearsal, "test", tmp_path / "one")
    rehearsal.conduct(Question(kind=CHECK, requested=frozenset({"build"})))
    trial = tried(rehearsal, "test", tmp_path / "two")
    assert (trial.passed, trial.tail, trial.files) == (True, "built", 1)
    for kept in Path(rehearsal.place.outputs).iterdir():
        kept.unlink()
    with pytest.raises(CannotTell, match=r"`tenure check --rerun build` first"):
        tried(rehearsal, "test", tmp_path / "three")


def test_the_tools_it_runs_with_are_at_hand(tmp_path: Path) -> None:
    """Its identity knows them: the program by content, the environment by its packages."""
    policy = job("lint", "tools/run.sh && .venv/bin/tool && ls", inputs=["a.txt"])
    policy = policy.replace("shell =", "run =").replace(" && .venv/bin/tool && ls", "")
    files: Files = {"tools/run.sh": "#!/bin/sh\n.venv/bin/tool\n"}
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy, files))
    write(rehearsal.top, {".venv/bin/tool": "#!/bin/sh\necho it works\n", ".venv/pyvenv.cfg": ""})
    for program in ("tools/run.sh", ".venv/bin/tool"):
        (rehearsal.top / program).chmod(0o755)
    trial = tried(rehearsal, "lint", tmp_path / "scratch")
    assert (trial.passed, trial.tail) == (True, "it works")


def test_files_of_a_submodule_are_inputs_like_others(tmp_path: Path) -> None:
    make_repo(tmp_path / "lib", {"l.py": "inner", "m.txt": ""})
    policy = job("lint", "cat lib/l.py; ls lib", inputs=["lib/*.py", "a.txt"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    submodule(rehearsal.top, tmp_path / "lib", "lib")
    trial = tried(rehearsal, "lint", tmp_path / "scratch")
    assert (trial.files, trial.tail.split()) == (2, ["innerl.py"])


def test_as_it_is_typed(tmp_path: Path) -> None:
    policy = job("lint", "cat b.txt", inputs=["a.txt"]) + job("all", "cat b.txt")
    repo = gated(tmp_path / "repo", policy, {"b.txt": "1"})
    ending = tenure(repo, "doctor", "--inputs", "lint")
    assert ending.code == 1
    assert ending.out.splitlines()[0] == "BAD  lint fails on a copy of its 1 declared inputs"
    assert "  not declared, and named in its output: b.txt\n" in ending.out
    assert (
        tenure(repo, "doctor", "--inputs", "all").out == "ok   all passes on a copy of all files\n"
    )
    found = tenure(repo, "doctor", "--inputs", "lint", "--json").object["trial"]
    assert (found["passed"], found["named"]) == (False, ["b.txt"])
    assert tenure(repo, "doctor", "--inputs", "lnt").code == 2


def test_a_signal_ends_the_job_and_removes_the_copy(tmp_path: Path) -> None:
    began, scratch = tmp_path / "began", tmp_path / "scratch"
    scratch.mkdir()
    repo = gated(tmp_path / "repo", job("lint", f"touch {began}; {HOLD}"))
    call = start(repo, "doctor", "--inputs", "lint", env={"TMPDIR": str(scratch)})
    until(began.exists, "the job runs")
    call.send_signal(signal.SIGINT)
    assert ended(call, "doctor").code == 130
    assert list(scratch.iterdir()) == []
