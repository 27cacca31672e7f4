"""Readings: of one boot, of the host, and the same in every namespace."""

import subprocess
import sys

import msgspec
import pytest

from tenure.kernel.clock import Instant, SystemClock
from tenure.testing.clock import VirtualClock

SECOND = 1_000_000_000

READ = """
import sys, msgspec
from tenure.kernel.clock import SystemClock
sys.stdout.write(msgspec.json.encode(SystemClock().now()).decode())
"""


def reading_of(*wrapper: str) -> Instant:
    done = subprocess.run(
        [*wrapper, sys.executable, "-c", READ], capture_output=True, check=True, text=True
    )
    return msgspec.json.decode(done.stdout, type=Instant)


def test_readings_never_move_back():
    clock = SystemClock()
    readings = [clock.now() for _ in range(1000)]
    assert readings == sorted(readings, key=lambda one: (one.boot_ns, one.awake_ns))
    assert len({one.boot for one in readings}) == 1
    assert clock.monotonic() <= clock.monotonic()


def test_two_processes_read_the_same_clock():
    before = SystemClock().now()
    between = reading_of()
    after = SystemClock().now()
    assert before.boot == between.boot == after.boot
    assert before.boot_ns < between.boot_ns < after.boot_ns
    assert before.awake_ns < between.awake_ns < after.awake_ns


def test_a_time_namespace_does_not_move_the_clock():
    unshare = ("unshare", "--time", "--boottime", "86400", "--monotonic", "172800", "--fork")
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may not create time namespaces")
    before = SystemClock().now()
    between = reading_of(*unshare)
    after = SystemClock().now()
    assert before.boot_ns < between.boot_ns < after.boot_ns
    assert before.awake_ns < between.awake_ns < after.awake_ns


def test_readings_of_different_boots_are_not_of_one_boot():
    here = SystemClock().now()
    assert here.same_boot(msgspec.structs.replace(here, boot_ns=0))
    assert not here.same_boot(msgspec.structs.replace(here, boot="another"))


def test_a_virtual_clock_stands_still_until_it_is_moved():
    clock = VirtualClock()
    start = clock.now()
    assert clock.now() == start
    clock.advance(10)
    clock.suspend(100)
    clock.step_wall(-1000)
    moved = clock.now()
    assert moved.boot == start.boot
    assert moved.boot_ns - start.boot_ns == 110 * SECOND
    assert moved.awake_ns - start.awake_ns == 10 * SECOND
    assert moved.wall_ns - start.wall_ns == -890 * SECOND
    clock.reboot(5)
    assert clock.now().boot != start.boot
    assert (clock.now().boot_ns, clock.now().awake_ns) == (5 * SECOND, 5 * SECOND)
