"""Captured outputs: the files a job declared, kept by content beside the store.

A captured file is checked before it is relied on, so a lost or damaged one costs a run of
its job and nothing else; that is why capturing needs no flush to disk.
"""

import errno
import os
import stat
from collections.abc import Iterable, Sequence

from tenure.gate.receipt import Output
from tenure.gate.text import readable

_CHUNK = 1 << 20


class OutputMissing(Exception):
    """A declared output was not written, or is not something that can be kept."""


class CaptureFailed(Exception):
    """A declared output could not be kept, for want of room for example."""


class CaptureLost(Exception):
    """A captured file is gone from the store, is not what it was, or cannot be put back."""


class Captured:
    """The captured outputs under `directory`, for the checkout at `top`."""

    def __init__(self, directory: str, top: str) -> None:
        self._directory = directory
        self._top = top

    def clear(self, outputs: Iterable[str]) -> None:
        """Delete declared outputs from the checkout, so that a stale one cannot be captured.

        Raises:
            OSError: one cannot be deleted.
        """
        for path in outputs:
            target = self._inside(path)
            if os.path.isdir(target) and not os.path.islink(target):
                import shutil

                shutil.rmtree(target)
            elif os.path.lexists(target):
                os.unlink(target)

    def _inside(self, path: str) -> str:
        """Where `path` is, now that no folder above it is a link that leads elsewhere.

        Raises: OSError: one is; a job may have made it.
        """
        folder, _, name = path.rstrip("/").rpartition("/")
        place = os.path.join(self._top, folder) if folder else self._top
        if os.path.realpath(place) != os.path.join(os.path.realpath(self._top), folder).rstrip("/"):
            raise OSError(errno.ELOOP, f"{folder} leads elsewhere", place)
        return os.path.join(place, name)

    def capture(self, outputs: Sequence[str]) -> tuple[Output, ...]:
        """Keep a copy of each declared output; a directory stands for the files and links in it.

        Raises:
            OutputMissing: one was not written; the message names it.
            CaptureFailed: one could not be kept, which says nothing about the job.
        """
        return tuple(item for path in outputs for item in self._capture_one(path))

    def _capture_one(self, path: str) -> list[Output]:
        try:
            target = self._inside(path)
        except OSError as error:
            raise OutputMissing(f"declared output {path}: {error.strerror}") from error
        if os.path.islink(target):
            raise OutputMissing(f"declared output {path} is a symbolic link")
        if os.path.isdir(target):
            return [self._keep(found) for found in sorted(_below(self._top, path))]
        if not os.path.lexists(target):
            raise OutputMissing(f"declared output {path} was not written")
        if not os.path.isfile(target):
            raise OutputMissing(f"declared output {path} is neither a file nor a directory")
        return [self._keep(path)]

    def _keep(self, path: str) -> Output:
        source = os.path.join(self._top, path)
        link = os.readlink(source) if os.path.islink(source) else ""
        if path + link != readable(path + link):
            raise OutputMissing(f"{readable(path)}, a declared output, is not UTF-8 by name")
        if link:
            return Output(path=path, digest="", size=0, link=link)
        partial = os.path.join(self._directory, f".{os.getpid()}.partial")
        try:
            os.makedirs(self._directory, exist_ok=True)
            digest, size = _copy(source, partial)
            os.replace(partial, self._kept(digest))
        except OSError as error:
            _remove(partial)
            what = f"declared output {path} could not be kept in {self._directory}"
            raise CaptureFailed(f"{what}: {error.strerror}") from error
        return Output(path=path, digest=digest, size=size, executable=os.access(source, os.X_OK))

    def restore(self, outputs: Iterable[Output]) -> None:
        """Put captured files back into the checkout. What is in place already is not touched.

        They are written under their own names: a copy beside one would be a stray file if
        we were killed, and half an output is nothing that anybody relies on.

        Raises:
            CaptureLost: one is missing, damaged, or cannot be put back.
        """
        for output in outputs:
            target = os.path.join(self._top, output.path)
            try:
                target = self._inside(output.path)
                if _is(target, output):
                    continue
                self.clear([output.path])
                os.makedirs(os.path.dirname(target), exist_ok=True)
                intact = self._put(target, output)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    _remove(target)
                raise CaptureLost(
                    f"{output.path} cannot be put back as it was captured: {error.strerror}"
                ) from error
            if not intact:
                _remove(target)
                raise CaptureLost(f"the captured copy of {output.path} is damaged")

    def _put(self, target: str, output: Output) -> bool:
        if output.link:
            os.symlink(output.link, target)
            return True
        digest, _ = _copy(self._kept(output.digest), target)
        os.chmod(target, 0o755 if output.executable else 0o644)
        return digest == output.digest

    def content(self, output: Output) -> bytes:
        """The captured file itself, as it was when it was captured.

        Raises:
            CaptureLost: it is gone or damaged.
        """
        import hashlib

        try:
            with open(self._kept(output.digest), "rb") as file:
                content = file.read()
        except OSError as error:
            what = f"the captured copy of {output.path} cannot be read: {error.strerror}"
            raise CaptureLost(what) from error
        if hashlib.sha256(content).hexdigest() != output.digest:
            raise CaptureLost(f"the captured copy of {output.path} is damaged")
        return content

    def intact(self, outputs: Iterable[Output]) -> bool:
        """Whether every captured file is there with its content."""
        return all(
            output.link or _is_content(self._kept(output.digest), output) for output in outputs
        )

    def _kept(self, digest: str) -> str:
        return os.path.join(self._directory, digest)


def _is(target: str, output: Output) -> bool:
    """Whether `target` is what `output` was."""
    try:
        mode = os.lstat(target).st_mode
    except OSError:
        return False
    if stat.S_ISLNK(mode):
        return os.readlink(target) == output.link
    right = stat.S_ISREG(mode) and bool(mode & stat.S_IXUSR) == output.executable
    return right and not output.link and _is_content(target, output)


def _is_content(path: str, output: Output) -> bool:
    try:
        if os.stat(path).st_size != output.size:
            return False
        return _copy(path, os.devnull)[0] == output.digest
    except OSError:
        return False


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # it was never made


def _below(top: str, path: str) -> Iterable[str]:
    """Every file and link below a directory of the checkout, as paths from its top."""
    for folder, folders, names in os.walk(os.path.join(top, path)):
        for name in (*names, *folders):
            full = os.path.join(folder, name)
            if os.path.islink(full) or (os.path.isfile(full) and name in names):
                yield os.path.relpath(full, top)


def _copy(source: str, target: str) -> tuple[str, int]:
    """Copy and digest in one reading; the digest in hexadecimal, and the size."""
    import hashlib  # loads OpenSSL, which most runs have no use for

    hashed, size = hashlib.sha256(), 0
    with open(source, "rb") as reader, open(target, "wb") as writer:
        while chunk := reader.read(_CHUNK):
            hashed.update(chunk)
            writer.write(chunk)
            size += len(chunk)
    return hashed.hexdigest(), size
