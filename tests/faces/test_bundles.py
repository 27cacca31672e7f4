"""`tenure proof export` and `tenure proof verify`, as somebody types them."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.faces.calls import FAIL, PASS, gated, job, store, tenure
from tests.gate.bundles import forged
from tests.gate.repos import clone, commit, git, write


@pytest.fixture
def proven(tmp_path: Path) -> tuple[Path, Path]:
    """A repository with a Proof, and its bundle in a file."""
    repo, file = gated(tmp_path / "repo"), tmp_path / "proof.jsonl"
    assert tenure(repo, "done").code == 0
    assert tenure(repo, "proof", "export", "-o", str(file)).code == 0
    return repo, file


# ── Export ───────────────────────────────────────────────────────────────────────────────


def test_a_bundle_is_the_same_bytes_wherever_it_is_written_to(proven):
    repo, file = proven
    data = file.read_bytes()
    assert tenure(repo, "proof", "export").out.encode() == data
    assert tenure(repo, "proof", "export", "--output", "-").out.encode() == data
    found = tenure(repo, "proof", "export", "--json").object
    assert found["bundle"].encode() == data
    assert found["proof"] == tenure(repo, "proof", "--json").object["proof"]["id"]
    told = tenure(repo, "proof", "export", found["proof"][:12], "-o", str(file), "--json").object
    assert (told["sha256"], told["bundle"], told["output"]) == (found["sha256"], None, str(file))
    assert file.read_bytes() == data
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_no_value_of_the_environment_gets_out(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "true", env=["TOKEN"]))
    env = {"TOKEN": "hunter2-is-a-secret"}
    assert tenure(repo, "done", env=env).code == 0
    out = tenure(repo, "proof", "export", env=env).out
    assert "hunter2" not in out
    assert "TOKEN" not in out
    assert str(tmp_path) not in out


def test_there_is_nothing_to_export_without_a_proof_that_stands(tmp_path):
    repo, file = gated(tmp_path / "repo"), tmp_path / "proof.jsonl"
    ending = tenure(repo, "proof", "export", "-o", str(file))
    assert (ending.code, "nothing has been recorded" in ending.err) == (2, True)
    proof = tenure(repo, "done", "--json").object["proof"]
    receipt = proof["evidence"][0]["receipt"]
    assert tenure(repo, "proof", "drop", receipt).code == 0
    ending = tenure(repo, "proof", "export", "-o", str(file))
    assert (ending.code, ending.out, ending.err.count("that stands")) == (1, "", 1)
    ending = tenure(repo, "proof", "export", proof["id"], "-o", str(file), "--json")
    assert (ending.code, ending.object["proof"]) == (1, None)
    assert not file.exists()


@pytest.mark.parametrize("name", ["missing/proof.jsonl", "here"])
def test_a_bundle_that_cannot_be_written_leaves_nothing(proven, tmp_path, name):
    repo, _ = proven
    (tmp_path / "here").mkdir()
    before = sorted(tmp_path.iterdir())
    ending = tenure(repo, "proof", "export", "-o", str(tmp_path / name))
    assert ending.code == 2
    assert "cannot be written: " in ending.err
    assert sorted(tmp_path.iterdir()) == before


# ── Verify ───────────────────────────────────────────────────────────────────────────────


def test_a_bundle_is_verified_in_another_clone_without_a_store(proven, tmp_path):
    repo, file = proven
    elsewhere = clone(repo, tmp_path / "elsewhere")
    ending = tenure(elsewhere, "proof", "verify", str(file))
    assert ending.code == 0
    assert ending.out.startswith("met: the bundle of Proof ")
    with file.open("rb") as stream:
        found = tenure(elsewhere, "proof", "verify", "-", "--json", stdin=stream).object
    assert (found["verb"], found["meaning"], found["reasons"]) == ("proof verify", "met", [])
    assert found["commit"] == git(repo, "rev-parse", "HEAD")
    assert found["bundle"]["requirements"] == ["lint"]
    assert not store(elsewhere).exists()
    assert git(elsewhere, "status", "--porcelain") == ""


def test_a_clone_that_is_too_shallow_cannot_tell(proven, tmp_path):
    repo, file = proven
    commit(repo)
    elsewhere = clone(repo, tmp_path / "elsewhere", "--depth", "1")
    ending = tenure(elsewhere, "proof", "verify", str(file))
    assert (ending.code, "git fetch --deepen" in ending.err) == (3, True)


def test_a_changed_bundle_is_refused_naming_what_was_changed(proven):
    repo, file = proven
    data = file.read_bytes()
    for at, part in ((40, "the header"), (200, "the summary"), (-100, "the seal")):
        flipped = bytearray(data)
        flipped[at] ^= 1
        file.write_bytes(bytes(flipped))
        found = tenure(repo, "proof", "verify", str(file), "--json").object
        assert (found["exit_code"], found["meaning"]) == (1, "not met")
        assert [(each["kind"], each["name"]) for each in found["reasons"]] == [("changed", part)]
        assert tenure(repo, "proof", "verify", str(file)).out.splitlines()[-1].endswith(f"({part})")


def test_a_commit_that_is_not_proven_is_told_with_every_reason(proven):
    repo, file = proven
    asked = commit(repo, {"a.txt": "edited\n"})
    ending = tenure(repo, "proof", "verify", str(file))
    assert (ending.code, ending.out.splitlines()[-1]) == (1, f"not met: {asked[:12]} (tree)")
    assert tenure(repo, "proof", "verify", str(file), "--commit", "HEAD~").code == 0


def test_a_dirty_tree_is_no_matter_for_a_commit(proven):
    repo, file = proven
    write(repo, {"a.txt": "edited\n"})
    assert tenure(repo, "proof", "verify", str(file)).code == 0


def test_the_cheat_is_refused_by_a_plain_verify(tmp_path):
    repo, file = gated(tmp_path / "repo", FAIL), tmp_path / "proof.jsonl"
    git(repo, "switch", "-q", "-c", "cheat")
    commit(repo, {"tenure.toml": PASS})
    assert tenure(repo, "done", "--accept-policy-change", "lint").code == 0
    assert tenure(repo, "proof", "export", "-o", str(file)).code == 0
    found = tenure(repo, "proof", "verify", str(file), "--json").object
    assert (found["exit_code"], [each["name"] for each in found["reasons"]]) == (1, ["lint"])
    told = ("proof", "verify", str(file), "--accept-policy-change")
    assert tenure(repo, *told, "lint").code == 0
    ending = tenure(repo, *told, "lint", "--accept-policy-change", "more")
    assert (ending.code, "it records: lint" in ending.err) == (2, True)


def test_a_bundle_is_stale_once_the_base_moved(proven):
    repo, file = proven
    git(repo, "branch", "other")
    git(repo, "switch", "-q", "-c", "work")
    commit(repo, {"b.txt": "b\n"})
    assert tenure(repo, "done").code == 0
    assert tenure(repo, "proof", "export", "-o", str(file)).code == 0
    assert tenure(repo, "proof", "verify", str(file), "--onto", "main").code == 0
    git(repo, "switch", "-q", "main")
    commit(repo, {"c.txt": "c\n"})
    git(repo, "switch", "-q", "work")
    found = tenure(repo, "proof", "verify", str(file), "--onto", "main", "--json").object
    assert (found["exit_code"], [each["kind"] for each in found["reasons"]]) == (1, ["stale"])
    git(repo, "merge", "-q", "--no-ff", "-m", "Merge", "main")
    assert git(repo, "rev-parse", "HEAD^{tree}") == found["merged"]


def test_a_newer_format_is_neither_met_nor_not_met(proven):
    repo, file = proven
    file.write_bytes(forged(file.read_bytes(), 0, lambda it: it.update(version=2)))
    ending = tenure(repo, "proof", "verify", str(file))
    assert (ending.code, "newer" in ending.err) == (3, True)


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_cannot_be_read_is_a_usage_error(proven, name):
    repo, _ = proven
    ending = tenure(repo, "proof", "verify", name, "--json")
    assert (ending.code, ending.object["error"]["kind"]) == (2, "UsageError")


def test_a_file_without_an_end_is_not_read_to_its_end(proven):
    repo, _ = proven
    ending = tenure(repo, "proof", "verify", "/dev/zero")
    assert (ending.code, "the file" in ending.out) == (1, True)


def test_what_is_written_is_one_json_object_a_line(proven):
    _, file = proven
    kinds = [json.loads(line).get("predicateType") for line in file.read_text().splitlines()]
    assert [kind and kind.rpartition("/attestation/")[2] for kind in kinds] == [
        None,
        "svr/v0.2",
        "test-result/v0.1",
        None,
    ]
    assert os.path.getsize(file) < 5_000


def test_what_was_changed_is_said_once(proven):
    repo, file = proven
    data = bytearray(file.read_bytes())
    data[200] ^= 1
    file.write_bytes(bytes(data))
    first = tenure(repo, "proof", "verify", str(file)).out.splitlines()[0]
    assert first == "the bundle was changed: the summary: its digest is not the one sealed"
    file.write_bytes(b"none\n")
    lines = tenure(repo, "proof", "verify", str(file)).out.splitlines()
    assert lines[0] == "this is no bundle that `tenure proof export` wrote"
    assert lines[1].endswith("(the file)")
