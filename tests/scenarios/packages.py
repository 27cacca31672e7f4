"""Packages as people have them: sources, tests, and a policy that runs both."""

import importlib.metadata
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


#: Runs the package's own examples as a job that tells when it has what: in a log that all jobs of
#: a story write, one after the other. A line `start` or `stop` for each thing, with the pid; and
#: `died` for whoever is found to have begun, not to have ended, and not to be there any more.
WITNESS = """\
import doctest, fcntl, importlib, os, sys, time

story, kinds, module = os.environ["STORY"], sys.argv[1].split("+"), sys.argv[2]
tree = os.path.basename(os.getcwd())


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def tell(what):
    with open(f"{story}/log", "a+") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.seek(0)
        there = {}
        for line in log:
            said, kind, pid, whose = line.split()
            there[kind, pid] = (said, whose)
        for (kind, pid), (said, whose) in there.items():
            if said == "start" and not lives(pid):
                log.write(f"died {kind} {pid} {whose}\\n")
        for kind in kinds:
            log.write(f"{what} {kind} {os.getpid()} {tree}\\n")


tell("start")
while os.path.exists(f"{story}/hold/{tree}-{module}"):
    time.sleep(0.05)
sys.path.insert(0, "src")
found = importlib.import_module(f"sortedcontainers.{module}")
assert found.__file__.startswith(os.getcwd()), found.__file__
failed, tried = doctest.testmod(found)
tell("stop")
sys.exit(0 if tried and not failed else 1)
"""

SHARING = f"""\
[slots]
heavy = 2
[jobs.suite]
stage = "test"
run = "{sys.executable} witness.py heavy sortedlist"
set-env = {{{{ STORY = "{{story}}", PYTHONDONTWRITEBYTECODE = "1" }}}}
slot = "heavy"
[jobs.database]
stage = "test"
run = "{sys.executable} witness.py db sorteddict"
set-env = {{{{ STORY = "{{story}}", PYTHONDONTWRITEBYTECODE = "1" }}}}
holds = ["db"]
[jobs.release]
stage = "test"
run = "{sys.executable} witness.py heavy+db sortedset"
set-env = {{{{ STORY = "{{story}}", PYTHONDONTWRITEBYTECODE = "1" }}}}
slot = "heavy"
holds = ["db"]
"""


def sortedcontainers() -> repos.Files:
    """The sources of a real package, with the examples in them that are its tests."""
    installed = importlib.metadata.distribution("sortedcontainers")
    folder = Path(str(installed.locate_file("sortedcontainers")))
    sources: dict[str | bytes, repos.Content] = {
        f"src/sortedcontainers/{path.name}": path.read_text() for path in folder.glob("*.py")
    }
    return {**sources, "witness.py": WITNESS}
