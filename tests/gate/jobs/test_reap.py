"""What is left of a whole run, found by its marker by somebody who never saw it start."""

import os
import signal
import subprocess
import sys

import msgspec
import pytest

from tenure.gate.errors import PlatformError
from tenure.gate.jobs import process, reap
from tenure.gate.jobs.reap import kill_run, survivors
from tests.gate.jobs.floor import is_alive
from tests.waiting import until


def found(pid):
    seen = process.find(pid)
    assert seen is not None
    return seen


@pytest.fixture
def marked():
    """Start processes with a marker, each in a session of its own, and clear up after them."""
    started = []

    def start(marker, command=("sleep", "600")):
        environment = {**os.environ, "TENURE_RUN": marker}
        one = subprocess.Popen(command, env=environment, start_new_session=True)
        started.append(one)
        return one

    yield start
    for one in started:
        one.kill()
        one.wait()


def pids(survivors):
    return sorted(one.pid for one in survivors)


def commands(survivors):
    return sorted(one.command for one in survivors)


def test_a_runs_processes_are_found_by_a_member_of_their_marker(floor, marked):
    run = floor.run_id
    ours = [marked(run), marked(f"outer:{run}"), marked(f"{run}:inner"), marked(f"a:{run}:b")]
    for other in (f"{run}x", f"x{run}", f"x{run}:{run}x", "outer", "", run[:-1]):
        marked(other)
    assert pids(survivors(run)) == sorted(one.pid for one in ours)
    assert {one.command for one in survivors(run)} == {"sleep 600"}


def test_only_the_marker_itself_counts(floor, marked):
    marked(
        "", ["/usr/bin/env", f"OTHER={floor.run_id}", f"XTENURE_RUN={floor.run_id}", "sleep", "600"]
    )
    assert survivors(floor.run_id) == []


def test_excluded_processes_are_left_out(floor, marked):
    one, other = marked(floor.run_id), marked(floor.run_id)
    assert pids(survivors(floor.run_id, exclude=[one.pid])) == [other.pid]
    assert pids(kill_run(floor.run_id, exclude=[one.pid])) == [other.pid]
    assert is_alive(one.pid)


