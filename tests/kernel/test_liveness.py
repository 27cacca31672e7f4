"""Who is gone: the table by hand, and then real processes, locks and namespaces."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tenure.kernel.clock import SystemClock
from tenure.kernel.liveness import (
    LocalProbe,
    Lock,
    OwnerEvidence,
    State,
    judge,
    take_run_lock,
)
from tests.waiting import until

EVIDENCE = OwnerEvidence(
    boot="this",
    pid=7,
    pid_namespace=1,
    start_ticks=100,
    lock_path="/locks/7",
    lock_device=1,
    lock_inode=2,
)


class Machine:
    """A probe whose answers are written down."""

    def __init__(self, boot: str, lock: Lock, namespace: int | None, ticks: object) -> None:
        self._boot, self._lock, self._namespace, self._ticks = boot, lock, namespace, ticks

    def boot(self) -> str:
        return self._boot

    def lock(self, path: str, device: int, inode: int) -> Lock:
        assert (path, device, inode) == ("/locks/7", 1, 2)
        return self._lock

    def pid_namespace(self) -> int | None:
        return self._namespace

    def start_ticks(self, pid: int) -> int | None:
        assert pid == 7
        if isinstance(self._ticks, OSError):
            raise self._ticks
        assert self._ticks is None or isinstance(self._ticks, int)
        return self._ticks


OURS, OTHERS, REUSED, NOBODY = 100, 2, 101, None
UNREADABLE = PermissionError(13, "Permission denied")

VERDICTS: list[tuple[str, Lock, int | None, object, State]] = [
    # another boot: nobody of that boot runs, whatever stands there now
    ("another", "held", 1, OURS, "gone"),
    ("another", "unreadable", None, UNREADABLE, "gone"),
    # the lock is free
    ("this", "free", 1, NOBODY, "gone"),
    ("this", "free", 1, REUSED, "gone"),
    ("this", "free", 1, OURS, "unknown"),
    ("this", "free", 1, UNREADABLE, "unknown"),
    ("this", "free", OTHERS, NOBODY, "unknown"),
    ("this", "free", None, NOBODY, "unknown"),
    # the lock is held
    ("this", "held", 1, OURS, "running"),
    ("this", "held", 1, NOBODY, "unknown"),
    ("this", "held", 1, REUSED, "unknown"),
    ("this", "held", 1, UNREADABLE, "unknown"),
    ("this", "held", OTHERS, NOBODY, "unknown"),
    # the lock cannot be read, or is another file
    ("this", "unreadable", 1, NOBODY, "unknown"),
    ("this", "unreadable", 1, REUSED, "unknown"),
    ("this", "unreadable", 1, OURS, "unknown"),
]


@pytest.mark.parametrize(("boot", "lock", "namespace", "ticks", "state"), VERDICTS)
def test_only_another_boot_or_a_free_lock_without_contradiction_proves_death(
    boot, lock, namespace, ticks, state
):
    verdict = judge(EVIDENCE, Machine(boot, lock, namespace, ticks))
    assert verdict.state == state
    assert verdict.reason


BOOT = SystemClock().now().boot

OWNER = """
import os, sys
import msgspec
from tenure.kernel.liveness import take_run_lock
lock, evidence = take_run_lock(sys.argv[1], sys.argv[2])
if sys.argv[3] == "alone" or os.fork() != 0:
    sys.stdout.write(msgspec.json.encode(evidence).decode() + "\\n")
    sys.stdout.flush()
sys.stdin.readline()
"""


class Owner:
    """A real process that holds a run lock until it is told or made to end."""

    def __init__(self, lock: Path, *wrapper: str, fork: bool = False) -> None:
        self.process = subprocess.Popen(
            [*wrapper, sys.executable, "-c", OWNER, str(lock), BOOT, "fork" if fork else "alone"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.evidence = msgspec.json.decode(line, type=OwnerEvidence)

    def kill(self) -> None:
        """Kill it and leave its body in the process table."""
        if self.process.returncode is not None:
            return
        os.kill(self.process.pid, signal.SIGKILL)  # Popen.kill would bury it first
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)

    def end(self) -> None:
        """Let everybody who still reads its input end, and bury it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def state(evidence: OwnerEvidence) -> str:
    return judge(evidence, LocalProbe(BOOT)).state


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    owner = Owner(tmp_path / "run.lock")
    yield owner
    owner.kill()
    owner.end()


def test_a_process_that_holds_its_lock_is_running(owner):
    assert state(owner.evidence) == "running"


