"""The line that runs a job again does what the job did."""

import os
import shutil
import subprocess
import sys

import pytest

from tenure.gate.jobs.reproduce import reproduce
from tenure.gate.jobs.spawn import shell_command


def test_the_line_reads_as_one_would_write_it():
    assert (
        reproduce(["pytest", "-q", "a b"], cwd="/src/repo", changes={"TZ": "UTC", "A": "x y"})
        == "(cd /src/repo && TZ=UTC A='x y' pytest -q 'a b')"
    )


def test_a_shell_job_is_run_by_the_same_shell():
    line = reproduce(shell_command("a | b > $C"), cwd="/src")
    assert line == "(cd /src && /bin/sh -c 'a | b > $C')"


def test_a_variable_can_be_taken_away():
    line = reproduce(["tool"], cwd="/src", changes={"TERM": None, "A": "1"})
    assert line == "(cd /src && env -u TERM A=1 tool)"


def test_it_is_one_printable_line():
    line = reproduce(["a\nb\x1b[31m\udcff'\\"], cwd="/s", changes={"A": "\t"})
    assert line.isprintable()
    assert line == r"(cd /s && A=$'\011' $'a\012b\033[31m\377\'\\')"


WORDS = ["", "plain", "a b", "$HOME `x` !", "'", '"', "\\", "*", "~", "-n", "#", "ünï🙂", "a\nb\n"]
UNPRINTABLE = ["\x01\x1b\x7f", "\udcff\udc80", "'\\\n\n", "\u202e", "\x011"]

SHOW = (
    "import os, sys; os.write(1, b'\\0'.join([*map(os.fsencode, sys.argv[1:]),"
    " os.fsencode(os.getcwd()), os.environb.get(b'CHANGED', b'none'),"
    " os.environb.get(b'odd-name', b'none'), os.environb.get(b'TERM', b'none')]))"
)


@pytest.mark.parametrize(
    ("shell", "words"),
    [("/bin/sh", [word for word in WORDS if word.isprintable()]), ("bash", WORDS + UNPRINTABLE)],
    ids=["sh", "bash"],
)
@pytest.mark.parametrize("odd", [False, True])
def test_a_shell_runs_exactly_the_command(tmp_path, shell, words, odd):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    changes = {"CHANGED": words[3]} | ({"odd-name": "x y", "TERM": None} if odd else {})
    line = reproduce([sys.executable, "-c", SHOW, *words], cwd=str(folder), changes=changes)
    done = subprocess.run(
        [shell, "-c", os.fsencode(line)], capture_output=True, env={**os.environ, "TERM": "dumb"}
    )
    assert done.stderr == b""
    assert done.stdout.split(b"\0") == [
        *map(os.fsencode, words),
        os.fsencode(folder),
        os.fsencode(words[3]),
        b"x y" if odd else b"none",
        b"none" if odd else b"dumb",
    ]
