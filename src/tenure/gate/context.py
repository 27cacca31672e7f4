"""The identity of the toolchain a job runs with, without saying where it lies.

Content and versions count; paths and times do not, so that twelve worktrees, each with its own
virtual environment, have one identity. Beside the identity stands what it was read from, so that
the next caller can see with a few stats that nothing changed.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from tenure.gate.digest import content_hash, digest
from tenure.gate.distributions import (
    Environment,
    is_python,
    names_and_versions,
    of_interpreter,
    of_virtual,
)
from tenure.gate.errors import CannotTell
from tenure.gate.fingerprint import Stat, stat_of
from tenure.gate.shebang import HEAD_BYTES, read_shebang

#: path and what is digested of it, device, inode, size, mtime_ns, ctime_ns
FileKey = tuple[str, int, int, int, int, int]

#: Read at the top of the repository, by content.
LOCK_FILES = (
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pylock.toml",
    "Pipfile.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "Cargo.lock",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
)

ABSENT = "absent"

_SCRIPT_DEPTH = 5  # the kernel follows no more interpreters that are scripts themselves
_CHUNK = 1 << 20


class DigestMemo(Protocol):
    """Remembers the digest of a file by its path and stat. Forgetting is allowed, lying is not."""

    def get(self, key: FileKey, /) -> str | None:
        """The digest put under `key`, None if it is not known."""

    def put(self, key: FileKey, digest: str, /) -> object:
        """Remember `digest` under `key`."""


def _environment_key(value: str) -> FileKey:
    """Under which the names and versions of an environment are remembered, by their digest."""
    return (f"environment {value}", 0, 0, 0, 0, 0)


def environment_change(memo: DigestMemo, then: str, now: str) -> tuple[str, ...]:
    """What differs between two environments, given their digests; empty where one is forgotten."""
    told = [memo.get(_environment_key(value)) for value in (then, now)]
    if None in told:
        return ()
    before, after = (dict(_named(line) for line in (text or "").splitlines()) for text in told)
    return tuple(
        f"{name} {before.get(name, 'absent')} → {after.get(name, 'absent')}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )


def _named(distribution: str) -> tuple[str, str]:
    name, _, version = distribution.partition("==")
    return name, version


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """`parts` is the identity, by name. `watched` is what it holds for: path, and stat or absence."""

    parts: dict[str, str]
    watched: tuple[tuple[str, Stat], ...]


class Toolchain:
    """Reads contexts of jobs of one checkout, each file and environment once."""

    def __init__(self, top: str, memo: DigestMemo) -> None:
        self._top = top
        self._memo = memo
        self._dists: dict[tuple[str, ...], str] = {}

    def context(
        self, commands: Sequence[Sequence[str]], env: Mapping[str, str], cwd: str
    ) -> Context:
        """The context of a job: its command first, then the commands of its `context` key.

        Programs are found as the job itself would find them: on the PATH of `env`, relative to
        `cwd`. What cannot be found is part of the identity too. Nothing is executed.

        `watched` was looked at before any content was read: if `still_holds` is true of it
        afterwards, the parts are true of one moment.

        Raises: CannotTell for a program that may be run but not read.
        """
        look = _Look(self, env, cwd)
        for command in commands:
            if command:
                look.program(command[0], "exec")
        if env.get("VIRTUAL_ENV"):
            look.distributions("VIRTUAL_ENV", of_virtual(env["VIRTUAL_ENV"], env))
        look.distributions(".venv", of_virtual(os.path.join(self._top, ".venv"), env))
        self._locks(look)
        look.parts["platform"] = platform_identity()
        return Context(parts=look.parts, watched=tuple(look.watched.items()))

    def label(self, name: str) -> str:
        """`name` without the place of this checkout or machine in it."""
        if not os.path.isabs(name):
            return name
        inside = os.path.relpath(name, self._top)
        return os.path.basename(name) if inside.startswith("..") else inside

    def file_digest(self, path: str, seen: Stat, body: int) -> str:
        """The digest of the file's content from byte `body` on, remembered by its stat."""
        assert seen is not None
        key: FileKey = (f"{path}@{body}", *seen)
        known = self._memo.get(key)
        if known is not None:
            return known
        found = _hashed(path, body)
        if stat_of(path) == seen:
            self._memo.put(key, found)
        return found

    def dists_digest(self, sites: Sequence[str]) -> str:
        """The digest of the names and versions installed in `sites`."""
        key = tuple(sites)
        if key not in self._dists:
            found = names_and_versions(sites)
            value = self._dists[key] = digest("distributions", found)
            self._memo.put(_environment_key(value), "\n".join(found))
        return self._dists[key]

    def _locks(self, look: "_Look") -> None:
        try:
            requirements = [
                name
                for name in os.listdir(self._top)
                if name.startswith("requirements") and name.endswith(".txt")
            ]
        except OSError:
            requirements = []
        for name in (*LOCK_FILES, *sorted(requirements)):
            path = os.path.join(self._top, name)
            seen = look.watch(path)
            if seen is not None and os.path.isfile(path):
                look.parts[f"lock:{name}"] = self.file_digest(path, seen, 0)


