"""What outlives a job is found, ended and named, and never hangs its end."""

import os
import signal
import sys
import time

import msgspec
import pytest

from tenure.gate.jobs import process, sweep
from tests.gate.jobs.floor import LONG, SHORT, assert_named, is_alive
from tests.waiting import until

PYTHON = sys.executable

#: Leaves its session, its parents, its directory and every descriptor, as daemons do.
DAEMON = """\
import os, signal, sys
if os.fork():
    os.wait()
    os._exit(0)
os.setsid()
pid = os.fork()
if pid:
    open(sys.argv[1], "w").write(str(pid))
    os._exit(0)
os.chdir("/")
os.closerange(0, 256)
for name in sys.argv[2:]:
    signal.signal(getattr(signal, name), signal.SIG_IGN)
while True:
    signal.pause()
"""


def daemon_pid(floor):
    return int((floor.place / "pid").read_text())


def test_a_grandchild_that_holds_the_output_does_not_hold_the_end(floor):
    result = floor.run("sleep 600 & echo started; exit 0")
    assert (result.outcome, result.code) == ("passed", 0)
    assert_named(result, "sleep 600")
    assert floor.output() == b"started\n"


def test_a_process_in_a_group_of_its_own_is_found_by_session(floor):
    """Without any environment, so that no marker gives it away."""
    code = "import subprocess; subprocess.Popen(['sleep', '600'], process_group=0, env={})"
    result = floor.run([PYTHON, "-c", f"{code}; raise SystemExit(3)"])
    assert (result.outcome, result.code) == ("failed", 3)
    assert_named(result, "sleep 600")


def test_a_process_in_a_session_of_its_own_is_found_by_marker(floor):
    result = floor.run("setsid -f sleep 601; exit 0")
    assert_named(result, "sleep 601")


def test_a_daemon_is_found_by_marker(floor):
    result = floor.run([PYTHON, "-c", DAEMON, str(floor.place / "pid")])
    assert result.outcome == "passed"
    assert [one.pid for one in result.survivors] == [daemon_pid(floor)]
    assert not is_alive(daemon_pid(floor))


def test_a_daemon_that_ignores_term_is_killed(floor):
    result = floor.run([PYTHON, "-c", DAEMON, str(floor.place / "pid"), "SIGTERM", "SIGINT"])
    assert [(one.pid, one.gone) for one in result.survivors] == [(daemon_pid(floor), True)]
    assert not is_alive(daemon_pid(floor))


def test_a_survivor_may_clean_up_on_term(floor):
    graces = msgspec.structs.replace(SHORT, survivors=60.0)
    result = floor.run(
        "(trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.02; done) &"
        f" while ! grep -q ready {floor.place}/test.log; do :; done",
        graces=graces,
    )
    assert len(result.survivors) >= 1
    assert floor.output().startswith(b"ready\n")
    assert floor.output().endswith(b"cleaned\n")


def test_a_stopped_survivor_is_ended(floor):
    result = floor.run(
        f"sh -c 'echo $$; kill -STOP $$; :' & while ! test -s {floor.place}/test.log; do :; done"
    )
    stopped = int(floor.output())
    assert [one.pid for one in result.survivors] == [stopped]
    assert not is_alive(stopped)


def test_a_stopped_survivor_may_clean_up_too(floor):
    graces = msgspec.structs.replace(SHORT, survivors=60.0)
    result = floor.run(
        "sh -c 'trap \"echo cleaned; exit\" TERM; echo ready; kill -STOP $$; :' &"
        f" while ! test -s {floor.place}/test.log; do :; done",
        graces=graces,
    )
    assert len(result.survivors) == 1
    assert floor.output() == b"ready\ncleaned\n"


def test_a_survivor_gets_one_term(floor):
    """A second one would interrupt its cleaning up, like a second INT."""
    slow = (
        "import select, signal\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('TERM', flush=True))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
        "for _ in range(50): select.select([], [], [], 0.02)\n"
        "print('cleaned', flush=True)\n"
    )
    (floor.place / "slow.py").write_text(slow)
    result = floor.run(
        f"{PYTHON} slow.py & while ! test -s {floor.place}/test.log; do :; done",
        graces=msgspec.structs.replace(SHORT, survivors=60.0),
    )
    assert_named(result, "slow.py")
    assert floor.output() == b"ready\nTERM\ncleaned\n"


def test_the_newest_survivor_is_told_first(floor, monkeypatch):
    """It is the one that may hand over and be gone in a moment."""
    told = []
    send = process.send

    def telling(survivor, *signals):
        told.append(survivor.start_ticks)
        send(survivor, *signals)

    monkeypatch.setattr(sweep, "send", telling)
    floor.run("sleep 600 & sleep 0.1; sleep 601 & sleep 0.1; sleep 602 & exit 0")
    assert len(told) >= 3
    assert told[:3] == sorted(told[:3], reverse=True)


def test_a_process_that_is_only_a_moment_late_is_not_named(floor):
    job = floor.running(
        f"(while ! test -e {floor.place}/end; do sleep 0.02; done; echo late) & exit 0", graces=LONG
    )
    until(lambda: not is_alive(job.pid), "the end of the leader")
    assert job.tick(time.monotonic()) is None
    (floor.place / "end").touch()
    result = floor.finish(job)
    assert (result.outcome, result.survivors) == ("passed", ())
    assert floor.output() == b"late\n"


def test_a_cancel_lets_nobody_linger(floor):
    graces = msgspec.structs.replace(LONG, survivors=0.3)
    job = floor.running("sleep 600 & exit 0", graces=graces)
    until(lambda: not is_alive(job.pid), "the end of the leader")
    assert job.tick(time.monotonic()) is None
    job.cancel(time.monotonic())
    result = floor.finish(job)
    assert (result.outcome, len(result.survivors)) == ("passed", 1)


