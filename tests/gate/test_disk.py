"""The files beside a store: removed once no record names them, and never while one does."""

import fcntl
import os
from pathlib import Path

import pytest

from tenure.gate.captured import Captured
from tenure.gate.clearing import Named
from tenure.gate.disk import Removed, Usage, clear_locks, clear_outputs, clear_runs, usage
from tenure.gate.place import Place
from tenure.testing.faults import Faults, Planted

BEFORE = 1_000_000_000_000_000_000
OLD = BEFORE // 10**9 - 100

NOTHING = Named(outputs=frozenset(), runs=frozenset(), locks=frozenset(), since_ns=None)
LOCK = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(str(tmp_path))
    for directory in (place.runs, place.outputs, place.locks):
        os.makedirs(directory)
    return place


def put(path: str, text: str = "12345", *, at: int = OLD) -> Path:
    """A file that was last changed at a moment, in seconds."""
    file = Path(path)
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    os.utime(file, (at, at))
    os.utime(file.parent, (at, at))
    return file


def named(*outputs: str, since_ns: int | None = None) -> Named:
    return Named(outputs=frozenset(outputs), runs=frozenset(), locks=frozenset(), since_ns=since_ns)


# ── Outputs ──────────────────────────────────────────────────────────────────────────────


def test_an_old_output_that_no_receipt_names_goes(place: Place) -> None:
    for name in ("aa", "bb", ".17.partial"):
        put(f"{place.outputs}/{name}")
    young = put(f"{place.outputs}/cc", at=BEFORE // 10**9 + 1)
    assert clear_outputs(place, named("aa"), BEFORE, dry=True) == Removed(count=2, size=10)
    assert len(os.listdir(place.outputs)) == 4
    assert clear_outputs(place, named("aa"), BEFORE, dry=False) == Removed(count=2, size=10)
    assert sorted(os.listdir(place.outputs)) == ["aa", "cc"]
    assert young.exists()


def test_an_output_of_a_run_that_is_at_work_stays(place: Place) -> None:
    """It is captured before the receipt that names it is recorded."""
    put(f"{place.outputs}/aa")
    since = (OLD - 1) * 10**9
    assert clear_outputs(place, named(since_ns=since), BEFORE, dry=False) == Removed()
    assert clear_outputs(place, named(since_ns=BEFORE), BEFORE, dry=False).count == 1


def test_an_output_that_is_captured_again_at_that_moment_stays(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "report").write_text("12345")
    captured = Captured(place.outputs, str(tmp_path))
    (output,) = captured.capture(["report"])
    os.utime(f"{place.outputs}/{output.digest}", (OLD, OLD))

    def again() -> None:
        captured.capture(["report"])

    with Faults() as faults:
        faults.at("gc.output", again)
        clear_outputs(place, NOTHING, BEFORE, dry=False)
    assert captured.intact([output])
    assert os.listdir(place.outputs) == [output.digest]


def test_an_output_moved_aside_that_turns_out_to_be_young_is_put_back(place: Place) -> None:
    file = put(f"{place.outputs}/aa")
    aside = f"{place.outputs}/.cleared.aa"

    def touched() -> None:
        os.utime(aside, (BEFORE // 10**9 + 1,) * 2)

    with Faults() as faults:
        faults.at("gc.output", touched)
        assert clear_outputs(place, NOTHING, BEFORE, dry=False) == Removed()
    assert file.exists()
    assert os.listdir(place.outputs) == ["aa"]


@pytest.mark.parametrize("needed", [False, True])
def test_whoever_is_killed_with_an_output_in_hand_is_cleaned_up_after(
    place: Place, needed: bool
) -> None:
    put(f"{place.outputs}/aa")
    with Faults() as faults:
        faults.crash("gc.output")
        with pytest.raises(Planted):
            clear_outputs(place, NOTHING, BEFORE, dry=False)
    assert os.listdir(place.outputs) == [".cleared.aa"]
    found = clear_outputs(place, named("aa") if needed else NOTHING, BEFORE, dry=False)
    assert (found.count, os.listdir(place.outputs)) == ((0, ["aa"]) if needed else (1, []))


# ── Runs ─────────────────────────────────────────────────────────────────────────────────


def test_the_directory_of_a_removed_run_goes_and_so_does_an_old_one_of_no_run(
    place: Place,
) -> None:
    for run in ("known", "gone", "orphan"):
        put(f"{place.runs}/{run}/log")
        put(f"{place.runs}/{run}/out/deep")
        os.utime(f"{place.runs}/{run}", (OLD, OLD))
    put(f"{place.runs}/starting/log", at=BEFORE // 10**9 + 1)
    records = Named(
        outputs=frozenset(), runs=frozenset({"known", "gone"}), locks=frozenset(), since_ns=None
    )
    assert clear_runs(place, records, ["gone"], BEFORE, dry=True) == Removed(count=2, size=20)
    assert clear_runs(place, records, ["gone"], BEFORE, dry=False) == Removed(count=2, size=20)
    assert sorted(os.listdir(place.runs)) == ["known", "starting"]


# ── Locks ────────────────────────────────────────────────────────────────────────────────


def test_a_lock_goes_once_its_attempt_is_finished_and_nobody_holds_it(place: Place) -> None:
    file = put(place.lock(LOCK), "")
    hold = put(f"{place.hold('db')}/1", "")
    young = put(place.lock(LOCK[::-1]), "", at=BEFORE // 10**9 + 1)
    unfinished = Named(
        outputs=frozenset(), runs=frozenset(), locks=frozenset({LOCK}), since_ns=None
    )
    assert clear_locks(place, unfinished, BEFORE, dry=False) == Removed()
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert clear_locks(place, NOTHING, BEFORE, dry=False) == Removed()
    assert clear_locks(place, NOTHING, BEFORE, dry=True) == Removed(count=1)
    assert clear_locks(place, NOTHING, BEFORE, dry=False) == Removed(count=1)
    assert not file.exists()
    assert hold.exists(), "a hold is no run lock"
    assert young.exists()


# ── What it all takes ────────────────────────────────────────────────────────────────────


def test_what_a_store_takes_is_told_by_kind(place: Place) -> None:
    put(place.database, "1")
    put(f"{place.database}-wal", "12")
    put(f"{place.runs}/run/log", "123")
    put(f"{place.outputs}/aa", "1234")
    put(place.lock(LOCK), "12345")
    put(place.holder("w1"), "123456")
    os.symlink("/", f"{place.runs}/link")
    assert usage(place) == Usage(
        database=3, runs=3 + os.lstat(f"{place.runs}/link").st_size, outputs=4, locks=5, other=6
    )


def test_a_store_that_is_not_there_takes_nothing(tmp_path: Path) -> None:
    place = Place(str(tmp_path / "nowhere"))
    assert usage(place) == Usage()
    assert clear_runs(place, NOTHING, [], BEFORE, dry=False) == Removed()
