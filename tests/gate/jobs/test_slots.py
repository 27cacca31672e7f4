"""Places that only so many have: counted over processes, free with the last of them."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tenure.gate.inotify import CLOSED, drain, watch
from tenure.gate.jobs.slots import Busy, Holder, Slot, give_back, holders, take
from tests.waiting import until

#: Takes what its arguments name, over and over, and reports whoever else had any of it.
CONTENDER = """\
import os, sys
from tenure.gate.jobs.slots import Busy, Holder, Slot, give_back, take
root, *names = sys.argv[1:]
wanted = [Slot(directory=f"{root}/{name}", name=name, size=1) for name in names]
done = 0
while done < 40:
    had = take(wanted, Holder(run=str(os.getpid()), job="j", worktree="w"))
    if isinstance(had, Busy):
        continue
    for name in names:
        os.close(os.open(f"{root}/{name}.had", os.O_CREAT | os.O_EXCL))
    for name in names:
        os.unlink(f"{root}/{name}.had")
    give_back(had)
    done += 1
"""


def slot(root: Path, name: str = "heavy", size: int = 1) -> Slot:
    return Slot(directory=str(root / name), name=f"slot {name}", size=size)


def holder(job: str) -> Holder:
    return Holder(run=f"run-{job}", job=job, worktree=f"/trees/{job}")


def had(found: list[int] | Busy) -> list[int]:
    assert not isinstance(found, Busy), f"in the way: {found}"
    return found


def names(found: list[int] | Busy) -> list[str]:
    assert isinstance(found, Busy), "it got a place"
    return sorted(one.job for one in found.holders)


def test_as_many_have_a_place_as_there_are_and_the_next_is_told_who(tmp_path: Path) -> None:
    two = slot(tmp_path, size=2)
    first, second = had(take([two], holder("a"))), had(take([two], holder("b")))
    busy = take([two], holder("c"))
    assert names(busy) == ["a", "b"]
    assert isinstance(busy, Busy)
    assert (busy.slot, busy.limit) == (two, 2)
    assert str(busy.holders[0]) == "a of run run-a in /trees/a"
    give_back(first)
    third = had(take([two], holder("c")))
    assert sorted(one.job for one in holders(two.directory)) == ["b", "c"]
    give_back([*second, *third])
    assert holders(two.directory) == ()


@pytest.mark.parametrize(("first", "second"), [(2, 4), (4, 2)])
def test_where_sizes_differ_the_smallest_counts(tmp_path: Path, first: int, second: int) -> None:
    """Of those who have a place and of whoever wants one: none finds more beside it than it knows of."""
    taken = had(take([slot(tmp_path, size=first)], holder("a")))
    taken += had(take([slot(tmp_path, size=second)], holder("b")))
    assert names(take([slot(tmp_path, size=4)], holder("c"))) == ["a", "b"]
    assert names(take([slot(tmp_path, size=2)], holder("c"))) == ["a", "b"]
    give_back(taken)
    wide = [had(take([slot(tmp_path, size=4)], holder(name))) for name in "abcd"]
    for one in wide[:2]:  # the places 3 and 4 stay taken
        give_back(one)
    assert names(take([slot(tmp_path, size=2)], holder("e"))) == ["c", "d"]
    give_back([*wide[2], *wide[3]])


def test_all_of_it_or_nothing(tmp_path: Path) -> None:
    db, port = slot(tmp_path, "db"), slot(tmp_path, "port")
    taken = had(take([port], holder("a")))
    assert names(take([db, port], holder("b"))) == ["a"]
    assert names(take([port, db], holder("b"))) == ["a"]
    give_back(had(take([db], holder("c"))))
    give_back(taken)
    give_back(had(take([db, port], holder("b"))))


def test_those_who_want_several_in_any_order_all_get_them_and_never_together(
    tmp_path: Path,
) -> None:
    wanted = (("db", "port"), ("port", "gpu"), ("gpu", "db"), ("db",))
    contenders = [
        subprocess.Popen([sys.executable, "-c", CONTENDER, str(tmp_path), *them]) for them in wanted
    ]
    assert [one.wait(60) for one in contenders] == [0, 0, 0, 0]


def test_a_place_is_free_when_the_last_process_of_the_job_is_gone(tmp_path: Path) -> None:
    one = slot(tmp_path)
    taken = had(take([one], holder("a")))
    # Two generations: the shell that was started, and what it started.
    shell = subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], pass_fds=taken, stdout=-1)
    assert shell.stdout is not None
    child = int(shell.stdout.readline())
    give_back(taken)
    assert names(take([one], holder("b"))) == ["a"]
    shell.send_signal(signal.SIGKILL)
    shell.wait()
    shell.stdout.close()
    assert names(take([one], holder("b"))) == ["a"]
    os.kill(child, signal.SIGKILL)
    until(lambda: not holders(one.directory), "the place is free")
    give_back(had(take([one], holder("b"))))


def test_who_lets_go_wakes_those_who_wait_and_who_looks_wakes_nobody(tmp_path: Path) -> None:
    db, port = slot(tmp_path, "db"), slot(tmp_path, "port")
    taken = had(take([db], holder("a")))
    give_back(had(take([port], holder("a"))))
    watching = watch(db.directory, port.directory, events=CLOSED)
    for _ in range(3):
        assert names(take([db, port], holder("b"))) == ["a"]
        assert names(take([port, db], holder("c"))) == ["a"]
        holders(db.directory)
    assert not drain(watching)
    give_back(taken)
    assert drain(watching)
    os.close(watching)


def test_somebody_who_did_not_say_who_he_is_has_a_place_all_the_same(tmp_path: Path) -> None:
    two = slot(tmp_path, size=2)
    taken = had(take([two], holder("a")))
    os.ftruncate(taken[0], 0)
    taken += had(take([two], holder("b")))
    assert names(take([two], holder("c"))) == ["", "b"]
    assert "somebody" in [str(one) for one in holders(two.directory)]
    give_back(taken)


def test_a_link_in_place_of_a_place_is_not_followed(tmp_path: Path) -> None:
    one = slot(tmp_path)
    (tmp_path / "heavy").mkdir()
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "heavy" / "1").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic"):
        take([one], holder("a"))
    assert (tmp_path / "precious").read_text() == "kept"


def test_a_slot_is_looked_at_and_taken_with_nobody_in_between(tmp_path: Path) -> None:
    """While somebody does so, it is simply asked again a moment later."""
    one = slot(tmp_path, size=2)
    give_back(had(take([one], holder("a"))))
    guard = os.open(one.directory, os.O_RDONLY)
    fcntl.flock(guard, fcntl.LOCK_EX)
    assert names(take([one], holder("a"))) == []
    os.close(guard)
    give_back(had(take([one], holder("a"))))