def test_a_stopped_process_is_running(owner):
    os.kill(owner.process.pid, signal.SIGSTOP)
    assert state(owner.evidence) == "running"


def test_a_killed_process_is_gone_before_anybody_buries_it(owner):
    owner.kill()
    assert b") Z " in Path(f"/proc/{owner.process.pid}/stat").read_bytes()
    assert state(owner.evidence) == "gone"
    owner.end()
    assert state(owner.evidence) == "gone"


def test_a_reused_pid_is_not_its_former_owner(tmp_path):
    """This process stands in for whoever got the pid of a dead owner."""
    owner = Owner(tmp_path / "run.lock")
    owner.kill()
    owner.end()
    reused = msgspec.structs.replace(owner.evidence, pid=os.getpid())
    assert state(reused) == "gone"


def test_a_pid_that_is_there_contradicts_a_free_lock(tmp_path):
    lock = tmp_path / "run.lock"
    descriptor, evidence = take_run_lock(str(lock), BOOT)
    os.close(descriptor)
    assert state(evidence) == "unknown"


def test_a_lock_that_a_child_kept_open_proves_nothing(tmp_path):
    owner = Owner(tmp_path / "run.lock", fork=True)
    owner.kill()
    assert state(owner.evidence) == "unknown"
    owner.end()
    until(lambda: state(owner.evidence) == "gone", "the child lets go of the lock")


def test_another_file_of_the_same_name_proves_nothing(tmp_path):
    lock = tmp_path / "run.lock"
    owner = Owner(lock)
    owner.kill()
    owner.end()
    lock.rename(tmp_path / "kept")
    assert state(owner.evidence) == "unknown"
    lock.touch()
    assert state(owner.evidence) == "unknown"
    lock.unlink()
    (tmp_path / "kept").rename(lock)
    assert state(owner.evidence) == "gone"


def test_the_owner_of_another_boot_is_gone(owner):
    assert judge(owner.evidence, LocalProbe("another boot")).state == "gone"


def test_a_look_takes_nothing_from_the_owner_or_from_another_look(owner):
    probe = LocalProbe(BOOT)
    where = (
        owner.evidence.lock_path,
        owner.evidence.lock_device,
        owner.evidence.lock_inode,
    )
    before = len(os.listdir("/proc/self/fd"))
    assert [probe.lock(*where) for _ in range(3)] == ["held"] * 3
    owner.kill()
    assert [probe.lock(*where) for _ in range(3)] == ["free"] * 3
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_owner_in_another_pid_namespace_is_unknown_dead_or_alive(tmp_path):
    unshare = ("unshare", "--pid", "--fork", "--mount-proc")
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may not create pid namespaces")
    owner = Owner(tmp_path / "run.lock", *unshare)
    assert owner.evidence.pid == 1
    assert state(owner.evidence) == "unknown"
    owner.end()
    assert (
        LocalProbe(BOOT).lock(
            owner.evidence.lock_path, owner.evidence.lock_device, owner.evidence.lock_inode
        )
        == "free"
    )
    assert state(owner.evidence) == "unknown"


def test_two_owners_that_are_both_pid_1_do_not_answer_for_each_other(tmp_path):
    unshare = ("unshare", "--pid", "--fork", "--mount-proc")
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may not create pid namespaces")
    first = Owner(tmp_path / "first.lock", *unshare)
    second = Owner(tmp_path / "second.lock", *unshare)
    assert (first.evidence.pid, second.evidence.pid) == (1, 1)
    assert first.evidence.pid_namespace != second.evidence.pid_namespace
    first.end()
    assert (state(first.evidence), state(second.evidence)) == ("unknown", "unknown")
    second.end()


def test_a_run_lock_is_taken_once(tmp_path):
    lock = str(tmp_path / "run.lock")
    descriptor, evidence = take_run_lock(lock, BOOT)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(BlockingIOError):
        take_run_lock(lock, BOOT)
    assert len(os.listdir("/proc/self/fd")) == before
    assert not os.get_inheritable(descriptor)
    assert (evidence.pid, evidence.boot) == (os.getpid(), BOOT)
    assert state(evidence) == "running"
    os.close(descriptor)


def test_a_run_lock_whose_path_is_no_text_is_found_again(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9%")
    descriptor, evidence = take_run_lock(str(path), BOOT)
    try:
        assert evidence.lock_path.encode().endswith(b"/caf%E9%25")
        assert judge(evidence, LocalProbe(BOOT)).state == "running"
    finally:
        os.close(descriptor)
