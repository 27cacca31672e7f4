"""How a job ends: by itself, cancelled, out of time, or stopped."""

import os
import select
import selectors
import signal
import subprocess
import sys
import time

import msgspec
import pytest

from tests.gate.jobs.floor import LONG, SHORT, Floor, is_alive
from tests.waiting import until

PYTHON = sys.executable

#: Counts the INTs it gets and takes its time over the first.
COUNTING = """\
import signal, sys, select
count = 0
def on_int(*_):
    global count
    count += 1
    print("INT", count, flush=True)
signal.signal(signal.SIGINT, on_int)
print("ready", flush=True)
while not count:
    select.select([], [], [], 0.02)
for _ in range(20):
    select.select([], [], [], 0.02)
print("cleaned up after", count, flush=True)
"""


def state_of(pid):
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0]


@pytest.mark.parametrize(
    ("command", "outcome", "code", "signum"),
    [
        ("exit 0", "passed", 0, None),
        ("exit 1", "failed", 1, None),
        ("exit 255", "failed", 255, None),
        ("kill -KILL $$", "killed", None, 9),
        ("kill -INT $$", "killed", None, 2),
        ("ulimit -c 0; kill -SEGV $$", "killed", None, 11),
    ],
)
def test_a_job_that_ends_by_itself_ended_as_it_did(floor, command, outcome, code, signum):
    result = floor.run(command)
    assert (result.outcome, result.code, result.signal) == (outcome, code, signum)
    assert (result.sentence, result.survivors) == ("", ())
    assert result.started <= result.ended


def test_a_result_is_given_again_at_every_later_tick(floor):
    job = floor.running("exit 7")
    result = floor.finish(job)
    assert job.tick(time.monotonic()) is result
    job.cancel(time.monotonic())
    assert job.tick(time.monotonic()) is result
    assert result.outcome == "failed"


def test_nobody_is_left_unreaped(floor):
    job = floor.running("exit 0")
    floor.finish(job)
    with pytest.raises(ChildProcessError):
        os.waitpid(job.pid, os.WNOHANG)


def test_a_cancelled_job_gets_one_int_and_its_time(floor):
    job = floor.running([PYTHON, "-c", COUNTING], graces=LONG)
    floor.await_output(b"ready")
    job.cancel(time.monotonic())
    job.cancel(time.monotonic())
    floor.await_output(b"INT 1")
    job.cancel(time.monotonic())
    result = floor.finish(job)
    assert floor.output() == b"ready\nINT 1\ncleaned up after 1\n"
    assert (result.outcome, result.code) == ("cancelled", 0)


def test_a_job_that_exits_with_0_on_int_is_cancelled_never_passed(floor):
    job = floor.running("trap 'exit 0' INT; echo ready; while :; do sleep 0.02; done", graces=LONG)
    floor.await_output(b"ready")
    job.cancel(time.monotonic())
    result = floor.finish(job)
    assert (result.outcome, result.code, result.signal) == ("cancelled", 0, None)


def test_int_reaches_the_whole_group(floor):
    job = floor.running(
        "(trap 'echo inner; exit' INT; echo ready; while :; do sleep 0.02; done); :"
    )
    floor.await_output(b"ready")
    job.cancel(time.monotonic())
    floor.finish(job)
    assert b"inner" in floor.output()


def test_a_job_that_ignores_int_is_ended_by_term(floor):
    job = floor.running("trap '' INT; echo ready; while :; do sleep 0.02; done")
    floor.await_output(b"ready")
    job.cancel(time.monotonic())
    result = floor.finish(job)
    assert (result.outcome, result.signal) == ("cancelled", signal.SIGTERM)


def test_a_job_that_ignores_int_and_term_is_killed(floor):
    job = floor.running("trap '' INT TERM; echo ready; while :; do sleep 0.02; done")
    floor.await_output(b"ready")
    job.cancel(time.monotonic())
    result = floor.finish(job)
    assert (result.outcome, result.signal) == ("cancelled", signal.SIGKILL)
    assert result.survivors == ()


