"""The public types, judged by mypy from a user's side of the fence.

What users write must be accepted as it stands, by mypy and by pyright. Each snippet below must be
refused, at the line that says so and with the error it names: a type that accepts everything
protects nobody.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
README = (HERE.parent.parent / "README.md").read_text(encoding="utf-8")

#: What users write: over the kernel, over the runtime, and as the README shows it.
USERS = {
    "api": (HERE / "api.py").read_text(encoding="utf-8"),
    "host": (HERE / "host.py").read_text(encoding="utf-8"),
    "readme": re.findall(r"^```python refund\.py\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[0],
}

PYRIGHT = Path(sys.executable).with_name("pyright")

REFUSED = """\
from tenure import Agent, Runtime, Session
from tenure import Runtme  # attr-defined
from tenure.kernel import ledger
from tenure.kernel.attempt import AttemptRecord, BindRequest
from tenure.kernel.clock import Instant
from tenure.kernel.fence import Fence
from tenure.kernel.identity import Token
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.store import Database, Transaction
from tenure.kernel.takeover import Licence

Runtime(store="memory://")  # call-arg
Agent("a", instructions="b", model="gpt")  # arg-type


async def served(chat: Session) -> None:
    await chat.turn("hello", on_busy="maybe")  # arg-type
    await chat.say("hello")  # call-arg


Fence(record="r", generation=1, token="secret")  # arg-type
Fence("r", 1, Token(n=1, secret="s"))  # call-arg
Licence(ground="tired", evidence="none")  # arg-type
Instant(boot="b", boot_ns=1, awake_ns=1)  # call-arg


def late(record: AttemptRecord) -> None:
    record.outcome = "passed"  # misc


def outcomes(tx: Transaction, fence: Fence, now: Instant) -> None:
    ledger.settle(tx, fence, "maybe", now)  # arg-type
    ledger.renew(tx, fence, 12.5)  # arg-type


def outside(database: Database, fence: Fence, now: Instant) -> None:
    ledger.renew(database, fence, now)  # arg-type
    database.attempts  # attr-defined


class Halfway:
    def close(self) -> None: ...


database: Database = Halfway()  # assignment
"""


def mypy(cache: Path, *arguments: str) -> str:
    """What mypy says of files outside the project, with no configuration but `--strict`."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            f"--cache-dir={cache}",
            "--no-error-summary",
            *arguments,
        ],
        cwd=cache,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


@pytest.fixture(params=USERS)
def users(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A user's program, outside the project."""
    place = tmp_path / f"{request.param}.py"
    place.write_text(USERS[request.param], encoding="utf-8")
    return place


def test_a_users_code_type_checks(cache: Path, users: Path):
    assert mypy(cache, str(users)) == ""


def test_another_type_checker_agrees(tmp_path: Path, users: Path):
    done = subprocess.run(
        [PYRIGHT, "--pythonpath", sys.executable, users],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_mistakes_are_refused_where_they_are_made(cache):
    wrong = cache / "wrong.py"
    wrong.write_text(REFUSED, encoding="utf-8")
    said = {
        (int(line), code)
        for line, code in re.findall(
            r"wrong\.py:(\d+): error: .*\[([\w-]+)\]$", mypy(cache, str(wrong)), re.M
        )
    }
    expected = {
        (number, match[1])
        for number, line in enumerate(REFUSED.splitlines(), start=1)
        if (match := re.search(r"  # ([\w-]+)$", line))
    }
    assert said == expected
