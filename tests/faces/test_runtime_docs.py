"""The runtime's documents say what is so, and its first example is run and typed as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tenure
from docs.reference.runtime_tables import public_methods
from tenure.faces.host import MEMORY, SQLITE
from tenure.kernel import errors as kernel_errors
from tenure.runtime import errors
from tenure.runtime.levers import Levers
from tenure.runtime.model.event import Event
from tests.faces.calls import TENURE

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "runtime.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")

#: Levers that are not methods of the class of that name.
ELSEWHERE = [
    "Runtime.drive",
    "Runtime.drive_once",
    "Runtime.resume",
    "Runtime.turn_id",
    "Session.park",
    "Session.close",
    "Session.drop",
    "LeaseTimings",
    "Provider.close",
    "TraceSink.flush",
]
LEVERS = [*(f"Runtime.{name}" for name in public_methods(Levers)), *ELSEWHERE]


def levers() -> str:
    """The section about them."""
    return PAGE.split("\n## Levers\n")[1].split("\n## ")[0]


def tree(root: type[Exception]) -> list[type[Exception]]:
    """Every error below one."""
    return [one for kind in root.__subclasses__() for one in (kind, *tree(kind))]


@pytest.mark.parametrize("name", tenure.__all__)
def test_every_public_name_is_in_the_reference(name):
    assert f"\n| `{name}` | " in PAGE


@pytest.mark.parametrize("kind", [tenure.Runtime, tenure.Session], ids=lambda kind: kind.__name__)
def test_every_call_is_in_the_reference(kind):
    section = PAGE.split(f"\n### {kind.__name__}\n")[1].split("\n### ")[0]
    missing = [
        name
        for name in public_methods(kind)
        if not re.search(rf"^\| `(await )?{name}(\(|`)", section, re.MULTILINE)
    ]
    assert missing == []


@pytest.mark.parametrize("kind", tree(errors.RuntimeFault), ids=lambda kind: kind.__name__)
def test_every_error_is_in_the_reference_with_what_to_do(kind):
    (row,) = re.findall(rf"^\| `{kind.__name__}` \| (.+) \|$", PAGE, re.MULTILINE)
    assert all(row.split(" | ")), f"what happened, and the lever: {row}"


def test_every_error_from_below_is_in_the_reference():
    below = {
        kind.__name__
        for kind in tree(kernel_errors.TenureError)
        if kind.__module__ == kernel_errors.__name__
    } - {"Refused"}
    assert {name for name in below if f"\n| `{name}` | " not in PAGE} == set()


@pytest.mark.parametrize("lever", LEVERS)
def test_every_lever_says_what_it_does_not_do(lever):
    (row,) = re.findall(rf"^\| `{re.escape(lever)}` \| (.+) \|$", levers(), re.MULTILINE)
    does, does_not = row.split(" | ")
    assert does
    assert does_not


def test_no_lever_is_documented_that_does_not_exist():
    for owner, name in re.findall(r"^\| `(?:(\w+)\.)?(\w+)` \|", levers(), re.MULTILINE):
        room = {"TraceSink": tenure.JsonlTraceSink}.get(owner) or getattr(tenure, owner or name)
        assert not owner or hasattr(room, name), f"{owner}.{name}"


def test_every_event_and_every_address_is_in_the_reference():
    for kind in Event.__args__:
        assert f"\n| `{kind.__name__}` | `turn`" in PAGE
    assert f"`{MEMORY}`" in PAGE
    assert f"`{SQLITE}agents.db`" in PAGE


def test_shutdown_says_first_that_it_drains_nothing():
    assert (Levers.shutdown.__doc__ or "").startswith("*Drains nothing.*")


# what is shown, runs


def example() -> str:
    """The program in the README."""
    (found,) = re.findall(r"^```python refund\.py\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return found


def test_the_example_of_the_readme_prints_what_it_says(tmp_path):
    (tmp_path / "refund.py").write_text(example(), encoding="utf-8")
    told = README.split("$ python refund.py\n")[1].split("\n```")[0].splitlines()
    first, again = told[:2], told[3:]
    for expected in (first, again, again):
        done = subprocess.run(
            [sys.executable, "refund.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.stdout.splitlines(), done.stderr) == (expected, "")


def test_the_approval_of_the_how_to_prints_what_it_says(tmp_path):
    """Each command as it stands, with the key that the first one printed in place of the page's."""
    page = (ROOT / "docs" / "how-to" / "wait-for-an-approval.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python approval\.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "approval.py").write_text(program, encoding="utf-8")
    typed = page.split("```text\n")[1].split("```")[0].removeprefix("$ ").split("\n$ ")
    commands = {"python": [sys.executable], "tenure": [TENURE]}
    key = ""
    for command, _, expected in (one.partition("\n") for one in typed):
        first, *words = command.split()
        done = subprocess.run(
            [
                *commands[first],
                *(key if "." in word and len(word) == 65 else word for word in words),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert _plain(done.stdout) == _plain(expected), command + done.stderr
        key = key or done.stdout.split()[-1]


def _plain(told):
    return [re.sub(r"[0-9a-f]{32}", "ID", line) for line in told.strip().splitlines()]


def test_the_session_of_the_demo_holds(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "demo.session", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) < 100
    assert "All of it held" in done.stdout
    shown = README.split("killed inside two tools:\n\n```text\n")[1].split("```")[0]
    for line in shown.splitlines()[2:]:
        assert re.search(
            re.escape(line.split()[0]) + r".*" + re.escape(line.split()[-1]), done.stdout
        )