def test_what_a_survivor_starts_is_ended_too(floor):
    """Each answers TERM with a successor, as a supervised daemon does."""
    respawn = "trap 'setsid -f sh -c \"exec sleep 602\"; exit' TERM; while :; do sleep 0.02; done"
    result = floor.run(["/bin/sh", "-c", 'setsid -f sh -c "$1"; sleep 0.1', "sh", respawn])
    assert any(one.command.endswith("sleep 602") for one in result.survivors)
    assert not any(is_alive(one.pid) for one in result.survivors)


def test_a_timed_out_job_leaves_nobody(floor):
    result = floor.run(
        f"{PYTHON} -c '{DAEMON}' {floor.place}/pid SIGTERM; sleep 600 & sleep 600", timeout=1.0
    )
    assert result.outcome == "timed_out"
    until((floor.place / "pid").exists, "the pid")
    assert not is_alive(daemon_pid(floor))


def test_a_siblings_daemon_is_left_alone(floor):
    wait = f"while ! test -e {floor.place}/end; do sleep 0.02; done"
    ours = floor.running(f"setsid -f sleep 605; {wait}", job="test")
    theirs = floor.running("setsid -f sleep 603; echo ready; exec sleep 604", job="tester")
    floor.await_output(b"ready", job="tester")
    (floor.place / "end").touch()
    assert_named(floor.finish(ours), "sleep 605")
    assert theirs.tick(time.monotonic()) is None
    os.kill(theirs.pid, signal.SIGKILL)
    assert_named(floor.finish(theirs), "sleep 603")


def test_a_job_of_an_inner_run_is_the_outer_jobs_too(floor):
    """An inner run gives its own jobs an extended marker, so the outer job still finds them."""
    inner = f"{floor.environment('test')['TENURE_JOB']}:inner-run/lint"
    result = floor.run(f"TENURE_JOB={inner} setsid -f sleep 606")
    assert_named(result, "sleep 606")


def test_a_job_name_with_the_separator_is_found(floor):
    result = floor.run("setsid -f sleep 607", job="unit:fast")
    assert_named(result, "sleep 607")


def test_who_cannot_be_killed_is_named_and_given_up_on(floor, monkeypatch):
    monkeypatch.setattr(sweep, "send", lambda *_: None)
    result = floor.run("sleep 600 & exit 0", graces=msgspec.structs.replace(SHORT, unkillable=0.3))
    (survivor,) = result.survivors
    assert (result.outcome, survivor.gone) == ("passed", False)
    assert "sleep 600" in survivor.command
    os.kill(survivor.pid, signal.SIGKILL)


def test_a_leader_that_cannot_be_killed_has_a_result(floor, monkeypatch):
    monkeypatch.setattr(sweep, "send", lambda *_: None)
    monkeypatch.setattr(os, "killpg", lambda *_: None)
    job = floor.running("exec sleep 600", graces=msgspec.structs.replace(SHORT, unkillable=0.3))
    job.cancel(time.monotonic())
    result = floor.finish(job)
    assert (result.outcome, result.code, result.signal) == ("cancelled", None, None)
    assert result.sentence == f"process {job.pid} could not be killed."
    assert [(one.pid, one.gone) for one in result.survivors] == [(job.pid, False)]
    os.kill(job.pid, signal.SIGKILL)
    os.waitpid(job.pid, 0)


def test_the_wait_for_survivors_does_not_spin(floor):
    graces = msgspec.structs.replace(SHORT, linger=1.0)
    floor.run("sleep 600 & exit 0", graces=graces)
    assert floor.turns < 40


def test_survivors_wake_the_loop_when_they_end(floor, monkeypatch):
    monkeypatch.setattr(sweep, "_PAUSE", 600.0)
    monkeypatch.setattr(sweep, "_KILL_PAUSE", 600.0)
    graces = msgspec.structs.replace(LONG, linger=0.0, survivors=600.0, check_every=600.0)
    job = floor.running("sleep 600 & exit 0", graces=graces)
    until(lambda: not is_alive(job.pid), "the end of the leader")
    assert job.tick(time.monotonic()) is None
    assert_named(floor.finish(job), "sleep 600")


def test_a_strange_command_line_is_shown_tamely(floor):
    result = floor.run(
        [
            "/bin/sh",
            "-c",
            'bash -c "exec -a \\"\\$1\\" sleep 600" sh "$1" & exit 0',
            "sh",
            "\x1b[31m" + "é" * 300 + "\udcff",
        ]
    )
    (survivor,) = result.survivors
    assert len(survivor.command) <= 200
    assert survivor.command.startswith("�[31mé")


@pytest.mark.parametrize("count", [150])
def test_many_survivors_are_all_ended(floor, count):
    result = floor.run(f"for n in $(seq {count}); do sleep 600 & done; exit 0")
    assert len(result.survivors) == count
    assert not any(is_alive(one.pid) for one in result.survivors)


def test_a_survivor_in_the_middle_of_an_exec_is_asked_again(floor, monkeypatch):
    content = process._content
    asked: list[str] = []

    def early(path, size):
        if path.endswith(("/environ", "/cmdline")) and len(asked) < 2000:
            asked.append(path)
            return b""
        return content(path, size)

    job = floor.running("setsid -f sleep 600; exit 0")
    until(lambda: not is_alive(job.pid), "the end of the leader")
    monkeypatch.setattr(process, "_content", early)
    assert job.tick(time.monotonic()) is None
    assert asked
    asked.extend([""] * 2000)
    assert_named(floor.finish(job), "sleep 600")
