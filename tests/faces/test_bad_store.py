"""A store that cannot be read or written is named and left as it is; nothing is lost with it."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import apsw
import pytest

from tenure.gate.errors import PlatformError
from tenure.gate.place import Place
from tenure.kernel import mounts
from tests.faces.calls import (
    FAIL,
    PASS,
    TENURE,
    Ending,
    at_rest,
    ended,
    environment,
    failures,
    gated,
    job,
    rows,
    store,
    tenure,
)
from tests.gate.repos import commit, git, worktree

VERBS = ("done", "status", "runs", "proof", "follow", "cancel", "recover", "doctor")

MOUNTS = pytest.mark.skipif(
    os.geteuid() != 0
    or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0,
    reason="mounting needs root and a mount namespace of one's own",
)


def mounted(cwd: Path, mounting: str, *args: str, after: str = "true") -> Ending:
    """`tenure args…` in a mount namespace in which the shell did `mounting` first."""
    script = f'set -e; {mounting}; set +e; "$0" "$@"; code=$?; {after}; exit $code'
    call = subprocess.Popen(
        ["unshare", "-m", "--propagation=private", "sh", "-c", script, TENURE, *args],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    return ended(call, *args)


def contents(place: Path) -> dict[str, str]:
    """Every file below `place` with a digest of its content."""
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


# ── Not a store any more ─────────────────────────────────────────────────────────────────


def _truncated(database: Path) -> None:
    os.truncate(database, 5000)


def _emptied(database: Path) -> None:
    os.truncate(database, 0)


def _zeroed(database: Path) -> None:
    database.write_bytes(bytes(database.stat().st_size))


def _garbage(database: Path) -> None:
    database.write_bytes(b"this is no database " * 1000)


def _foreign(database: Path) -> None:
    database.unlink()
    connection = apsw.Connection(str(database))
    connection.execute("create table note (text)").fetchall()
    connection.close()


def _newer(database: Path) -> None:
    connection = apsw.Connection(str(database))
    for (table,) in connection.execute("select name from sqlite_schema where type = 'table'"):
        columns = [row[1] for row in connection.execute(f"pragma table_info({table})")]
        if "line" in columns:
            number = next(name for name in columns if name != "line")
            connection.execute(f"update {table} set {number} = 99 where line = 'gate'").fetchall()
    connection.close()


DAMAGES = {
    "truncated": (_truncated, "tenure.db"),
    "empty": (_emptied, "the file is empty"),
    "zeroed": (_zeroed, "is not a Tenure store"),
    "garbage": (_garbage, "is not a Tenure store"),
    "somebody else's": (_foreign, "is not a Tenure store"),
    "newer": (_newer, "upgrade tenure"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_store_that_is_no_store_is_refused_and_never_overwritten(tmp_path, name):
    damage, words = DAMAGES[name]
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    database = at_rest(repo)
    for suffix in ("-wal", "-shm"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)
    damage(database)
    before = database.read_bytes()
    for verb in VERBS if name == "garbage" else ("done", "runs"):
        ending = tenure(repo, verb, "--json")
        assert ending.code == 3, ending
        said = ending.object.get("error", {}).get("sentence") or ending.out
        assert words in said, ending
        assert str(database) in said, ending
    ending = tenure(repo, "done")
    assert (ending.out, ending.err.count("\n")) == ("", 1), ending
    assert database.read_bytes() == before


def test_a_store_that_lost_its_file_and_kept_its_log_is_not_begun_anew(tmp_path):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    database = at_rest(repo)
    Path(f"{database}-wal").write_bytes(b"what was committed last" * 100)
    database.unlink()
    ending = tenure(repo, "done")
    assert ending.code == 3, ending
    assert "its write-ahead log is left" in ending.err
    assert not database.exists()


def test_a_record_that_cannot_be_read_is_no_empty_record(tmp_path):
    """A Proof whose text was damaged is neither a Proof nor none."""
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    rows(repo, "update proof set body = 'torn {'")
    rows(repo, "delete from memo")
    for verb in ("done", "proof", "status"):
        ending = tenure(repo, verb)
        assert ending.code == 3, ending
        assert "unreadable" in ending.err, ending


def test_a_store_that_was_deleted_is_begun_anew(tmp_path):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    at_rest(repo)
    shutil.rmtree(store(repo))
    assert tenure(repo, "done", "--json").object["proof"]["evidence"][0]["source"] == "executed"


@pytest.mark.parametrize("how", ["rm -rf .git/tenure", "mv .git/tenure .git/moved"])
def test_a_store_that_a_job_takes_away_gets_no_proof(tmp_path, how):
    """What would be settled in a file that nobody opens any more is not settled."""
    lease = '[gate]\nlease_ttl = "3s"\nrenew_interval = "1s"\n'
    repo = gated(tmp_path / "repo", job("lint", how) + lease)
    ending = tenure(repo, "done", "--json")
    assert (ending.code, ending.object["proof"]) == (3, None), ending
    commit(repo, {"tenure.toml": PASS})
    found = tenure(repo, "done", "--json", "--accept-policy-change", "lint").object
    assert found["outcome"] == "met"


def test_something_in_the_way_of_the_store_is_named(tmp_path):
    repo = gated(tmp_path / "repo")
    store(repo).write_text("a file")
    ending = tenure(repo, "done")
    assert ending.code == 3, ending
    assert f"{store(repo)} is in the way" in ending.err
    assert store(repo).read_text() == "a file"


# ── Read-only ────────────────────────────────────────────────────────────────────────────

READ_ONLY = 'mount --bind "$PWD/.git" "$PWD/.git"; mount -o remount,bind,ro "$PWD/.git"'


@MOUNTS
def test_a_read_only_common_directory_is_named_and_left_alone(tmp_path):
    repo = gated(tmp_path / "repo")
    before = contents(repo / ".git")
    ending = mounted(repo, READ_ONLY, "done")
    assert (ending.code, ending.out) == (3, ""), ending
    assert f"{repo / '.git'} cannot be written (the file system is read-only)" in ending.err
    assert "let this process write" in ending.err
    assert contents(repo / ".git") == before


@MOUNTS
def test_a_store_that_became_read_only_still_shows_what_it_has(tmp_path):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    at_rest(repo)
    before = contents(store(repo))
    assert mounted(repo, READ_ONLY, "proof").code == 0
    assert mounted(repo, READ_ONLY, "status").code == 0
    assert "passed" in mounted(repo, READ_ONLY, "runs").out
    ending = mounted(repo, READ_ONLY, "done", "--rerun")
    assert ending.code == 3, ending
    assert "read-only" in ending.err or "cannot be written" in ending.err, ending
    assert ending.err.count("\n") == 1
    assert contents(store(repo)) == before
    assert "BAD" in mounted(repo, READ_ONLY, "doctor").out


@MOUNTS
def test_a_linked_worktree_names_the_common_directory_it_cannot_write(tmp_path):
    """What a sandbox that knows only the worktree has to be given."""
    repo = gated(tmp_path / "repo")
    side = worktree(repo, tmp_path / "side", "side")
    mounting = f'mount --bind "{repo}" "{repo}"; mount -o remount,bind,ro "{repo}"'
    ending = mounted(side, mounting, "done")
    assert ending.code == 3, ending
    assert str(repo / ".git") in ending.err


# ── Elsewhere ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("nfs4", "NFS"),
        ("cifs", "SMB"),
        ("9p", "9p"),
        ("virtiofs", "virtiofs"),
        ("fuse.sshfs", "FUSE"),
    ],
)
def test_a_network_file_system_is_refused_by_name_for_new_and_old_stores(
    tmp_path, monkeypatch, kind, name
):
    """No such mount can be made here, so the kernel's table of mounts is a written one."""
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 0:1 / / rw - ext4 none rw\n2 1 0:2 / {tmp_path} rw - {kind} far:/x rw\n")
    old = Place(str(tmp_path / "old"))
    (tmp_path / "new").mkdir()
    (tmp_path / "old").mkdir()
    old.prepare()
    monkeypatch.setattr(mounts, "_MOUNTS", str(table))
    for place in (Place(str(tmp_path / "new")), old):
        with pytest.raises(PlatformError) as caught:
            place.prepare()
        assert f"is on {name}" in str(caught.value)
        assert "clone the repository to a local disk" in str(caught.value)
        assert caught.value.exit_code == 3
    assert not (tmp_path / "new" / "tenure").exists()


