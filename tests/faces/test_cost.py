"""What `done` costs, in causes: processes, transactions, imports. How long it takes is the bench's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tenure.testing.faults import Faults
from tests.faces.calls import environment, gated, tenure
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit

FOUR = "".join(f'[jobs.{name}]\nrun = "true"\n' for name in ("lint", "types", "unit", "docs"))

#: A git that writes down what it was asked, and then is the real one.
WITNESS = """\
#!/bin/sh
echo "$@" >> {log}
exec {git} "$@"
"""


class Witness:
    """A first place on PATH where every git is counted."""

    def __init__(self, place: Path) -> None:
        folder, self._log = place / "bin", place / "asked"
        folder.mkdir(parents=True)
        program = folder / "git"
        program.write_text(WITNESS.format(log=self._log, git=shutil.which("git")))
        program.chmod(0o755)
        self.env = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}

    def asked(self) -> list[str]:
        """The subcommands since the last call, sorted: some of them run side by side."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return sorted(_subcommand(line.split()) for line in lines)


def _subcommand(words: list[str]) -> str:
    """The first word that is neither an option nor the value of one."""
    values = {"-C", "-c"}
    for before, word in zip(["", *words], words, strict=False):
        if not word.startswith("-") and before not in values:
            return word
    raise AssertionError(words)


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    return Witness(tmp_path / "witness")


def test_a_known_answer_costs_two_git_processes(tmp_path: Path, witness: Witness) -> None:
    repo = gated(tmp_path / "repo", FOUR)
    assert tenure(repo, "done", env=witness.env).code == 0
    witness.asked()
    assert tenure(repo, "done", env=witness.env).code == 0
    assert witness.asked() == ["rev-parse", "status"]


def test_a_new_commit_is_read_once_and_looked_at_twice_more(
    tmp_path: Path, witness: Witness
) -> None:
    """Once to know the candidate and its policies, then for the baseline, then at the end."""
    repo = gated(tmp_path / "repo", FOUR)
    assert tenure(repo, "done", env=witness.env).code == 0
    commit(repo, {"a.txt": "another\n"})
    witness.asked()
    assert tenure(repo, "done", env=witness.env).code == 0
    reading = ["cat-file", "ls-tree", "rev-parse", "status"]
    assert witness.asked() == sorted([*reading, "ls-files", "status", "status"])


def test_a_run_commits_once_for_each_thing_it_has_to_keep(tmp_path: Path) -> None:
    """Bound, one receipt for each job, settled: nothing else waits for the disk."""
    rehearsal = Rehearsal(gated(tmp_path / "repo", FOUR))
    assert rehearsal.conduct().outcome == "passed"
    commit(rehearsal.top, {"a.txt": "another\n"})
    with Faults() as faults:
        assert rehearsal.conduct().outcome == "passed"
    assert faults.passed["store:committed"] == 1 + 4 + 1


def test_the_memo_comes_with_the_proof(tmp_path: Path, witness: Witness) -> None:
    """The first to ask again is answered in short already."""
    repo = gated(tmp_path / "repo", FOUR)
    with_memo = tenure(repo, "done", "--json", env=witness.env).object
    witness.asked()
    again = tenure(repo, "done", "--json", env=witness.env).object
    assert witness.asked() == ["rev-parse", "status"]
    assert again["proof"] == with_memo["proof"]


#: Prints what a command line imported before and after it forked, as far as this process knows.
IMPORTS = """\
import sys
sys.argv = ["tenure", "done"]
from tenure.faces.cli import command
code = command()
sys.stdout.flush()
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""

NOT_NEEDED = {
    "argparse",
    "asyncio",
    "dataclasses",
    "hashlib",
    "importlib.metadata",
    "inspect",
    "logging",
    "random",
    "shlex",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "threading",
    "traceback",
    "typing_extensions",
}


def test_a_run_imports_nothing_that_only_some_runs_need(tmp_path: Path) -> None:
    repo = gated(tmp_path / "repo", FOUR)
    done = subprocess.run(
        [sys.executable, "-S", "-c", IMPORTS],
        cwd=repo,
        env=environment({"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}),
        capture_output=True,
        text=True,
        check=False,
    )
    modules = set(done.stderr.split())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tenure.gate.run" in modules
    assert sorted(NOT_NEEDED & modules) == []
