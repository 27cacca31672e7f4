"""The public types, judged by mypy from a user's side of the fence.

`api.py`, over the kernel, and `host.py`, over the runtime, must be accepted as they stand. Each snippet below must be refused, at the line that
says so and with the error it names: a type that accepts everything protects nobody.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

API = Path(__file__).with_name("api.py")
HOST = Path(__file__).with_name("host.py")

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


def test_a_users_code_type_checks(cache):
    assert mypy(cache, str(API), str(HOST)) == ""


@pytest.mark.parametrize("users", [API, HOST], ids=lambda path: path.stem)
def test_another_type_checker_agrees(tmp_path, users):
    place = tmp_path / users.name
    place.write_bytes(users.read_bytes())
    done = subprocess.run(
        [PYRIGHT, "--pythonpath", sys.executable, place],
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