# ── Full ─────────────────────────────────────────────────────────────────────────────────


def small(repo: Path, size: str) -> str:
    """Mount a small file system where the store goes, and keep what is there."""
    place = store(repo)
    return (
        f'mkdir -p "{place}"; mkdir -p "{repo}.kept"; '
        f'[ -e "{place}/tenure.db" ] && cp -a "{place}/." "{repo}.kept/" || true; '
        f'mount -t tmpfs -o size={size} none "{place}"; cp -a "{repo}.kept/." "{place}/"'
    )


def keep(repo: Path) -> str:
    """Keep what the store has become after the mount is gone."""
    return f'rm -rf "{repo}.kept"; mkdir "{repo}.kept"; cp -a "{store(repo)}/." "{repo}.kept/"'


FILL = 'head -c 64M /dev/zero > "$PWD/.git/tenure/filler" 2>/dev/null || true'


@MOUNTS
def test_a_disk_that_is_full_from_the_start_is_named(tmp_path):
    repo = gated(tmp_path / "repo")
    ending = mounted(repo, f"{small(repo, '1M')}; {FILL}", "done")
    assert ending.code == 3, ending
    assert "Traceback" not in ending.err
    assert "No space left" in ending.err or "disk is full" in ending.err, ending
    assert ending.err.count("\n") == 1, ending


