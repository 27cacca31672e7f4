"""Faults happen where and when they are planted, once, and nowhere else."""

import signal
import subprocess
import sys
import threading

import pytest

from tenure.kernel.errors import ReplyLost, StoreBusy, StoreUnavailable
from tenure.kernel.points import point
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
from tenure.testing.conformance.requests import publication
from tenure.testing.faults import Faults, Planted, install_from_environment
from tenure.testing.wire import Wire
from tests.waiting import until


def test_a_fault_happens_once_and_at_its_point():
    happened = []
    with Faults() as faults:
        faults.at("here", lambda: happened.append("first"))
        faults.at("here", lambda: happened.append("second"))
        point("there")
        assert happened == []
        for _ in range(3):
            point("here")
    assert happened == ["first", "second"]
    assert faults.passed == {"here": 3, "there": 1}


def test_nothing_happens_after_the_block():
    with Faults() as faults:
        faults.crash("here")
    point("here")


def test_a_later_arrival_can_be_chosen():
    with Faults() as faults:
        faults.skip("here", 2)
        faults.crash("here")
        point("here")
        point("here")
        with pytest.raises(Planted):
            point("here")


def test_a_pause_holds_one_thread_until_it_is_resumed():
    trail = []
    with Faults() as faults:
        pause = faults.pause("here")

        def walk() -> None:
            point("here")
            trail.append("walked")

        thread = threading.Thread(target=walk)
        thread.start()
        pause.await_arrival()
        point("here")  # only the first is held
        trail.append("meanwhile")
        pause.resume()
        thread.join()
    assert trail == ["meanwhile", "walked"]


def test_a_pause_that_nobody_resumed_ends_with_the_block():
    with Faults() as faults:
        pause = faults.pause("here")
        thread = threading.Thread(target=lambda: point("here"))
        thread.start()
        pause.await_arrival()
    thread.join()


@pytest.mark.parametrize(
    ("action", "error"),
    [("raise", Planted), ("busy", StoreBusy), ("unavailable", StoreUnavailable)],
)
def test_the_environment_plants_errors(action, error):
    install_from_environment({"TENURE_FAULTS": f"here#2={action}"})
    point("here")
    point("there")
    with pytest.raises(error):
        point("here")
    point("here")


def test_a_fault_can_wait_for_another_moment_to_pass_first():
    install_from_environment({"TENURE_FAULTS": "enter#2>commit=raise"})
    for name in ("commit", "enter", "commit", "enter"):
        point(name)
    with pytest.raises(Planted):
        point("commit")
    point("commit")


def test_without_the_variable_nothing_is_planted():
    install_from_environment({})
    point("here")


@pytest.mark.parametrize(
    "value", ["here", "here=", "here=explode", "here=kill+explode", "here#x=kill"]
)
def test_a_variable_that_says_nothing_is_refused(value):
    with pytest.raises(ValueError, match="TENURE_FAULTS"):
        install_from_environment({"TENURE_FAULTS": value})


VICTIM = """
from tenure.kernel.points import point
from tenure.testing.faults import install_from_environment
install_from_environment()
point("here")
print("survived", flush=True)
"""


def victim(monkeypatch, faults: str) -> subprocess.Popen[bytes]:
    monkeypatch.setenv("TENURE_FAULTS", faults)
    return subprocess.Popen([sys.executable, "-c", VICTIM], stdout=subprocess.PIPE)


@pytest.mark.parametrize(("action", "status"), [("kill", -signal.SIGKILL), ("exit:7", 7)])
def test_the_environment_ends_a_process(monkeypatch, action, status):
    process = victim(monkeypatch, f"here={action}")
    output, _ = process.communicate()
    assert (process.returncode, output) == (status, b"")


def test_the_environment_stops_a_process_until_it_is_continued(monkeypatch):
    process = victim(monkeypatch, "here=stop")

    def stopped() -> bool:
        with open(f"/proc/{process.pid}/stat", "rb") as file:
            return b") T " in file.read()

    until(stopped, "it stops itself")
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate()
    assert (process.returncode, output) == (0, b"survived\n")


def test_the_environment_makes_a_process_meet_a_test(monkeypatch, tmp_path):
    arrived, go = tmp_path / "arrived", tmp_path / "go"
    process = victim(monkeypatch, f"here=signal:{arrived}+wait:{go}")
    until(arrived.exists, "it arrives")
    assert process.poll() is None
    go.touch()
    output, _ = process.communicate()
    assert (process.returncode, output) == (0, b"survived\n")


def test_a_lost_call_did_not_happen_and_a_lost_answer_did():
    wire = Wire(MemoryDatabase(MemoryTables()))
    wire.lose_call()
    with pytest.raises(ReplyLost), wire.write() as tx:
        tx.claims.insert(publication("call"))
    wire.lose_answer()
    with pytest.raises(ReplyLost), wire.write() as tx:
        tx.claims.insert(publication("answer"))
    with wire.write() as tx:
        assert tx.claims.read("call") is None
        assert tx.claims.read("answer") is not None