def test_a_job_that_was_over_before_the_cancel_is_not_cancelled(floor):
    job = floor.running("exit 0")
    until(lambda: not is_alive(job.pid), "the end of the job")
    job.cancel(time.monotonic())
    assert floor.finish(job).outcome == "passed"


def test_a_job_out_of_time_is_timed_out_whatever_it_exits_with(floor):
    result = floor.run(
        "trap 'exit 0' INT; while :; do sleep 0.02; done",
        timeout=0.3,
        graces=msgspec.structs.replace(SHORT, interrupt=60.0),
    )
    assert (result.outcome, result.code) == ("timed_out", 0)
    assert result.sentence == "it took longer than 0.3 s"


def test_a_job_out_of_time_that_ignores_everything_is_killed(floor):
    result = floor.run("trap '' INT TERM; while :; do sleep 0.02; done", timeout=0.2)
    assert (result.outcome, result.signal) == ("timed_out", signal.SIGKILL)


def test_a_job_out_of_time_stays_timed_out_when_cancelled_as_well(floor):
    job = floor.running([PYTHON, "-c", COUNTING], graces=LONG, timeout=999.0)
    floor.await_output(b"ready")
    now = job.started
    for _ in range(499):
        now += LONG.awake_step
        job.tick(now)
    assert floor.output() == b"ready\n"
    now += LONG.awake_step
    job.tick(now)
    floor.await_output(b"INT 1")
    job.cancel(now)
    result = floor.finish(job)
    assert result.outcome == "timed_out"
    assert b"cleaned up after 1" in floor.output()


def test_a_timeout_says_who_was_stopped_meanwhile(floor):
    result = floor.run("sh -c 'kill -STOP $$; :' & wait", timeout=0.5)
    assert result.outcome == "timed_out"
    assert "while stopped: " in result.sentence
    assert "(sh -c kill -STOP $$; :)" in result.sentence


def test_a_job_that_stops_itself_is_killed_and_says_so(floor):
    result = floor.run("echo before; kill -STOP $$; echo after")
    assert (result.outcome, result.signal) == ("killed", signal.SIGSTOP)
    assert result.sentence == "it stopped on SIGSTOP and was not continued"
    assert floor.output().startswith(b"before\n")


@pytest.mark.parametrize("name", ["TTOU", "TTIN", "TSTP"])
def test_no_terminal_stops_a_job(floor, name):
    """A session of its own has no terminal, and its signals stop nobody in an orphaned group."""
    result = floor.run(f"kill -{name} $$; echo after")
    assert (result.outcome, floor.output()) == ("passed", b"after\n")


def test_a_job_that_stops_itself_and_exits_with_0_once_continued_has_not_passed(floor):
    result = floor.run("trap 'exit 0' TERM; kill -STOP $$; while :; do sleep 0.02; done")
    assert (result.outcome, result.code, result.signal) == ("killed", 0, signal.SIGSTOP)


def test_a_job_that_is_continued_in_time_goes_on(floor):
    job = floor.running("kill -STOP $$; echo after", graces=LONG)
    until(lambda: state_of(job.pid) == b"T", "the stop")
    assert job.tick(time.monotonic()) is None
    os.kill(job.pid, signal.SIGCONT)
    assert floor.finish(job).outcome == "passed"
    assert floor.output() == b"after\n"


def test_stops_that_each_end_in_time_do_not_add_up(floor):
    graces = msgspec.structs.replace(LONG, stopped=5.0)
    job = floor.running("exec sleep 600", graces=graces)
    now = job.started
    for _ in range(5):
        os.kill(job.pid, signal.SIGSTOP)
        until(lambda: state_of(job.pid) == b"T", "the stop")
        for _ in range(4):
            now += 1.0
            assert job.tick(now) is None
        os.kill(job.pid, signal.SIGCONT)
        until(lambda: state_of(job.pid) != b"T", "the continuation")
        now += 1.0
        assert job.tick(now) is None
    assert is_alive(job.pid)
    os.kill(job.pid, signal.SIGKILL)
    assert floor.finish(job).signal == signal.SIGKILL


def test_a_stopped_job_is_cancelled_like_any_other(floor):
    job = floor.running("trap 'exit 5' INT; echo ready; kill -STOP $$; sleep 600", graces=LONG)
    until(lambda: floor.output() and state_of(job.pid) == b"T", "the stop")
    job.cancel(time.monotonic())
    result = floor.finish(job)
    assert (result.outcome, result.code) == ("cancelled", 5)