@MOUNTS
def test_a_disk_that_is_full_before_a_run_is_named(tmp_path):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    at_rest(repo)
    commit(repo, {"a.txt": "b\n"})
    ending = mounted(repo, f"{small(repo, '2M')}; {FILL}", "done", "--json")
    assert ending.code == 3, ending
    found = ending.object
    said = found["error"]["sentence"] if "error" in found else found["report"]["reason"]
    assert "No space left" in said or "disk is full" in said, ending


@MOUNTS
def test_a_job_that_fills_the_disk_proves_nothing_and_loses_nothing(tmp_path):
    """The store cannot be written any more; it is whole, and free space is all it needs."""
    policy = (
        job("fill", "cat /dev/zero > .git/tenure/filler; true", stage="test")
        + '[gate]\nlease_ttl = "3s"\nrenew_interval = "1s"\n'
    )
    repo = gated(tmp_path / "repo", policy)
    check = (
        f"rm -f .git/tenure/filler; {TENURE} recover >/dev/null; {TENURE} runs --json > runs.json; "
        + keep(repo)
    )
    ending = mounted(repo, small(repo, "4M"), "done", "--json", after=check)
    assert ending.code == 3, ending
    assert ending.object["proof"] is None
    database = Path(f"{repo}.kept") / "tenure.db"
    connection = apsw.Connection(str(database))
    assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    assert connection.execute("select count(*) from proof").fetchall() == [(0,)]
    connection.close()
    assert (repo / "runs.json").stat().st_size > 0


@MOUNTS
def test_a_job_whose_own_output_fills_the_disk_fails_by_its_own_exit_code(tmp_path):
    policy = (
        job("talk", "cat /dev/zero || exit 3", stage="test")
        + '[gate]\nlease_ttl = "3s"\nrenew_interval = "1s"\n'
    )
    repo = gated(tmp_path / "repo", policy)
    ending = mounted(repo, small(repo, "4M"), "done", "--json")
    assert ending.code in (1, 3), ending
    assert ending.object["proof"] is None


@MOUNTS
def test_an_output_that_does_not_fit_proves_nothing(tmp_path):
    """The job passed; there was no room to keep what it wrote."""
    policy = job("big", "mkdir -p out; head -c 16M /dev/zero > out/big", outputs=["out/big"])
    policy += job("after", "true", needs=["big"])
    repo = gated(tmp_path / "repo", policy)
    ending = mounted(repo, small(repo, "4M"), "done", "--json")
    assert ending.code == 3, ending
    assert ending.object["proof"] is None
    assert failures(ending) == [("big", "unkept"), ("after", "unrun")]
    assert "out/big could not be kept" in ending.object["report"]["failures"][0]["detail"]
    assert "No space left" in ending.object["report"]["failures"][0]["detail"]


# ── What a failed run leaves ─────────────────────────────────────────────────────────────


def test_the_repository_is_the_same_after_a_failed_run(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    git(repo, "stash", "list")
    before = contents(repo / ".git")
    assert tenure(repo, "done").code == 1
    after = {p: d for p, d in contents(repo / ".git").items() if not p.startswith("tenure/")}
    assert after == before
    assert git(repo, "status", "--porcelain") == ""


def test_a_place_that_cannot_be_written_is_told_once_and_what_to_name_instead(tmp_path):
    repo = gated(tmp_path / "repo")
    (tmp_path / "file").write_text("")
    ending = tenure(repo, "doctor", env={"TENURE_STORE": str(tmp_path / "file" / "x")})
    assert ending.code == 3
    lines = ending.out.splitlines()
    assert [line[:11] for line in lines if not line.startswith("ok ")] == [
        "BAD  store:",
        "--   policy",
    ]
    assert "not looked at, because of the store" in ending.out
