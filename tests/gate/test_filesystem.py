"""A store lives on a local file system that can be written."""

import os
import subprocess
import sys

import pytest

from tenure.gate.errors import PlatformError, RepositoryError
from tenure.gate.filesystem import require_local, require_writable
from tenure.kernel.mounts import mount_of


def table(*rows: tuple[str, str]) -> bytes:
    """A mount table in the kernel's form."""
    return b"".join(
        b"%d 28 0:%d / %s rw,relatime shared:1 master:2 - %s source rw\n"
        % (number, number, point.encode(), kind.encode())
        for number, (point, kind) in enumerate(rows, start=30)
    )


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("nfs", "NFS"),
        ("nfs4", "NFS"),
        ("cifs", "SMB"),
        ("smb3", "SMB"),
        ("9p", "9p"),
        ("virtiofs", "virtiofs"),
        ("fuse", "FUSE"),
        ("fuse.sshfs", r"FUSE \(sshfs\)"),
        ("ceph", "CephFS"),
        ("lustre", "Lustre"),
    ],
)
def test_a_file_system_where_locks_prove_nothing_is_refused_by_name(tmp_path, kind, name):
    mounts = table(("/", "ext4"), (str(tmp_path), kind))
    with pytest.raises(PlatformError, match=rf"is on {name} \(mounted at {tmp_path}\).*; clone"):
        require_local(f"{tmp_path}/repo/.git", mounts)


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", "apfs"]
)
def test_a_local_file_system_passes(tmp_path, kind):
    require_local(str(tmp_path), table(("/", "nfs"), (str(tmp_path), kind)))


def test_the_deepest_mount_counts():
    mounts = table(("/", "nfs"), ("/nowhere", "ext4"), ("/nowhere/deep", "cifs"), ("/now", "9p"))
    assert mount_of("/nowhere/x", mounts) == ("ext4", "/nowhere")
    assert mount_of("/nowhere/deep/x", mounts) == ("cifs", "/nowhere/deep")
    assert mount_of("/nowhere", mounts) == ("ext4", "/nowhere")
    assert mount_of("/nowhere-else", mounts) == ("nfs", "/")


def test_of_two_mounts_at_one_place_the_later_counts():
    assert mount_of("/mnt/x", table(("/mnt", "ext4"), ("/mnt", "nfs"))) == ("nfs", "/mnt")


def test_a_place_with_spaces_is_found():
    mounts = table(("/", "ext4"), ("/my\\040disk\\134x", "nfs"))
    assert mount_of("/my disk\\x/repo", mounts) == ("nfs", "/my disk\\x")


def test_a_link_is_followed_before_looking(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    mounts = table(("/", "ext4"), (f"{tmp_path}/real", "nfs"))
    assert mount_of(f"{tmp_path}/link/x", mounts) == ("nfs", f"{tmp_path}/real")


@pytest.mark.parametrize("mounts", [b"", b"garbage\n", b"1 2 3\n - \n"])
def test_an_unknown_file_system_passes(mounts):
    assert mount_of("/", mounts) is None
    require_local("/", mounts)


def test_the_kernels_own_table_is_understood():
    found = mount_of("/proc/self")
    assert found == ("proc", "/proc")


def test_a_writable_place_passes_and_keeps_no_trace(tmp_path):
    before = os.stat(tmp_path).st_mtime_ns
    require_writable(str(tmp_path))
    require_writable(str(tmp_path / "not/there/yet"))
    assert os.listdir(tmp_path) == []
    assert os.stat(tmp_path).st_mtime_ns == before


def test_the_exact_path_that_needs_writing_is_named(tmp_path, monkeypatch):
    (tmp_path / "common").mkdir()
    real = os.access

    def access(path, mode):
        return real(path, mode) and not (mode & os.W_OK and path == f"{tmp_path}/common")

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(RepositoryError) as caught:
        require_writable(f"{tmp_path}/common/tenure")
    assert f"{tmp_path}/common cannot be written (permission denied)" in str(caught.value)
    assert f"let this process write {tmp_path}/common" in str(caught.value)


def test_a_sandbox_that_only_shows_at_the_write_is_found(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(RepositoryError, match="Operation not permitted"):
        require_writable(str(tmp_path))


def test_a_file_system_without_nameless_files_is_believed(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "open", unsupported)
    require_writable(str(tmp_path))


def test_a_file_in_the_way_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RepositoryError, match="file is in the way"):
        require_writable(f"{tmp_path}/file/tenure")


def test_a_read_only_mount_is_said(tmp_path):
    code = f"""
import subprocess
from tenure.gate.filesystem import require_writable
subprocess.run(["mount", "--bind", {str(tmp_path)!r}, {str(tmp_path)!r}], check=True)
subprocess.run(["mount", "-o", "remount,bind,ro", {str(tmp_path)!r}], check=True)
try:
    require_writable({str(tmp_path)!r} + "/tenure")
except Exception as error:
    print(error)
"""
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", sys.executable, "-c", code],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0 and ("unshare" in done.stderr or "mount" in done.stderr):
        pytest.skip(f"no mount namespaces here: {done.stderr.strip().splitlines()[-1]}")
    assert f"{tmp_path} cannot be written (the file system is read-only)" in done.stdout
