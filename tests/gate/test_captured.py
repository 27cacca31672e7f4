"""Captured outputs: kept by content, put back as they were or not at all."""

import os
from pathlib import Path

import msgspec
import pytest

from tenure.gate.captured import Captured, CaptureLost, OutputMissing


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    top.mkdir()
    return top


@pytest.fixture
def captured(tmp_path: Path, top: Path) -> Captured:
    return Captured(str(tmp_path / "kept"), str(top))


def test_a_directory_stands_for_every_file_in_it(captured: Captured, top: Path) -> None:
    (top / "out" / "deep").mkdir(parents=True)
    (top / "out" / "a").write_bytes(b"a")
    (top / "out" / "deep" / "tool").write_bytes(b"tool")
    (top / "out" / "deep" / "tool").chmod(0o755)
    outputs = captured.capture(["out"])
    assert [(o.path, o.size, o.executable) for o in outputs] == [
        ("out/a", 1, False),
        ("out/deep/tool", 4, True),
    ]
    captured.clear(["out"])
    assert not (top / "out").exists()
    captured.restore(outputs)
    assert (top / "out" / "a").read_bytes() == b"a"
    assert os.access(top / "out" / "deep" / "tool", os.X_OK)


def test_an_output_that_was_not_written_is_missing_by_name(captured: Captured) -> None:
    with pytest.raises(OutputMissing, match=r"r\.xml was not written"):
        captured.capture(["r.xml"])


def test_a_link_is_no_output(captured: Captured, top: Path, tmp_path: Path) -> None:
    """What it leads to belongs to somebody else, and may be anything."""
    (tmp_path / "secret").write_bytes(b"secret")
    (top / "r.xml").symlink_to(tmp_path / "secret")
    with pytest.raises(OutputMissing, match="symbolic link"):
        captured.capture(["r.xml"])


def test_a_link_inside_a_directory_is_kept_as_a_link(
    captured: Captured, top: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (top / "out").mkdir()
    (top / "out" / "link").symlink_to(tmp_path / "secret")
    (output,) = captured.capture(["out"])
    assert (output.path, output.link) == ("out/link", str(tmp_path / "secret"))
    assert not (tmp_path / "kept").exists(), "nothing of what it leads to is kept"
    captured.clear(["out"])
    captured.restore([output])
    assert (top / "out" / "link").readlink() == tmp_path / "secret"


def test_clearing_a_link_leaves_what_it_leads_to(
    captured: Captured, top: Path, tmp_path: Path
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "kept").touch()
    (top / "out").symlink_to(tmp_path / "theirs")
    captured.clear(["out"])
    assert not os.path.lexists(top / "out")
    assert (tmp_path / "theirs" / "kept").exists()


@pytest.mark.parametrize("damage", ["cut", "gone", "other"])
def test_what_is_not_as_it_was_captured_is_never_put_back(
    captured: Captured, top: Path, tmp_path: Path, damage: str
) -> None:
    (top / "r.xml").write_bytes(b"report")
    outputs = captured.capture(["r.xml"])
    assert captured.intact(outputs)
    (kept,) = (tmp_path / "kept").iterdir()
    if damage == "gone":
        kept.unlink()
    else:
        kept.write_bytes(b"rep" if damage == "cut" else b"forged")
    captured.clear(["r.xml"])
    assert not captured.intact(outputs)
    with pytest.raises(CaptureLost):
        captured.restore(outputs)
    assert list(top.iterdir()) == [], "nothing is left half done"


def test_what_is_in_place_already_is_not_touched(captured: Captured, top: Path) -> None:
    (top / "r.xml").write_bytes(b"report")
    outputs = captured.capture(["r.xml"])
    before = (top / "r.xml").stat()
    captured.restore(outputs)
    assert (top / "r.xml").stat() == before


def test_two_outputs_of_one_content_are_kept_once(
    captured: Captured, top: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (top / name).write_bytes(b"same")
    one, other = captured.capture(["a", "b"])
    assert msgspec.structs.replace(one, path="b") == other
    assert len(list((tmp_path / "kept").iterdir())) == 1
