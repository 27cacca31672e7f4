"""Recovery retires what lapsed or died, kills only what was marked, and leaves the living alone."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from tenure.gate import recovery
from tenure.gate.processes import mark, open_marked, send
from tenure.gate.record import ProcessMark, RunRecord
from tenure.gate.stores.memory import memory_rows
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.clock import SystemClock
from tenure.kernel.liveness import State
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
from tenure.testing.conformance.backend import Backend
from tenure.testing.conformance.gate_scene import GateBackend, run_record
from tenure.testing.conformance.requests import LAPSED, TTL, bind_request
from tenure.testing.faults import Faults

BOOT = SystemClock().now().boot

Child = subprocess.Popen[bytes]


@pytest.fixture
def gate() -> Iterator[GateBackend]:
    tables = MemoryTables()
    backend = Backend(lambda busy_seconds: MemoryDatabase(tables, busy_seconds=busy_seconds))
    yield GateBackend(backend, memory_rows)
    backend.close()


@pytest.fixture
def child() -> Iterator[Child]:
    """A process that stands for a runner."""
    with _sleeping() as child:
        yield child


@contextmanager
def _sleeping() -> Iterator[Child]:
    child = subprocess.Popen(["sleep", "600"])
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def dead_mark() -> ProcessMark:
    """The mark of a process that is no more."""
    with _sleeping() as child:
        return mark(child.pid, BOOT)


def run_of(name: str, runner: ProcessMark) -> RunRecord:
    return msgspec.structs.replace(run_record(name), runner=runner, supervisor=dead_mark())


def bound(gate: GateBackend, name: str, runner: ProcessMark) -> AttemptRecord:
    record = gate.store.bind(bind_request(name), run_of(name, runner), unless_proven=False)
    assert isinstance(record, AttemptRecord)
    return record


def ended(gate: GateBackend, run: str) -> bool:
    known = gate.store.run(run)
    assert known is not None
    return known.report is not None


def alive(child: Child) -> bool:
    return child.poll() is None


def test_a_dead_owners_attempt_is_retired_and_its_run_is_ended(
    gate: GateBackend, child: Child
) -> None:
    ann = bound(gate, "ann", mark(child.pid, BOOT))
    gate.kernel.owners.becomes("gone", ann.evidence)
    (retired,) = recovery.recover(gate.store, "bob-run", BOOT)
    assert (retired.attempt.id, retired.licence.ground) == ("ann-attempt", "gone")
    assert child.wait(60) == -9, "what is left of a dead run is killed"
    after = gate.store.attempt("ann-attempt")
    assert after is not None
    assert after.retired is not None
    assert after.retired.by == "bob-run"
    assert ended(gate, "ann-run")


def test_a_silent_owner_is_retired_and_not_killed(gate: GateBackend, child: Child) -> None:
    """It finds the retirement by itself, and what it runs is ended by itself."""
    bound(gate, "ann", mark(child.pid, BOOT))
    gate.kernel.clock.advance(TTL)
    (retired,) = recovery.recover(gate.store, "bob-run", BOOT)
    assert (retired.licence.ground, retired.killed) == ("lapsed", ())
    assert alive(child)
    assert not ended(gate, "ann-run")


@pytest.mark.parametrize("state", ["running", "unknown"])
def test_an_owner_within_its_lease_that_may_be_alive_is_left_alone(
    gate: GateBackend, child: Child, state: State
) -> None:
    ann = bound(gate, "ann", mark(child.pid, BOOT))
    gate.kernel.owners.becomes(state, ann.evidence)
    assert recovery.recover(gate.store, "bob-run", BOOT) == []
    assert gate.store.attempt("ann-attempt") == ann
    assert alive(child)


def test_nobody_retires_an_attempt_of_its_own(gate: GateBackend, child: Child) -> None:
    ann = bound(gate, "ann", mark(child.pid, BOOT))
    gate.kernel.clock.advance(TTL)
    assert recovery.recover(gate.store, "ann-run", BOOT) == []
    assert gate.store.attempt("ann-attempt") == ann


def test_what_somebody_else_retired_meanwhile_is_left_to_them(
    gate: GateBackend, child: Child
) -> None:
    ann = bound(gate, "ann", mark(child.pid, BOOT))
    gate.kernel.clock.advance(TTL)

    def retire_first() -> None:
        gate.store.retire(ann, "cyd-run", LAPSED)

    with Faults() as faults:
        faults.at("recover.seen", retire_first)
        assert recovery.recover(gate.store, "bob-run", BOOT) == []


def test_a_run_that_died_before_it_bound_anything_is_ended(gate: GateBackend) -> None:
    gate.store.add_run(run_of("ann", dead_mark()))
    assert [run.id for run in recovery.stale(gate.store, BOOT)] == ["ann-run"]
    assert recovery.recover(gate.store, "bob-run", BOOT) == []
    assert ended(gate, "ann-run")


def test_a_run_of_which_somebody_lives_is_not_ended(gate: GateBackend, child: Child) -> None:
    gate.store.add_run(run_of("ann", mark(child.pid, BOOT)))
    recovery.recover(gate.store, "bob-run", BOOT)
    assert not ended(gate, "ann-run")
    assert alive(child)


def test_a_run_whose_attempt_stands_is_ended_by_a_retirement_alone(gate: GateBackend) -> None:
    """Its processes cannot be seen, and yet its owner is not proven gone."""
    ann = bound(gate, "ann", dead_mark())
    gate.kernel.owners.becomes("unknown", ann.evidence)
    assert recovery.recover(gate.store, "bob-run", BOOT) == []
    assert not ended(gate, "ann-run")


def test_a_process_that_only_has_the_pid_of_a_dead_one_is_left_alone(
    gate: GateBackend, child: Child
) -> None:
    seen = mark(child.pid, BOOT)
    reused = msgspec.structs.replace(seen, start_ticks=seen.start_ticks - 1)
    ann = bound(gate, "ann", reused)
    gate.kernel.owners.becomes("gone", ann.evidence)
    recovery.recover(gate.store, "bob-run", BOOT)
    assert ended(gate, "ann-run")
    assert alive(child)


@pytest.mark.parametrize("field", ["boot", "pid_namespace"])
def test_a_pid_of_elsewhere_says_nothing_here(child: Child, field: str) -> None:
    seen = mark(child.pid, BOOT)
    elsewhere = msgspec.structs.replace(
        seen, **{field: "another" if field == "boot" else seen.pid_namespace + 1}
    )
    assert open_marked(elsewhere, BOOT) is None
    assert send(elsewhere, BOOT, signal.SIGKILL) is False
    assert alive(child)
