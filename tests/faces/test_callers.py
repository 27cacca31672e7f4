"""Whoever asks may read, not read, or go away: the exit code is the gate's, nothing is lost.

The gate's answer is looked up afterwards in its records, not in what the caller saw of it.
"""

import fcntl
import json
import os
import pty
import signal
import subprocess

import pytest

from tests.faces.calls import (
    FAIL,
    PASS,
    TENURE,
    ended,
    environment,
    gated,
    job,
    rows,
    start,
    tenure,
)
from tests.waiting import until


def shell(repo, script, **extra):
    """Run a shell script in which `$T` is tenure; its exit code and standard error."""
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=repo,
        env=environment({"T": TENURE, **extra}),
        capture_output=True,
        timeout=90,
    )
    assert b"Traceback" not in done.stderr + done.stdout, done
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def outcomes(repo):
    """How the runs ended, oldest first."""
    return [
        outcome
        for (outcome,) in rows(
            repo, "select body ->> '$.report.outcome' from run order by started_wall_ns"
        )
    ]


ENDS = {"passes": (PASS, 0, "passed"), "fails": (FAIL, 1, "failed")}

CALLS = {
    "closed": "$T done >&-; echo $? >&2",
    "closed, all three": "$T done <&- >&- 2>&-; code=$?; exec 2>&1; exit $code",
    "full": "$T done > /dev/full; echo $? >&2",
    "a pipe nobody reads": "$T done | true; echo ${PIPESTATUS[0]} >&2",
    "a pipe closed after a line": "$T done | head -1 > /dev/null; echo ${PIPESTATUS[0]} >&2",
    "JSON to a closed stream": "$T done --json >&-; echo $? >&2",
    "JSON to a full one": "$T done --json > /dev/full; echo $? >&2",
    "JSON to a pipe nobody reads": "$T done --json | true; echo ${PIPESTATUS[0]} >&2",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("how", CALLS)
def test_a_caller_whose_output_goes_nowhere_gets_the_gates_exit_code(tmp_path, how, end):
    policy, code, outcome = ENDS[end]
    repo = gated(tmp_path / "repo", policy)
    exit_code, _, err = shell(repo, CALLS[how])
    if how == "closed, all three":
        assert exit_code == code
    else:
        assert err == f"{code}\n"
    assert outcomes(repo) == [outcome]
    # the same once a Proof answers, or once more where there is none
    exit_code, _, err = shell(repo, CALLS[how])
    assert (str(exit_code) if how == "closed, all three" else err.strip()) == str(code)


def test_the_store_never_becomes_somebodys_standard_output(tmp_path):
    """With 0, 1 and 2 closed, the next file opened would be one of them."""
    repo = gated(tmp_path / "repo")
    shell(repo, "$T done <&- >&- 2>&-")
    shell(repo, "$T status <&- >&- 2>&-; $T runs >&-; $T proof 2>&-")
    assert rows(repo, "pragma integrity_check") == [("ok",)]
    assert b"met:" not in (repo / ".git" / "tenure" / "tenure.db").read_bytes()


def test_an_error_to_a_closed_stream_is_still_an_exit_code(tmp_path):
    assert shell(tmp_path, "$T done 2>&-; exit $?")[0] == 3
    assert shell(tmp_path, "$T done --bogus 2>/dev/full; exit $?")[0] == 2
    assert shell(tmp_path, "$T --help >&-; exit $?")[0] == 0
    assert shell(tmp_path, "$T --help | true; exit ${PIPESTATUS[0]}")[0] == 0


def test_a_reader_that_comes_late_gets_everything(tmp_path):
    """More than a pipe holds, to somebody who waits for the end before reading."""
    many = "".join(job(f"job-{number}", "false") for number in range(40))
    repo = gated(tmp_path / "repo", many)
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    call = start(repo, "done", "--json", stdout=write_end)
    os.close(write_end)
    until((repo / ".git/tenure/tenure.db").exists, "the store is there")
    until(lambda: _ended(repo), "the run has ended")
    with open(read_end, "rb") as pipe:
        said = pipe.read()
    assert ended(call).code == 1
    assert len(said) > 8192
    assert said.endswith(b"}\n")


def _ended(repo):
    return all(
        run["report"] is not None and run["report"]["outcome"] == "failed"
        for run in json.loads(tenure(repo, "runs", "--json").out)["runs"]
    )


def test_a_non_blocking_pipe_gets_everything_and_stays_non_blocking(tmp_path):
    """The flag belongs to whoever made the pipe; the shell at its other end must not see it change."""
    many = "".join(job(f"job-{number}", "false") for number in range(40))
    repo = gated(tmp_path / "repo", many)
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(write_end, False)
    call = start(repo, "done", "--json", stdout=write_end)
    said = b""
    os.set_blocking(read_end, False)
    while call.poll() is None or b"\n" not in said:
        try:
            said += os.read(read_end, 1000)
        except BlockingIOError:
            continue
    assert not os.get_blocking(write_end)
    os.close(write_end)
    os.close(read_end)
    assert ended(call).code == 1
    assert said.endswith(b"}\n")


def test_a_blocking_pipe_stays_blocking(tmp_path):
    repo = gated(tmp_path / "repo")
    read_end, write_end = os.pipe()
    assert ended(start(repo, "done", stdout=write_end, stderr=write_end)).code == 0
    assert os.get_blocking(write_end)
    os.close(read_end)
    os.close(write_end)


def test_a_terminal_that_is_stopped_stops_nobodys_run(tmp_path):
    """^S, and nobody ever presses ^Q."""
    repo = gated(tmp_path / "repo")
    master, slave = pty.openpty()
    call = start(repo, "done", stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.write(master, b"\x13")
    until((repo / ".git/tenure/tenure.db").exists, "the store is there")
    until(lambda: outcomes(repo) == ["passed"], "the run has ended")
    os.write(master, b"\x11")
    assert ended(call).code == 0
    said = os.read(master, 65536).decode()
    assert "met: " in said
    os.close(master)
    os.close(slave)


def test_a_terminal_that_goes_away_stops_nobodys_run(tmp_path):
    hold = "while [ ! -e out/go ]; do sleep 0.02; done"
    repo = gated(tmp_path / "repo", job("lint", hold))
    (repo / "out").mkdir()
    master, slave = pty.openpty()
    call = start(
        repo,
        "done",
        stdin=slave,
        stdout=slave,
        stderr=slave,
        preexec_fn=_take_terminal,
    )
    os.close(slave)
    seen = b""
    while b"start" not in seen:
        seen += os.read(master, 4096)
    os.close(master)  # hangs up: HUP goes to the call, not to the run
    assert ended(call).code == 128 + signal.SIGHUP
    (repo / "out" / "go").touch()
    until(lambda: outcomes(repo) == ["passed"], "the run has ended")


def _take_terminal():
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_nohup_is_respected(tmp_path):
    hold = "while [ ! -e out/go ]; do sleep 0.02; done"
    repo = gated(tmp_path / "repo", job("lint", hold))
    (repo / "out").mkdir()
    call = start(repo, "done", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    until(lambda: list(repo.glob(".git/tenure/runs/*/lint.out")), "the job runs")
    call.send_signal(signal.SIGHUP)
    (repo / "out" / "go").touch()
    assert ended(call).code == 0
