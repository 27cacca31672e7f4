"""Who starts a run, who owns it, and what is left when either is gone."""

import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.gate.jobs.environment import RUN_MARKER
from tenure.gate.jobs.reap import survivors
from tenure.gate.narration import Ended, LogReader
from tenure.gate.report import Report
from tenure.gate.supervisor import Launch, launch
from tenure.kernel.clock import SystemClock
from tenure.kernel.identity import new_id
from tests.waiting import PATIENCE_SECONDS, until

# Forked with the threads of whoever runs the tests; the child uses none of them.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

#: How long a runner waits for a signal that has to come, and for one that must not.
SOON_SECONDS, NEVER_SECONDS = 5.0, 0.3


class Scene:
    """One run of a body that a test wrote."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.run = new_id()[:12]

    def launch(self, body: Callable[[], int], *, tied: bool = False) -> Launch:
        """Start it; what it is given is no business of these tests."""
        place, clock = str(self.place), SystemClock()
        return launch(self.run, place, place, clock, lambda *_: body(), tied=tied)

    def await_end(self, started: Launch) -> None:
        """Wait until runner and supervisor are gone."""
        poll = select.poll()
        poll.register(started.wake, select.POLLIN)
        while poll.poll(PATIENCE_SECONDS * 1000):
            if not os.read(started.wake, 4096):
                os.waitpid(started.pid, 0)
                return
        raise AssertionError("the run does not end")

    def told(self) -> Report:
        """The end that the log tells."""
        reader = LogReader(str(self.place))
        try:
            (ended,) = [event for event in reader.events() if isinstance(event, Ended)]
        finally:
            reader.close()
        return ended.report

    def write(self, name: str, text: str = "") -> None:
        """Make a file, whole from its first moment."""
        (self.place / f"{name}.partial").write_text(text)
        (self.place / f"{name}.partial").rename(self.place / name)

    def read(self, name: str) -> str:
        """What a file says, once it is there."""
        until((self.place / name).exists, f"{name} is written")
        return (self.place / name).read_text()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_what_a_killed_runner_leaves_running_is_killed(scene: Scene) -> None:
    def body() -> int:
        environment = {**os.environ, RUN_MARKER: scene.run}
        os.posix_spawnp("sleep", ["sleep", "600"], environment, setsid=True)
        until(lambda: len(survivors(scene.run)) == 1, "the job is seen")
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    started = scene.launch(body)
    scene.await_end(started)
    started.close()
    assert survivors(scene.run) == []
    assert (scene.told().outcome, scene.told().exit_code) == ("unproven", 3)
    assert "SIGKILL" in scene.told().reason


def test_a_fault_of_our_own_is_told_and_written_down(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    with capfd.disabled():  # so that standard error is what it is anywhere else
        started = scene.launch(lambda: 1 // 0)
    scene.await_end(started)
    started.close()
    assert (scene.told().outcome, scene.told().exit_code) == ("broken", 70)
    assert "ZeroDivisionError" in (scene.place / "crash").read_text()


def _signalled(scene: Scene, seconds: float) -> int:
    """As a runner: say that one listens, and whether TERM came in time."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    scene.write("listening")
    scene.read("closed")
    heard = signal.sigtimedwait([signal.SIGTERM], seconds)
    scene.write("heard", "nothing" if heard is None else "TERM")
    return 0


def test_a_run_that_is_tied_to_its_caller_is_told_that_the_caller_is_gone(scene: Scene) -> None:
    started = scene.launch(lambda: _signalled(scene, SOON_SECONDS), tied=True)
    scene.read("listening")
    started.close()
    scene.write("closed")
    assert scene.read("heard") == "TERM"
    os.waitpid(started.pid, 0)


def test_any_other_run_goes_on_without_its_caller(scene: Scene) -> None:
    started = scene.launch(lambda: _signalled(scene, NEVER_SECONDS))
    scene.read("listening")
    started.close()
    scene.write("closed")
    assert scene.read("heard") == "nothing"
    os.waitpid(started.pid, 0)


def test_what_the_supervisor_is_told_the_runner_hears(scene: Scene) -> None:
    started = scene.launch(lambda: _signalled(scene, SOON_SECONDS))
    scene.read("listening")
    os.kill(started.pid, signal.SIGTERM)
    scene.write("closed")
    assert scene.read("heard") == "TERM"
    scene.await_end(started)
    started.close()


def test_a_run_has_no_descriptor_and_no_session_of_its_caller(scene: Scene) -> None:
    (scene.place / "callers").touch()
    with open(scene.place / "callers", "rb") as callers:
        os.set_inheritable(callers.fileno(), True)

        def body() -> int:
            numbers = os.listdir("/proc/self/fd")
            opened = [p for n in numbers if (p := _leads(f"/proc/self/fd/{n}"))]
            scene.write("open", "\n".join(opened))
            scene.write("session", str(os.getsid(0) == os.getppid()))
            return 0

        started = scene.launch(body)
        scene.await_end(started)
        started.close()
    assert str(scene.place / "callers") not in scene.read("open").splitlines()
    assert scene.read("session") == "True"


def _leads(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:  # the listing's own descriptor
        return ""


def test_nothing_of_the_caller_runs_in_the_run(scene: Scene) -> None:
    """However the body ends, even by an exit that Python would clean up after."""
    started = scene.launch(lambda: sys.exit(7))
    scene.await_end(started)
    started.close()
    assert scene.told().outcome == "broken"
