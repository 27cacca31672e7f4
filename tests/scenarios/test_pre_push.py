"""`tenure done` from a real hook in a linked worktree: the repository is only read."""

import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.gate import repos
from tests.scenarios.audit import check
from tests.scenarios.packages import hook, package
from tests.scenarios.processes import marked
from tests.waiting import until

#: What a hook of `git commit` finds in its environment, besides GIT_DIR, which git sets anyway.
EXPORTS = 'export GIT_INDEX_FILE="$(git rev-parse --git-path index)"'

State = dict[str, tuple[int, int, bytes]]


class Package:
    """A package, its worktree, and pushes from there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.held = root / "held"
        self.main, self.side = package(root, self.held)
        hook(
            self.main,
            "pre-push",
            f'env > {root / "hook.env"}\n{EXPORTS}\nexec tenure hook pre-push "$@"',
        )

    def push(self, *options: str) -> "subprocess.Popen[str]":
        """Start a push of the branch. The variable marks everybody who takes part in it."""
        return subprocess.Popen(
            ["git", "push", "-q", *options, "origin", "feature"],
            cwd=self.side,
            env={**os.environ, "PUSH_OF": str(self.root)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def state(self) -> State:
        """Every file of the repository and its worktrees but the gate's own, with its times."""
        found: State = {}
        for top in (self.main, self.side):
            for path in sorted(top.rglob("*")):
                if self.main / ".git" / "tenure" in (path, *path.parents):
                    continue
                status = path.lstat()
                content = path.read_bytes() if path.is_file() else b""
                times = 0 if path == self.main / ".git" else status.st_mtime_ns
                found[str(path.relative_to(self.root))] = (status.st_mode, times, content)
        return found

    def books(self):
        return check(str(self.main / ".git" / "tenure" / "tenure.db"))

    def kill_everybody(self) -> None:
        """At once, and again until nobody is left: every process of this test has its home."""
        home = f"HOME={os.environ['HOME']}"

        def one_round() -> bool:
            left = marked(home)
            for one in left:
                one.send(signal.SIGKILL)
            return not left

        until(one_round, "everybody is dead")


@pytest.fixture
def rhyme(tmp_path: Path) -> Package:
    return Package(tmp_path)


def test_a_push_from_a_linked_worktree_is_proven_and_changes_nothing(rhyme: Package):
    before = rhyme.state()
    _is_let_through(rhyme.push("--dry-run"))
    assert "GIT_DIR=" in (rhyme.root / "hook.env").read_text("utf-8"), "the hook's git says where"
    _is_the_same(rhyme.state(), before)
    books = rhyme.books()
    assert [row["outcome"] for row in books.attempts] == ["passed"]
    assert books.proofs[0]["body"]["judged_by"] == "base"
    executed = books.receipts_of(books.attempts[0]["run"])
    assert sorted(executed) == ["compile", "repository", "slow", "unit"]
    _is_let_through(rhyme.push())
    assert repos.git(rhyme.side, "rev-parse", "origin/feature") == repos.git(
        rhyme.side, "rev-parse", "HEAD"
    )
    assert len(rhyme.books().attempts) == 1, "the second push was answered by the Proof"


def test_a_push_of_what_does_not_pass_is_refused_and_changes_nothing(rhyme: Package):
    repos.commit(rhyme.side, {"src/rhyme/ending.py": "def rhymes(*_):\n    return True\n"})
    before = rhyme.state()
    push = rhyme.push("--dry-run")
    out, _ = push.communicate(timeout=60)
    assert push.returncode == 1
    assert "test_words_that_do_not" in out
    _is_the_same(rhyme.state(), before)
    rhyme.books()


def test_a_push_killed_with_everybody_leaves_the_repository_as_it_was(rhyme: Package):
    before = rhyme.state()
    rhyme.held.touch()
    push = rhyme.push("--dry-run")
    database = rhyme.main / ".git" / "tenure" / "tenure.db"
    until(partial(_has_receipts, database, 3), "only the slow job is left")
    rhyme.kill_everybody()
    push.communicate(timeout=60)
    assert push.returncode == -signal.SIGKILL
    _is_the_same(rhyme.state(), before)
    rhyme.held.unlink()
    _is_let_through(rhyme.push("--dry-run"))
    _is_the_same(rhyme.state(), before)
    books = rhyme.books()
    assert [row["outcome"] for row in books.attempts] == ["cancelled", "passed"]
    assert books.receipts_of(books.attempts[1]["run"]) == ["slow"]


def _has_receipts(database: Path, number: int) -> bool:
    return database.exists() and len(check(str(database), quiet=False).receipts) >= number


def _is_let_through(push: "subprocess.Popen[str]") -> None:
    out, _ = push.communicate(timeout=60)
    assert push.returncode == 0, out


def _is_the_same(after: State, before: State) -> None:
    assert sorted(after.keys() ^ before.keys()) == [], "files came or went"
    assert [path for path in before if after[path] != before[path]] == [], "files were touched"
