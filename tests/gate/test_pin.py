"""A pin changes a limit and nothing else, only ever tightens, and is written whole or not at all."""

import os

import pytest

from tenure.gate.errors import CannotTell
from tenure.gate.pin import Pin, pinned, pins, write_pins
from tenure.gate.policy_text import parse
from tenure.gate.standard import StandardRequirement, measured

POLICY = """\
# What we hold ourselves to.
[jobs.test]
run = "x"          # quick
outputs = [
    "r.json",      # the report
]

[standards.coverage]   # may only grow
from = "test"
metric = { file = "r.json", json = "n" }
limit = 87.50      # percent
direction = "up"
margin = 0.5

# Warnings go away.
[standards.warnings]
limit = 12
from = "test"
metric = { line = "warnings" }
direction = "down"
"""


def pin(name, before, after):
    return Pin(standard=name, before=before, after=after)


# ── Where the number stands ──────────────────────────────────────────────────────────────


def test_the_limits_change_and_nothing_else_does():
    wanted = [pin("coverage", "87.5", "88.125"), pin("warnings", "12", "3")]
    after = pinned("tenure.toml", POLICY.encode(), wanted).decode()
    expected = POLICY.replace("limit = 87.50 ", "limit = 88.125 ").replace(
        "limit = 12", "limit = 3"
    )
    assert after == expected


def test_a_limit_is_written_with_all_its_digits_and_not_through_a_float():
    exact = "87.46321763000000000000000000000000000001"
    after = pinned("tenure.toml", POLICY.encode(), [pin("coverage", "87.5", exact)])
    assert f"limit = {exact}      # percent\n".encode() in after


LAYOUTS = {
    "inline": "[standards]\nc = { from = 'a', metric = { line = 'n' }, limit = 1, direction = 'up' } # x\n",
    "dotted": "[standards.c]\nfrom = 'a'\nmetric.line = 'n'\ndirection = 'up'\nlimit=1# x\n",
    "dotted above": "[standards]\nc.from = 'a'\nc.metric.line = 'n'\nc.direction = 'up'\nc.limit = 1\n",
    "quoted": "[standards.'c']\nfrom = 'a'\nmetric = { line = 'n' }\ndirection = 'up'\n'limit' = 1\n",
    "windows": "[standards.c]\r\nfrom = 'a'\r\nmetric = { line = 'n' }\r\nlimit = 1 # x\r\ndirection = 'up'\r\n",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("file", ["tenure.toml", "pyproject.toml"])
def test_every_layout_keeps_its_shape(layout, file):
    text = "[jobs.a]\nrun = 'x'\n" + LAYOUTS[layout] + "# the end"
    if file == "pyproject.toml":
        text = text.replace("[jobs", "[tool.tenure.jobs").replace(
            "[standards", "[tool.tenure.standards"
        )
        text = "[project]\nname = 'x'   # x\n\n" + text
    after = pinned(file, text.encode(), [pin("c", "1", "2.5")]).decode()
    before_limit, _, rest = text.rpartition("limit")
    assert after == before_limit + "limit" + rest.replace("1", "2.5", 1)


# ── What is pinned ───────────────────────────────────────────────────────────────────────


def judged(**values):
    """A policy, and what its standards were measured to."""
    policy = parse("tenure.toml", POLICY.encode())
    found = {
        name: measured(
            StandardRequirement(name=name, standard=policy.standards[name], job="test"),
            value,
            receipt="r",
        )
        for name, value in values.items()
    }
    return policy, found


def test_what_can_be_tighter_is_pinned_a_margin_short_and_what_cannot_is_left():
    assert pins(*judged(coverage="90", warnings="12")) == [pin("coverage", "87.5", "89.5")]
    assert pins(*judged(coverage="87.9", warnings="4")) == [pin("warnings", "12", "4")]
    assert pins(*judged(coverage=None)) == []
    assert pins(*judged()) == []


# ── Writing ──────────────────────────────────────────────────────────────────────────────

WANTED = [pin("coverage", "87.5", "88")]


def test_a_pin_is_written_in_place_with_the_mode_the_file_had(tmp_path):
    file = tmp_path / "tenure.toml"
    file.write_text(POLICY)
    file.chmod(0o640)
    policy, _ = judged()
    assert write_pins(str(tmp_path), policy, WANTED) == str(file)
    assert parse("tenure.toml", file.read_bytes()).standards["coverage"].limit == "88"
    assert file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["tenure.toml"]


def test_a_standard_that_was_edited_meanwhile_is_not_overwritten(tmp_path):
    file = tmp_path / "tenure.toml"
    edited = POLICY.replace("limit = 87.50", "limit = 95")
    file.write_text(edited)
    policy, _ = judged()
    with pytest.raises(CannotTell, match="edited while coverage was measured"):
        write_pins(str(tmp_path), policy, WANTED)
    assert file.read_text() == edited


@pytest.mark.parametrize("how", ["a link", "a full disk"])
def test_what_cannot_be_written_is_left_as_it_was(tmp_path, monkeypatch, how):
    file = tmp_path / "tenure.toml"
    if how == "a link":
        (tmp_path / "real.toml").write_text(POLICY)
        file.symlink_to("real.toml")
    else:
        file.write_text(POLICY)
        monkeypatch.setattr(os, "fsync", _full)
    policy, _ = judged()
    with pytest.raises(CannotTell, match="cannot be written"):
        write_pins(str(tmp_path), policy, WANTED)
    assert file.read_text() == POLICY
    assert [name for name in os.listdir(tmp_path) if "partial" in name] == []


def _full(descriptor):
    raise OSError(28, "No space left on device")
