"""The tutorials are typed in, line by line, and print what they say they print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorial").glob("*.md"))

_FENCE = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_AFTER = "---8<---"


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_it_says(tutorial, home):
    place, told = home, _FENCE.findall(tutorial.read_text(encoding="utf-8"))
    assert len(told) > 8
    for language, file, content in told:
        if file:
            (place / file).write_text(content, encoding="utf-8")
        elif language == "console":
            place = _type(content, place, home)


def _type(block: str, place: Path, home: Path) -> Path:
    """Type the commands of one block; where the terminal is afterwards."""
    typed: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            typed.append((line[2:], []))
        else:
            typed[-1][1].append(line)
    # An answer's exit status has to be there for the next line to print.
    ended = f"__code=$?; echo; echo '{_AFTER}'; (exit $__code)"
    script = "\n".join([*(f"{command}\n{ended}" for command, _ in typed), "pwd"])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=place,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
    )
    *outputs, last = done.stdout.split(f"\n{_AFTER}\n")
    for (command, expected), output in zip(typed, outputs, strict=True):
        found = output.replace(str(home), "/home/ada").splitlines()
        assert _plain(found) == _plain(expected), f"$ {command}\n{output}"
    return Path(last.strip())


def _plain(lines: list[str]) -> list[str]:
    """What is the same every time. Jobs that run side by side may tell it in any order."""
    without_owners = (re.sub(r"\S+:\d+#[0-9a-f]{8}/[0-9a-f]{8}", "OWNER", line) for line in lines)
    without_ids = (
        re.sub(r"\b[0-9a-f]{12,}\b", lambda found: f"ID{len(found[0])}", line)
        for line in without_owners
    )
    plain = (re.sub(r"\b\d+(\.\d+)? (s|ms|min)\b", "TIME", line) for line in without_ids)
    return sorted(line.rstrip() for line in plain if line.strip())
