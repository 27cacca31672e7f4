"""How a job starts: what it is given, what it is kept from, and why it could not."""

import errno
import os
import signal
import stat
import sys

import pytest

from tenure.gate.errors import CannotTell
from tenure.gate.jobs.outcome import JobResult
from tenure.gate.jobs.spawn import start
from tests.gate.jobs.floor import is_alive

PYTHON = sys.executable


def script(path, text, mode=0o755):
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_job_sees_exactly_the_declared_environment(floor, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/elsewhere/.git")
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    declared = floor.environment("test", {"PROFILE": "ci\nsecond line"})
    assert "GIT_DIR" not in declared
    assert (
        floor.run(["/usr/bin/env", "-0"], set_env={"PROFILE": "ci\nsecond line"}).outcome
        == "passed"
    )
    seen = dict(entry.split(b"=", 1) for entry in floor.output().split(b"\0") if entry)
    assert seen == {os.fsencode(name): os.fsencode(value) for name, value in declared.items()}


def test_a_job_leads_its_own_session_without_a_terminal(floor):
    floor.run([PYTHON, "-c", "import os; print(os.getpid(), os.getsid(0), os.getpgid(0))"])
    pid, session, group = floor.output().split()
    assert pid == session == group
    result = floor.run("exec < /dev/tty")
    assert result.outcome == "failed"


def test_a_job_reads_an_empty_stdin(floor):
    assert floor.run("cat; echo end").outcome == "passed"
    assert floor.output() == b"end\n"


def test_both_streams_are_one_file_in_order(floor):
    result = floor.run("echo one; echo two >&2; echo three; echo four >&2")
    assert floor.output() == b"one\ntwo\nthree\nfour\n"
    assert result.output == str(floor.place / "test.log")
    assert result.output_size == 19


def test_all_bytes_arrive_as_they_were_written(floor):
    result = floor.run([PYTHON, "-c", "import os; os.write(1, bytes(range(256)) * 300)"])
    assert floor.output() == bytes(range(256)) * 300
    assert result.output_size == 76800


def test_a_job_that_truncates_its_own_output_loses_nothing_after_it(floor):
    floor.run("echo a longer line that is lost; echo gone > /dev/stderr; echo kept; echo last >&2")
    assert floor.output().endswith(b"kept\nlast\n")
    assert b"\0" not in floor.output()


def test_the_output_is_made_anew_and_readable_by_its_owner_only(floor):
    (floor.place / "test.log").write_text("of an earlier run, which was much longer\n")
    (floor.place / "test.log").unlink()
    floor.run("echo first")
    floor.run("echo 2nd")
    assert floor.output() == b"2nd\n"
    assert stat.S_IMODE((floor.place / "test.log").stat().st_mode) == 0o600


def test_a_job_inherits_the_descriptors_it_was_passed_and_no_other(floor):
    kept, other = os.pipe()
    os.set_inheritable(other, True)  # what a careless caller leaves open
    try:
        listing = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
        floor.run([PYTHON, "-c", listing], pass_fds=[kept])
        # The listing itself takes the lowest free number.
        free = 4 if kept == 3 else 3
        assert floor.output().decode() == f"{sorted([0, 1, 2, kept, free])}\n"
        assert os.get_inheritable(other)
        assert not os.get_inheritable(kept)
    finally:
        os.close(kept)
        os.close(other)


@pytest.fixture
def a_deaf_caller():
    """A caller that was started with signals ignored and blocked, as `nohup` and `&` do."""
    ignored = [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE]
    before = {one: signal.signal(one, signal.SIG_IGN) for one in ignored}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    for one, handler in before.items():
        signal.signal(one, handler)


def test_a_job_starts_with_every_signal_at_its_default(floor, a_deaf_caller):
    floor.run(["/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"])
    masks = {
        name: int(bits, 16)
        for name, bits in (one.split(b":") for one in floor.output().splitlines())
    }
    # 32 and 33 belong to the C library, which sets them as it needs them.
    of_the_library = 1 << 31 | 1 << 32
    assert {name: bits & ~of_the_library for name, bits in masks.items()} == {
        b"SigBlk": 0,
        b"SigIgn": 0,
    }


def test_a_caller_that_ignores_the_ends_of_children_still_learns_of_them(floor):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert floor.run("exit 3").code == 3
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_command_is_found_on_the_path_of_the_job(floor):
    (floor.place / "bin").mkdir()
    script(floor.place / "bin" / "greet", "#!/bin/sh\necho hello\n")
    assert floor.run(["greet"]).outcome == "not_found"
    result = floor.run(["greet"], set_env={"PATH": f"/nowhere:{floor.place}/bin"})
    assert (result.outcome, floor.output()) == ("passed", b"hello\n")


def test_a_relative_command_is_found_from_the_jobs_directory(floor):
    (floor.place / "below").mkdir()
    script(floor.place / "below" / "here", "#!/bin/sh\npwd\n")
    result = floor.run(["./here"], cwd=floor.place / "below")
    assert result.outcome == "passed"
    assert floor.output().decode().strip() == str(floor.place / "below")


def test_arguments_arrive_as_they_are(floor):
    words = ["", "a b", "*", "$HOME", "'\"", "-n", "ünï", "\udcff", "two\nlines"]
    floor.run(
        [
            PYTHON,
            "-c",
            "import sys, os; os.write(1, b'|'.join(map(os.fsencode, sys.argv[1:])))",
            *words,
        ]
    )
    assert floor.output() == b"|".join(map(os.fsencode, words))


def test_the_caller_stays_where_it_is(floor):
    before = os.getcwd()
    floor.run("true")
    floor.run(["missing-command"])
    floor.run("true", cwd=floor.place / "nowhere")
    assert os.getcwd() == before


def missing(floor):
    return {"command": ["no-such-command-here", "x"]}, "'no-such-command-here' is not on PATH"


def missing_path(floor):
    return {"command": ["./nowhere/tool"]}, "'./nowhere/tool' does not exist"


def dangling_link(floor):
    (floor.place / "tool").symlink_to("elsewhere")
    return {"command": ["./tool"]}, "'./tool' is a link to 'elsewhere', which does not exist"


def directory(floor):
    (floor.place / "tool").mkdir()
    return {"command": ["./tool"]}, "'./tool' is a directory, not a program"


def directory_on_path(floor):
    (floor.place / "tool").mkdir()
    return {"command": ["tool"], "set_env": {"PATH": str(floor.place)}}, "is a directory"


def a_fifo(floor):
    os.mkfifo(floor.place / "tool")
    return {"command": ["./tool"]}, "is not a file"


def not_executable(floor):
    script(floor.place / "tool", "#!/bin/sh\n", mode=0o644)
    return {"command": ["./tool"]}, "'./tool' may not be executed; is its mode right"


def not_readable_nor_executable(floor):
    script(floor.place / "tool", "#!/bin/sh\n", mode=0)
    return {"command": ["./tool"]}, "'./tool' may not be executed"


def no_interpreter_line(floor):
    script(floor.place / "tool", "echo hello\n")
    return {"command": ["./tool"]}, "has no line #!"


def missing_interpreter(floor):
    script(floor.place / "tool", "#!/nowhere/python -u\n")
    return {
        "command": ["./tool"]
    }, "asks for the interpreter '/nowhere/python', which does not exist"


def empty_command(floor):
    return {"command": []}, "there is no command"


def empty_name(floor):
    return {"command": [""]}, "there is no command"


def nul_in_name(floor):
    return {"command": ["./a\0b"]}, "null"


def nul_in_argument(floor):
    return {"command": ["/bin/echo", "a\0b"]}, "cannot be passed to a program"


def too_long(floor):
    return {"command": ["/bin/echo", *["x" * 100_000] * 200]}, "longer than the system allows"


def missing_directory(floor):
    return {"command": ["/bin/true"], "cwd": floor.place / "nowhere"}, "nowhere' does not exist"


def file_as_directory(floor):
    (floor.place / "file").write_text("")
    return {"command": ["/bin/true"], "cwd": floor.place / "file"}, "file' is not a directory"


@pytest.mark.parametrize(
    "fault",
    [
        missing,
        missing_path,
        dangling_link,
        directory,
        directory_on_path,
        a_fifo,
        not_executable,
        not_readable_nor_executable,
        no_interpreter_line,
        missing_interpreter,
        empty_command,
        empty_name,
        nul_in_name,
        nul_in_argument,
        too_long,
        missing_directory,
        file_as_directory,
    ],
    ids=lambda fault: fault.__name__,
)
def test_what_cannot_run_is_not_found_and_says_why(floor, fault):
    how, sentence = fault(floor)
    result = floor.start(**how)
    assert isinstance(result, JobResult)
    assert result.outcome == "not_found"
    assert sentence in result.sentence
    assert "\n" not in result.sentence
    assert (result.code, result.signal, result.survivors) == (None, None, ())


def test_a_program_that_the_shell_does_not_find_is_the_shells_failure(floor):
    result = floor.run("no-such-command-here")
    assert (result.outcome, result.code) == ("failed", 127)


def test_an_output_that_cannot_be_made_says_nothing_about_the_job(floor):
    (floor.place / "test.log").mkdir()
    with pytest.raises(CannotTell, match="output file"):
        floor.start("true")


@pytest.mark.parametrize("shortage", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE])
def test_a_machine_short_of_something_says_nothing_about_the_job(floor, monkeypatch, shortage):
    def refuse(*_, **__):
        raise OSError(shortage, os.strerror(shortage))

    monkeypatch.setattr(os, "posix_spawn", refuse)
    with pytest.raises(CannotTell, match=r"true.* could not be started"):
        floor.start("true")


def test_a_job_that_cannot_be_watched_is_not_left_running(floor, monkeypatch):
    spawned = []

    def refuse(pid, *_):
        spawned.append(pid)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "pidfd_open", refuse)
    with pytest.raises(CannotTell):
        floor.start("exec sleep 600")
    assert [is_alive(pid) for pid in spawned] == [False]


def test_no_descriptor_is_left_by_a_job_however_it_ends(floor):
    def count():
        return len(os.listdir("/proc/self/fd"))

    floor.run("true")
    before = count()
    for command in ("true", "exit 1", "kill -9 $$", ["missing-command"], "sleep 600 &"):
        floor.run(command)
    unfinished = floor.running("exec sleep 600")
    unfinished.cancel(0.0)
    unfinished.close()
    unfinished.close()
    os.waitpid(unfinished.pid, 0)
    assert count() == before


def test_no_job_starts_without_a_marker(floor):
    with pytest.raises(AssertionError, match="marker"):
        start(["true"], cwd="/", environment={}, output=str(floor.place / "x.log"), now=0.0)
