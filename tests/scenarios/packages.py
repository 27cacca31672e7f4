"""A package as people have them: sources, tests, a policy that runs both, and a bare origin."""

import sys
from pathlib import Path

from tests.gate import repos

FILES: repos.Files = {
    "pyproject.toml": '[project]\nname = "rhyme"\nversion = "1.0"\n',
    "README.md": "# rhyme\n\nTells whether two words rhyme.\n",
    ".gitignore": "__pycache__/\nbuild/\n",
    "src/rhyme/__init__.py": 'from rhyme.ending import rhymes\n\n__all__ = ["rhymes"]\n',
    "src/rhyme/ending.py": (
        "def rhymes(one: str, other: str) -> bool:\n"
        '    """Whether two words end alike."""\n'
        "    return one[-2:].lower() == other[-2:].lower()\n"
    ),
    "tests/test_ending.py": (
        "import unittest\n\nfrom rhyme import rhymes\n\n\n"
        "class Endings(unittest.TestCase):\n"
        "    def test_words_that_rhyme(self):\n"
        '        self.assertTrue(rhymes("lease", "peASE"))\n\n'
        "    def test_words_that_do_not(self):\n"
        '        self.assertFalse(rhymes("lease", "clock"))\n'
    ),
    # What a test suite of a tool around git does: repositories of its own, in temporary places.
    "tests/own_repository.sh": (
        'set -e\nwork=$(mktemp -d)\ntrap \'rm -rf "$work"\' EXIT\ncd "$work"\n'
        "git init --quiet .\necho one > file\ngit add file\n"
        'git -c user.name=Ada -c user.email=ada@example.org commit --quiet --message "One"\n'
        'git config core.bare false\ngit stash list\ntest "$(git rev-list --count HEAD)" = 1\n'
        'test "$(git rev-parse --show-toplevel)" = "$(pwd -P)"\n'
    ),
}

POLICY = """\
trunk = "main"
[gate]
lease_ttl = "3600s"
renew_interval = "1s"
[jobs.compile]
stage = "fix"
run = '{python} -m tabnanny src tests'
[jobs.repository]
stage = "check"
run = "sh tests/own_repository.sh"
[jobs.unit]
stage = "test"
run = '{python} -m unittest discover -q -s tests'
set-env = {{ PYTHONPATH = "src", PYTHONDONTWRITEBYTECODE = "1" }}
[jobs.slow]
stage = "test"
shell = 'while [ -e {hold} ]; do sleep 0.05; done'
"""


def package(root: Path, hold: Path) -> tuple[Path, Path]:
    """The main checkout and a linked worktree with work on a branch, pushed nowhere yet.

    Its `slow` job runs as long as there is a file `hold`. There is a stash, a packed ref, an
    untracked file in the main checkout and a hook that runs before every push.
    """
    policy = POLICY.format(python=sys.executable, hold=hold)
    origin = repos.make_repo(root / "origin.git", options=("--bare",))
    main = repos.make_repo(root / "main", {**FILES, "tenure.toml": policy})
    repos.git(main, "remote", "add", "origin", str(origin))
    repos.git(main, "push", "-q", "-u", "origin", "main")
    repos.git(main, "remote", "set-head", "origin", "main")
    repos.git(main, "tag", "v1")
    repos.git(main, "pack-refs", "--all")
    repos.write(main, {"README.md": "# rhyme\n\nUnder way.\n"})
    repos.git(main, "stash", "push", "-q")
    repos.write(main, {"notes.txt": "not committed\n"})
    side = repos.worktree(main, root / "side", "feature")
    repos.commit(side, {"README.md": "# rhyme\n\nTells whether words rhyme.\n"}, "Work")
    return main, side


def hook(main: Path, name: str, text: str) -> None:
    """Install a hook."""
    path = main / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
