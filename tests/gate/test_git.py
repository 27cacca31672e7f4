"""One git process: it hears nothing of the caller's repository, and cannot hang or deadlock it."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tenure.gate import git as room
from tenure.gate.errors import RepositoryError
from tenure.gate.git import Git, ask, collect, demand
from tests.gate.repos import commit, git, make_repo, write
from tests.waiting import until


@pytest.fixture
def fake_git(tmp_path, monkeypatch):
    """Install a script as the only `git`; it is handed the real one as $REAL_GIT."""
    real = subprocess.check_output(["sh", "-c", "command -v git"], text=True).strip()
    folder = tmp_path / "fake-bin"
    folder.mkdir()

    def install(body: str) -> Path:
        script = folder / "git"
        script.write_text("#!/bin/sh\n" + textwrap.dedent(body))
        script.chmod(0o755)
        monkeypatch.setenv("REAL_GIT", real)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        return script

    return install


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def test_a_variable_that_names_a_repository_is_not_heard(tmp_path, monkeypatch):
    here = make_repo(tmp_path / "here", {"a": "1"})
    other = make_repo(tmp_path / "other", {"b": "2"})
    for name in git(here, "rev-parse", "--local-env-vars").split():
        monkeypatch.setenv(name, str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert demand(here, "rev-parse", "--show-toplevel").decode().strip() == str(here)
    assert demand(here, "ls-files") == b"a\n"


def test_every_local_variable_of_this_git_is_dropped(tmp_path, monkeypatch):
    names = git(tmp_path, "rev-parse", "--local-env-vars").split()
    assert "GIT_DIR" in names
    for name in (*names, "GIT_NAMESPACE", "GIT_TRACE", "GIT_SSH_COMMAND", "GIT_EXEC_PATH"):
        monkeypatch.setenv(name, "x")
    left = {os.fsdecode(name) for name in room.environment() if name.startswith(b"GIT_")}
    assert left <= {
        "GIT_OPTIONAL_LOCKS",
        "GIT_TERMINAL_PROMPT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
    }


def test_where_configuration_lies_is_still_the_callers_to_say(monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/there")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "/up")
    env = room.environment()
    assert env[b"GIT_CONFIG_GLOBAL"] == b"/there"
    assert env[b"GIT_CEILING_DIRECTORIES"] == b"/up"


def test_messages_are_in_one_language_and_nothing_prompts(monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    env = room.environment()
    assert (env[b"LC_ALL"], env[b"GIT_OPTIONAL_LOCKS"], env[b"GIT_TERMINAL_PROMPT"]) == (
        b"C",
        b"0",
        b"0",
    )


def test_an_undecodable_variable_does_no_harm(tmp_path, monkeypatch):
    monkeypatch.setitem(os.environb, b"ODD", b"\xff\xfe")
    assert ask(tmp_path, "version").code == 0


def test_a_failing_git_is_an_answer(tmp_path):
    git_process = ask(tmp_path, "rev-parse", "HEAD")
    assert git_process.code == 128
    assert b"not a git repository" in git_process.errors


def test_demanding_an_answer_that_git_refuses_gives_its_words(tmp_path):
    with pytest.raises(RepositoryError, match="git rev-parse failed: fatal: not a git repository"):
        demand(tmp_path, "rev-parse", "HEAD")


def test_no_git_at_all_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    before = open_descriptors()
    with pytest.raises(RepositoryError, match=r"no git on PATH; install git 2\.31 or newer"):
        ask(tmp_path, "version")
    assert open_descriptors() == before


def test_a_git_that_may_not_be_executed_is_no_git(tmp_path, monkeypatch):
    (tmp_path / "git").write_text("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RepositoryError, match="no git on PATH"):
        ask(tmp_path, "version")


def test_no_descriptor_is_left_open(tmp_path):
    before = open_descriptors()
    for _ in range(3):
        ask(tmp_path, "version")
        Git(tmp_path, "version").discard()
    assert open_descriptors() == before


def test_two_long_answers_do_not_wait_for_each_other(tmp_path, fake_git):
    fake_git("""
        head -c 3000000 /dev/zero | tr '\\0' x
        head -c 3000000 /dev/zero | tr '\\0' y >&2
        """)
    first, second = Git(tmp_path, "a"), Git(tmp_path, "b")
    collect(first, second)
    assert first.output == second.output == b"x" * 3_000_000
    assert first.errors == second.errors == b"y" * 3_000_000


def test_a_long_question_and_a_long_answer_do_not_wait_for_each_other(tmp_path, fake_git):
    fake_git("cat")
    question = b"0123456789abcdef" * 200_000
    assert demand(tmp_path, "cat-file", stdin=question) == question


def test_a_git_that_does_not_listen_is_not_waited_for(tmp_path, fake_git):
    fake_git("exec <&-; echo enough")
    assert demand(tmp_path, "cat-file", stdin=b"x" * 1_000_000) == b"enough\n"


def test_a_daemon_that_keeps_the_pipe_does_not_keep_us(tmp_path, fake_git):
    pid_file = tmp_path / "daemon.pid"
    fake_git(f"""
        sleep 600 & echo $! > {pid_file}
        echo answer
        """)
    try:
        assert demand(tmp_path, "status") == b"answer\n"
    finally:
        os.kill(int(pid_file.read_text()), signal.SIGKILL)


def test_a_daemon_that_floods_the_pipe_does_not_keep_us(tmp_path, fake_git):
    pid_file = tmp_path / "daemon.pid"
    fake_git(f"""
        yes & echo $! > {pid_file}
        exit 3
        """)
    git_process = ask(tmp_path, "status")
    assert git_process.code == 3
    pid = int(pid_file.read_text())  # our end is closed, so it dies of its next write
    until(lambda: not Path(f"/proc/{pid}").exists() or _state(pid) == "Z", "the daemon dies")


def test_after_the_end_the_pipe_is_emptied_once_and_not_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(Git, "_read", lambda *_: True)  # there is always more
    assert ask(tmp_path, "version").code == 0


def test_a_git_that_hangs_is_killed_and_named(tmp_path, fake_git):
    fake_git(f"echo $$ > {tmp_path}/pid; exec sleep 600")
    hanging, fine = Git(tmp_path, "status"), Git(tmp_path, "rev-parse")
    until((tmp_path / "pid").exists, "the fake git starts")
    with pytest.raises(RepositoryError, match=r"git status neither answered nor ended for 0\.2 s"):
        collect(hanging, fine, quiet_ms=200)
    assert not Path(f"/proc/{hanging.pid}").exists()
    assert not Path(f"/proc/{fine.pid}").exists()


def test_an_interrupted_wait_leaves_no_process_and_no_descriptor(tmp_path, fake_git, monkeypatch):
    fake_git("exec sleep 600")
    before = open_descriptors()
    hanging = Git(tmp_path, "status")

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Git, "interests", interrupted)
    with pytest.raises(KeyboardInterrupt):
        collect(hanging)
    assert not Path(f"/proc/{hanging.pid}").exists()
    assert open_descriptors() == before


def test_without_pidfds_the_end_is_found_all_the_same(tmp_path, fake_git, monkeypatch):
    monkeypatch.delattr(os, "pidfd_open")
    pid_file = tmp_path / "daemon.pid"
    fake_git(f"sleep 600 & echo $! > {pid_file}; echo answer; exit 4")
    try:
        git_process = ask(tmp_path, "status")
    finally:
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
    assert (git_process.code, git_process.output) == (4, b"answer\n")


def test_without_pidfds_a_hanging_git_is_killed_all_the_same(tmp_path, fake_git, monkeypatch):
    monkeypatch.delattr(os, "pidfd_open")
    fake_git("exec sleep 600")
    with pytest.raises(RepositoryError, match="neither answered nor ended"):
        collect(Git(tmp_path, "status"), quiet_ms=100)


def test_a_git_killed_by_a_signal_has_failed(tmp_path, fake_git):
    fake_git("kill -SEGV $$")
    with pytest.raises(RepositoryError, match="it ended with code -11 and said nothing"):
        demand(tmp_path, "status")


def test_git_hears_from_dev_null_and_not_from_the_callers_stdin(tmp_path, fake_git):
    fake_git("readlink /proc/self/fd/0; cat")
    done = _in_python(tmp_path, "print(demand('.', 'x'))", stdin=b"secret")
    assert done.stdout == b"b'/dev/null\\n'\n"


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_a_caller_without_standard_descriptors_is_answered(tmp_path, closed):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    code = f"""
        for fd in {closed!r}:
            os.close(fd)
        answer = demand({str(repo)!r}, "cat-file", "--batch", stdin=b"HEAD:a\\n")
        failing = Git({str(repo)!r}, "rev-parse", "nope")
        collect(failing)
        assert answer.endswith(b" blob 1\\n1\\n"), answer
        assert b"unknown revision" in failing.errors, failing.errors
        open("fine", "w").close()
    """
    _in_python(tmp_path, code)
    assert (tmp_path / "fine").exists()


def test_an_ignored_sigchld_is_said_and_never_read_as_success(tmp_path):
    code = """
        import signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            demand(".", "version")
        except Exception as error:
            print(error)
    """
    done = _in_python(tmp_path, code)
    assert b"ignores SIGCHLD" in done.stdout


def test_blocked_signals_are_not_inherited(tmp_path, fake_git):
    script = fake_git("")
    script.write_text(f"#!{sys.executable} -IS\nprint(open('/proc/self/status').read())\n")
    code = """
        import signal
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        print(demand(".", "x").decode())
    """
    assert b"SigBlk:\t" + b"0" * 16 + b"\n" in _in_python(tmp_path, code).stdout


def test_reading_starts_no_file_system_monitor(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    hook.chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(hook))
    demand(repo, "status", "--porcelain")
    assert not (tmp_path / "started").exists()


def test_what_a_replacement_ref_claims_is_not_believed(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "honest"})
    honest = git(repo, "rev-parse", "HEAD")
    forged = commit(repo, {"a": "forged"})
    git(repo, "replace", honest, forged)
    assert demand(repo, "show", f"{honest}:a") == b"honest"


def test_a_file_replaced_behind_relaxed_stat_checks_is_seen(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1111"})
    git(repo, "config", "core.checkStat", "minimal")
    os.utime(repo / "a", (1_000_000_000, 1_000_000_000))
    git(repo, "update-index", "--refresh")
    write(repo, {"new": "2222"})
    os.utime(repo / "new", (1_000_000_000, 1_000_000_000))
    (repo / "new").rename(repo / "a")
    assert git(repo, "status", "--porcelain") == ""  # git itself is fooled
    assert demand(repo, "status", "--porcelain") == b" M a\n"


def test_importing_it_loads_nothing_heavy():
    code = "import os, sys; before=set(sys.modules); import tenure.gate.worktree, tenure.gate.fingerprint; print(*sorted(set(sys.modules)-before))"
    loaded = subprocess.check_output(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {_source()!r}); {code}"]
    )
    assert set(loaded.decode().split()) <= {
        "select",
        "tenure",
        "tenure.gate",
        "tenure.gate.fingerprint",
        "tenure.gate.git",
        "tenure.gate.worktree",
    }


def _source() -> str:
    return str(Path(room.__file__).parents[2])


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def _in_python(cwd: Path, code: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    script = "import os\nfrom tenure.gate.git import Git, collect, demand\n" + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", script], cwd=cwd, input=stdin, stdout=subprocess.PIPE, check=False
    )
