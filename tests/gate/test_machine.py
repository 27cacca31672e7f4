"""Where all repositories of one user meet: the same place for everybody, and nobody else's."""

import os
import stat
from pathlib import Path

import pytest

from tenure.gate import machine
from tenure.gate.errors import CannotTell, UsageError
from tenure.gate.machine import slots_directory

OTHER_USER = 12345


def usual(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    monkeypatch.setattr(machine, "_usual", lambda: [str(path) for path in paths])


def test_the_usual_place_does_not_depend_on_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    before = machine._usual()
    for name in ("TMPDIR", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "USER"):
        monkeypatch.setenv(name, "/elsewhere")
    assert machine._usual() == before
    assert before[0] == f"/tmp/tenure-{os.geteuid()}"


def test_it_is_made_for_its_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual(monkeypatch, tmp_path / "ours")
    assert slots_directory({}) == str(tmp_path / "ours")
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == 0o700
    (tmp_path / "ours").chmod(0o777)
    assert slots_directory({}) == str(tmp_path / "ours")
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == 0o700


def test_another_users_directory_and_a_link_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, link, ours = tmp_path / "theirs", tmp_path / "link", tmp_path / "ours"
    theirs.mkdir()
    link.symlink_to(tmp_path)
    if os.geteuid() == 0:
        os.chown(theirs, OTHER_USER, OTHER_USER)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)
        usual(monkeypatch, theirs)
        with pytest.raises(CannotTell, match="another user's"):
            slots_directory({})
        monkeypatch.undo()
    usual(monkeypatch, link, ours)
    assert slots_directory({}) == str(ours)
    usual(monkeypatch, theirs, link)
    if os.geteuid() == 0:
        with pytest.raises(CannotTell, match=r"another user's.*link") as caught:
            slots_directory({})
        assert "TENURE_SLOTS" in caught.value.fields["next"]


def test_a_chosen_place_is_taken_as_it_is_or_refused(tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    assert slots_directory({"TENURE_SLOTS": str(chosen)}) == str(chosen)
    chosen.chmod(0o755)
    assert slots_directory({"TENURE_SLOTS": str(chosen)}) == str(chosen)
    assert stat.S_IMODE(chosen.stat().st_mode) == 0o755
    chosen.chmod(0o777)
    with pytest.raises(CannotTell, match="other users may write it"):
        slots_directory({"TENURE_SLOTS": str(chosen)})
    with pytest.raises(UsageError, match="no absolute path"):
        slots_directory({"TENURE_SLOTS": "slots"})
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotTell, match="file"):
        slots_directory({"TENURE_SLOTS": str(tmp_path / "file")})