class _Look:
    """One context being read."""

    def __init__(self, toolchain: Toolchain, env: Mapping[str, str], cwd: str) -> None:
        self.parts: dict[str, str] = {}
        self.watched: dict[str, Stat] = {}
        self._toolchain = toolchain
        self._env = env
        self._cwd = cwd

    def watch(self, path: str) -> Stat:
        if path not in self.watched:
            self.watched[path] = stat_of(path)
        return self.watched[path]

    def program(self, name: str, role: str, depth: int = 0) -> None:
        """Add the program `name` and, if it is a script, what runs it."""
        label = self._toolchain.label(name) if role == "exec" else os.path.basename(name)
        path = self._resolve(name)
        if path is None:
            self._put(f"{role}:{label}", ABSENT)
            return
        head = _head(path)
        shebang = read_shebang(head, path)
        seen = self.watch(path)
        if seen is None:  # gone since it was found
            self._put(f"{role}:{label}", ABSENT)
            return
        body = shebang.body if shebang else 0
        self._put(f"{role}:{label}", self._toolchain.file_digest(path, seen, body))
        if shebang and shebang.name and depth < _SCRIPT_DEPTH:
            self.program(shebang.name, "interpreter", depth + 1)
        elif is_python(path):
            self._library(path)
            self.distributions(os.path.basename(path), of_interpreter(path, self._env))

    def distributions(self, name: str, found: Environment) -> None:
        """Add what an environment offers, unless another one offers exactly that."""
        for path, seen in found.watched.items():
            self.watched.setdefault(path, seen)
        if not found.sites:
            return
        value = self._toolchain.dists_digest(found.sites)
        offered = [part for label, part in self.parts.items() if label.startswith("dists:")]
        if value not in offered:
            self._put(f"dists:{name}", value)

    def _library(self, python: str) -> None:
        """Add the library in which a small interpreter keeps its substance."""
        lib = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(python))), "lib")
        try:
            names = sorted(
                n for n in os.listdir(lib) if n.startswith("libpython3.") and ".so." in n
            )
        except OSError:
            return
        for name in names:
            seen = self.watch(os.path.join(lib, name))
            if seen is not None:
                self._put(
                    f"library:{name}", self._toolchain.file_digest(os.path.join(lib, name), seen, 0)
                )

    def _resolve(self, name: str) -> str | None:
        """The file that would be executed. The places where it is not are watched as well."""
        if not name:
            return None
        if "/" in name:
            candidates = [os.path.join(self._cwd, name)]
        else:
            folders = self._env.get("PATH", os.defpath).split(os.pathsep)
            candidates = [os.path.join(self._cwd, folder, name) for folder in folders]
        for path in candidates:
            if self.watch(path) is not None and _runnable(path):
                return path
        return None

    def _put(self, name: str, value: str) -> None:
        while self.parts.get(name, value) != value:
            name += "+"
        self.parts[name] = value


def platform_identity() -> str:
    """Operating system, architecture and C library."""
    system = os.uname()
    return f"{system.sysname} {system.machine} {_libc()}"


def _libc() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
    except (ValueError, OSError, AttributeError):
        pass
    try:
        musl = sorted(name for name in os.listdir("/lib") if name.startswith("ld-musl-"))
    except OSError:
        musl = []
    return "musl" if musl else "unknown"


def _runnable(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from error


def _hashed(path: str, body: int) -> str:
    hasher = content_hash()
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(body)
            while piece := file.read(_CHUNK):
                hasher.update(piece)
    except OSError as error:
        raise _unreadable(path, error) from error
    return hasher.hexdigest()


def _unreadable(path: str, error: OSError) -> CannotTell:
    return CannotTell(
        what=f"{path} cannot be read ({error.strerror}), and its content is part of what a job is",
        next="make it readable, or run the job through a program that is",
    )