def test_one_never_finds_oneself(floor, marked):
    code = (
        "import sys; from tenure.gate.jobs.reap import kill_run, survivors;"
        "print(survivors(sys.argv[1]), kill_run(sys.argv[1]))"
    )
    environment = {**os.environ, "TENURE_RUN": floor.run_id}
    done = subprocess.run(
        [sys.executable, "-c", code, floor.run_id], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "[] []\n"


def test_zombies_are_gone(floor, marked):
    one = marked(floor.run_id, ["true"])
    until(lambda: not is_alive(one.pid), "the end of a process nobody reaps")
    assert survivors(floor.run_id) == []
    assert kill_run(floor.run_id) == []


def test_a_run_is_killed_for_good(floor, marked):
    deaf = ["sh", "-c", "trap '' INT TERM HUP; while :; do sleep 0.05; done"]
    stopped = marked(floor.run_id)
    stopped.send_signal(signal.SIGSTOP)
    others = [marked(floor.run_id, deaf), marked(f"outer:{floor.run_id}:inner")]
    killed = kill_run(floor.run_id)
    assert {stopped.pid, *(one.pid for one in others)} <= set(pids(killed))
    assert all(one.gone for one in killed)
    assert survivors(floor.run_id) == []
    assert not is_alive(stopped.pid)


@pytest.mark.parametrize("pause", ["", "sleep 0.3"], ids=["at once", "after a while"])
def test_a_run_that_keeps_starting_processes_is_killed_for_good(floor, marked, pause):
    """Each leaves a successor in a session of its own and lives a moment longer."""
    path = floor.place / "respawn"
    path.write_text(f"#!/bin/sh\n{pause}\nsetsid -f {path}\nsleep 0.2\n")
    path.chmod(0o755)
    marked(floor.run_id, [str(path)])
    until(lambda: len(survivors(floor.run_id)) > 2, "successors")
    kill_run(floor.run_id)
    assert survivors(floor.run_id) == []


def test_a_process_that_hands_over_while_the_table_is_read_hides_nobody(floor, marked, monkeypatch):
    """The listed one is gone when it is looked at, and its successor was not listed."""
    old = marked(floor.run_id)
    new: list[subprocess.Popen] = []
    listed = process._listed

    def handing_over():
        pids = listed()
        if not new:
            new.append(marked(floor.run_id))
            old.kill()
            old.wait()
        return pids

    monkeypatch.setattr(process, "_listed", handing_over)
    assert pids(survivors(floor.run_id)) == [new[0].pid]


def test_threads_are_not_taken_for_processes(monkeypatch):
    """Their numbers come from the same row, and `/proc` opens under each of them."""
    code = (
        "import threading; [threading.Thread(target=input).start() for _ in 'abc'];"
        "print(flush=True)"
    )
    listed = process._listed
    with subprocess.Popen(
        [sys.executable, "-c", f"input(); {code}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as one:

        def starting():
            pids = listed()
            assert one.stdin is not None
            assert one.stdout is not None
            if one.stdin.write(b"\n"):
                one.stdin.flush()
                one.stdout.readline()
            return pids

        monkeypatch.setattr(process, "_listed", starting)
        seen = [each.pid for each in process.living()]
        threads = {int(name) for name in os.listdir(f"/proc/{one.pid}/task")}
        one.kill()
    assert len(threads) == 4
    assert threads & set(seen) == {one.pid}


def test_many_processes_are_killed(floor, marked):
    marked(floor.run_id, ["sh", "-c", "for n in $(seq 300); do sleep 600 & done; wait"])
    until(lambda: len(survivors(floor.run_id)) == 301, "all of them")
    assert len(kill_run(floor.run_id)) == 301
    assert survivors(floor.run_id) == []


def test_killing_a_run_again_finds_nothing(floor, marked):
    marked(floor.run_id)
    assert len(kill_run(floor.run_id)) == 1
    assert kill_run(floor.run_id) == []


def test_a_job_started_at_the_last_moment_is_seen_by_a_second_look(floor, marked, monkeypatch):
    looks: list[int] = []
    look = reap._marked

    def late(run_id, exclude):
        found, unsure = look(run_id, exclude)
        if not looks:
            marked(run_id)
        looks.append(len(found))
        return found, unsure

    monkeypatch.setattr(reap, "_marked", late)
    assert len(kill_run(floor.run_id, clean_looks=2)) == 1
    assert looks[0] == 0
    assert 1 in looks[1:]
    assert looks[-2:] == [0, 0]


def test_who_cannot_be_killed_is_given_up_on_by_name(floor, marked, monkeypatch):
    one = marked(floor.run_id)
    monkeypatch.setattr(reap, "send", lambda *_: None)
    monkeypatch.setattr(reap, "_ROUNDS_MAX", 3)
    assert [(left.pid, left.gone) for left in kill_run(floor.run_id)] == [(one.pid, False)]


def test_what_a_killed_runner_left_is_killed(floor):
    """The jobs of a runner that was killed, a daemon among them, by nothing but the run's id."""
    job = floor.running("setsid -f sleep 600; sleep 601 & echo ready; exec sleep 602")
    expected = ["sleep 600", "sleep 601", "sleep 602"]
    until(lambda: commands(survivors(floor.run_id)) == expected, "the three")
    assert commands(kill_run(floor.run_id)) == expected
    job.close()
    os.waitpid(job.pid, 0)


def test_a_process_we_may_not_look_into_is_left_out(floor, marked, monkeypatch):
    one, other = marked(floor.run_id), marked(floor.run_id)
    content = process._content

    def closed(path, size):
        return b"" if path == f"/proc/{one.pid}/environ" else content(path, size)

    monkeypatch.setattr(process, "_content", closed)
    assert pids(survivors(floor.run_id)) == [other.pid]


def test_a_process_that_vanishes_meanwhile_is_left_out(floor, marked, monkeypatch):
    one = marked(floor.run_id)
    read = process.find

    def vanishing(pid):
        seen = read(pid)
        if pid == one.pid:
            one.kill()
            one.wait()
        return seen

    monkeypatch.setattr(process, "find", vanishing)
    assert kill_run(floor.run_id) == []


def test_a_signal_never_reaches_a_later_owner_of_the_pid(floor, marked):
    one = marked(floor.run_id)
    seen = found(one.pid)
    earlier = msgspec.structs.replace(seen, start_ticks=seen.start_ticks - 1)
    process.send(earlier, signal.SIGKILL)
    assert process.open_pidfd(earlier) is None
    assert is_alive(one.pid)
    process.send(seen, signal.SIGKILL)
    until(lambda: not is_alive(one.pid), "the end of the right one")


def test_a_signal_arrives_without_a_descriptor_to_spare(floor, marked, monkeypatch):
    one = marked(floor.run_id)
    seen = found(one.pid)

    def refuse(*_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    process.send(seen, signal.SIGKILL)
    until(lambda: not is_alive(one.pid), "the end")


@pytest.mark.parametrize("name", ["a) b", "(((", ") R 1 1", "two\nlines", "()"])
def test_a_process_is_read_whatever_it_is_called(name):
    code = f"open('/proc/self/comm', 'w').write({name!r}); print(flush=True); import time; input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as one:
        assert one.stdout is not None
        assert one.stdin is not None
        one.stdout.readline()
        seen = found(one.pid)
        assert (seen.name, seen.pid, seen.group) == (name, one.pid, os.getpgid(one.pid))
        assert seen.session == os.getsid(one.pid)
        assert seen.alive
        one.stdin.close()


def test_a_process_whose_first_thread_ended_lives_on_in_the_others():
    code = (
        "import threading, ctypes, time; "
        "threading.Thread(target=lambda: input()).start(); "
        "print(flush=True); ctypes.CDLL(None).pthread_exit(None)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as one:
        assert one.stdout is not None
        assert one.stdin is not None
        one.stdout.readline()
        until(lambda: found(one.pid).state == "Z", "the end of the first thread")
        assert found(one.pid).alive
        one.kill()
        one.wait()
        assert process.find(one.pid) is None


def test_without_a_process_table_nothing_is_said_to_be_gone(monkeypatch):
    monkeypatch.setattr(os, "listdir", lambda _: ["version"])
    with pytest.raises(PlatformError):
        survivors("any")
    with pytest.raises(PlatformError):
        kill_run("any")


def test_a_process_in_the_middle_of_an_exec_is_asked_again(floor, marked, monkeypatch):
    """Its command line and environment are empty until the new program is laid out."""
    one = marked(floor.run_id)
    content = process._content
    asked: list[str] = []

    def early(path, size):
        if path in (f"/proc/{one.pid}/environ", f"/proc/{one.pid}/cmdline") and len(asked) < 9:
            asked.append(path)
            return b""
        return content(path, size)

    monkeypatch.setattr(process, "_content", early)
    assert pids(survivors(floor.run_id)) == [one.pid]
    asked.clear()
    assert pids(kill_run(floor.run_id)) == [one.pid]


def test_a_process_that_stays_in_an_exec_is_not_waited_for(floor, marked, monkeypatch):
    one = marked("x")
    content = process._content
    monkeypatch.setattr(
        process,
        "_content",
        lambda path, size: (
            b"" if f"/{one.pid}/" in path and "stat" not in path else content(path, size)
        ),
    )
    assert survivors(floor.run_id) == []
    assert kill_run(floor.run_id) == []
