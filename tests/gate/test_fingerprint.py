"""A fingerprint shows every touch, also one that was put back."""

import os
import shutil

import pytest

from tenure.gate.fingerprint import (
    TICK_NS,
    Fingerprint,
    moved,
    settle,
    stat_of,
    still_holds,
    take,
)
from tests.gate.repos import write


@pytest.fixture
def top(tmp_path):
    write(tmp_path, {"a": "1", "d/b": "2", b"\xff\n": "3"})
    return tmp_path


PATHS = [b"a", b"d/b", b"\xff\n", b"absent"]


def settled_fingerprint(top) -> Fingerprint:
    """Taken after the clock has left the tick in which the files were made."""
    import time

    return settle(lambda: take(str(top), PATHS), time.time_ns)


def test_nothing_has_moved_if_nobody_touched_it(top):
    before = settled_fingerprint(top)
    for path in PATHS[:3]:
        (top / os.fsdecode(path)).read_bytes()
    assert moved(before) == []


def write_and_put_back(top):
    path = top / "a"
    seen = path.stat()
    path.write_text("2")
    path.write_text("1")
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def replace_with_a_copy(top):
    shutil.copy2(top / "a", top / "copy")
    (top / "copy").rename(top / "a")


def move_away_and_back(top):
    (top / "a").rename(top / "away")
    (top / "away").rename(top / "a")


def replace_with_a_link(top):
    (top / "a").rename(top / "away")
    (top / "a").symlink_to("away")


@pytest.mark.parametrize(
    "touch",
    [
        lambda top: (top / "a").write_text("longer"),
        lambda top: (top / "a").write_text("2"),
        lambda top: (top / "a").unlink(),
        lambda top: (top / "a").chmod(0o755),
        write_and_put_back,
        replace_with_a_copy,
        move_away_and_back,
        replace_with_a_link,
    ],
)
def test_every_touch_shows(top, touch):
    before = settled_fingerprint(top)
    touch(top)
    assert moved(before) == [b"a"]


def test_a_file_that_appears_or_leaves_with_its_directory_shows(top):
    before = settled_fingerprint(top)
    (top / "absent").touch()
    shutil.rmtree(top / "d")
    (top / "d").touch()
    assert moved(before) == [b"d/b", b"absent"]


def test_only_what_was_asked_for_is_looked_at(top):
    before = settled_fingerprint(top)
    (top / "a").write_text("2")
    assert moved(before, [b"d/b"]) == []
    assert moved(before, [b"d/b", b"a"]) == [b"a"]


def test_a_path_nobody_knew_has_moved_if_it_is_there(top):
    before = settled_fingerprint(top)
    (top / "new").touch()
    assert moved(before, [b"new", b"never"]) == [b"new"]


# ── Two writes within one tick ───────────────────────────────────────────────────────────


def at(ctime_ns: int) -> Fingerprint:
    return Fingerprint("/", {b"a": (ctime_ns, 1, 1, 1), b"old": (5, 1, 1, 1), b"absent": None})


def test_a_change_within_the_last_tick_is_not_settled():
    now = 10**18
    assert not at(now).settled(now)
    assert not at(now - TICK_NS).settled(now)
    assert at(now - TICK_NS - 1).settled(now)


def test_a_change_in_the_future_is_not_waited_for_and_hides_no_recent_one():
    now = 10**18
    assert at(now + 1).settled(now)
    both = Fingerprint("/", {b"f": (now + 1, 1, 1, 1), b"r": (now - 1, 1, 1, 1)})
    assert not both.settled(now)


def test_settling_takes_the_fingerprint_again_after_a_tick():
    now = 10**18
    takes = []

    def take_again():
        takes.append(at(now))
        return takes[-1]

    clock = iter([now + 1, now + TICK_NS + 1])
    assert settle(take_again, lambda: next(clock)) is takes[1]
    assert len(takes) == 2


def test_settling_does_not_wait_for_ever():
    now = 10**18
    assert settle(lambda: at(now), lambda: now).marks == at(now).marks


# ── What is watched ──────────────────────────────────────────────────────────────────────


def test_what_nobody_touched_still_holds(top):
    paths = [
        str(top / "a"),
        str(top / "d"),
        str(top / "absent"),
        os.fsdecode(os.fsencode(top) + b"/\xff\n"),
    ]
    watched = [(path, stat_of(path)) for path in paths]
    assert [stat is None for _, stat in watched] == [False, False, True, False]
    assert still_holds(watched)
    assert still_holds([])
    assert still_holds([(path, stat and list(stat)) for path, stat in watched])


@pytest.mark.parametrize(
    "touch",
    [
        lambda top: (top / "a").unlink(),
        lambda top: os.utime(top / "a", (1, 1)),
        lambda top: (top / "d/new").touch(),
        lambda top: (top / "absent").touch(),
        replace_with_a_copy,
    ],
)
def test_what_was_touched_holds_no_longer(top, touch):
    import time

    settle(lambda: take(str(top), [*PATHS, b"d"]), time.time_ns)
    watched = [(str(top / name), stat_of(str(top / name))) for name in ("a", "d", "absent")]
    touch(top)
    assert not still_holds(watched)


def test_a_link_is_watched_through_to_its_target(top):
    (top / "link").symlink_to("a")
    watched = [(str(top / "link"), stat_of(str(top / "link")))]
    (top / "link").unlink()
    (top / "link").symlink_to("d/b")
    assert not still_holds(watched)


def test_a_path_that_cannot_be_one_is_absent():
    assert stat_of("/a\0b") is None
    assert still_holds([("/a\0b", None)])