def test_an_hour_in_which_nobody_ticked_ends_nothing(floor):
    """A run that was stopped together with its jobs finds them as it left them."""
    graces = msgspec.structs.replace(LONG, stopped=10.0, awake_step=2.0)
    job = floor.running("exec sleep 600", timeout=60.0, graces=graces)
    os.kill(job.pid, signal.SIGSTOP)
    until(lambda: state_of(job.pid) == b"T", "the stop")
    now = job.started
    for _ in range(4):
        now += 3600.0
        assert job.tick(now) is None
    assert job.deadline(now) <= now + graces.check_every
    assert state_of(job.pid) == b"T"
    os.kill(job.pid, signal.SIGCONT)
    now += 3600.0
    assert job.tick(now) is None
    job.cancel(now)
    now += 3600.0
    job.tick(now)
    assert floor.finish(job).signal == signal.SIGINT


def test_a_cancelled_job_keeps_its_grace_over_a_stop_of_the_whole_run(floor):
    job = floor.running("trap '' INT; echo ready; exec sleep 600", graces=LONG)
    floor.await_output(b"ready")
    now = job.started
    job.cancel(now)
    for _ in range(10):
        now += 3600.0
        assert job.tick(now) is None
    assert is_alive(job.pid)
    os.kill(job.pid, signal.SIGKILL)
    assert floor.finish(job).outcome == "cancelled"


RUNNER = """\
import sys, time, pathlib
from tests.gate.jobs.floor import Floor, SHORT
import msgspec
floor = Floor(pathlib.Path(sys.argv[1]), sys.argv[2])
graces = msgspec.structs.replace(SHORT, stopped=1.5)
end = floor.place / "end"
job = floor.running(
    f"echo $$; while ! test -e {end}; do sleep 0.02; done; echo over", timeout=30.0, graces=graces
)
result = floor.finish(job)
print(result.outcome, result.signal, result.sentence)
"""


def test_a_run_stopped_as_a_whole_and_continued_passes(floor, tmp_path):
    runner = subprocess.Popen(
        [PYTHON, "-c", RUNNER, str(tmp_path), floor.run_id], stdout=subprocess.PIPE, text=True
    )
    try:
        floor.await_output(b"\n")
        job = int(floor.output().split()[0])
        for _ in range(2):
            runner.send_signal(signal.SIGSTOP)
            os.killpg(job, signal.SIGSTOP)
            until(lambda: state_of(runner.pid) == b"T", "the stop")
            select.select([], [], [], 2.0)  # longer than the job alone may be stopped
            runner.send_signal(signal.SIGCONT)
            os.killpg(job, signal.SIGCONT)
        (tmp_path / "end").touch()
        output, _ = runner.communicate(timeout=60)
    finally:
        runner.kill()
        runner.wait()
    assert output == "passed None \n"


def test_a_status_that_something_else_took_is_no_pass(floor):
    job = floor.running("exit 0")
    os.waitpid(job.pid, 0)
    result = floor.finish(job)
    assert (result.outcome, result.code, result.signal) == ("failed", None, None)
    assert "not known" in result.sentence


def test_a_job_whose_log_was_removed_has_a_result(floor):
    result = floor.run(f"rm {floor.place}/test.log; echo nowhere")
    assert (result.outcome, result.output_size) == ("passed", 0)


def test_one_loop_runs_many_jobs(floor: Floor):
    jobs = [floor.running(f"exit {n}", job=f"job{n}") for n in range(20)]
    codes = {}
    with selectors.DefaultSelector() as selector:
        for job in jobs:
            selector.register(job, selectors.EVENT_READ)
        left = set(jobs)
        while left:
            now = time.monotonic()
            selector.select(min(job.deadline(now) for job in left) - now)
            for job in list(left):
                result = job.tick(time.monotonic())
                if result is not None:
                    selector.unregister(job)
                    left.discard(job)
                    codes[jobs.index(job)] = result.code
    assert codes == {n: n for n in range(20)}
