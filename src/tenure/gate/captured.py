"""Captured outputs: the files a job declared, kept by content beside the store.

A captured file is checked when it is restored, so a lost or damaged one costs a run of its
job and nothing else; that is why capturing needs no flush to disk.
"""

import os
from collections.abc import Iterable, Sequence

from tenure.gate.receipt import Output

_CHUNK = 1 << 20


class OutputMissing(Exception):
    """A declared output was not written, or is not something that can be kept."""


class CaptureLost(Exception):
    """A captured file is gone from the store, or is not what it was."""


class Captured:
    """The captured outputs under `directory`, for the checkout at `top`."""

    def __init__(self, directory: str, top: str) -> None:
        self._directory = directory
        self._top = top

    def clear(self, outputs: Iterable[str]) -> None:
        """Delete declared outputs from the checkout, so that a stale one cannot be captured."""
        for path in outputs:
            target = os.path.join(self._top, path)
            if os.path.isdir(target) and not os.path.islink(target):
                import shutil

                shutil.rmtree(target)
            elif os.path.lexists(target):
                os.unlink(target)

    def capture(self, outputs: Sequence[str]) -> tuple[Output, ...]:
        """Keep a copy of each declared output; a directory stands for the files in it.

        Raises:
            OutputMissing: one was not written; the message names it.
        """
        return tuple(item for path in outputs for item in self._capture_one(path))

    def _capture_one(self, path: str) -> list[Output]:
        target = os.path.join(self._top, path)
        if os.path.islink(target):
            raise OutputMissing(f"declared output {path} is a symbolic link")
        if os.path.isdir(target):
            return [self._keep(found) for found in sorted(_files_below(self._top, path))]
        if not os.path.isfile(target):
            raise OutputMissing(f"declared output {path} was not written")
        return [self._keep(path)]

    def _keep(self, path: str) -> Output:
        source = os.path.join(self._top, path)
        os.makedirs(self._directory, exist_ok=True)
        partial = os.path.join(self._directory, f".{os.getpid()}.partial")
        digest, size = _copy(source, partial)
        os.replace(partial, self._kept(digest))
        return Output(path=path, digest=digest, size=size, executable=os.access(source, os.X_OK))

    def restore(self, outputs: Iterable[Output]) -> None:
        """Put captured files back into the checkout.

        Raises:
            CaptureLost: one is missing or damaged; nothing of it was put back.
        """
        for output in outputs:
            target = os.path.join(self._top, output.path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            partial = f"{target}.{os.getpid()}.partial"
            try:
                digest, _ = _copy(self._kept(output.digest), partial)
            except FileNotFoundError as error:
                raise CaptureLost(f"the captured copy of {output.path} is gone") from error
            if digest != output.digest:
                os.unlink(partial)
                raise CaptureLost(f"the captured copy of {output.path} is damaged")
            os.chmod(partial, 0o755 if output.executable else 0o644)
            os.replace(partial, target)

    def intact(self, outputs: Iterable[Output]) -> bool:
        """Whether every captured file is there with its size."""
        for output in outputs:
            try:
                if os.stat(self._kept(output.digest)).st_size != output.size:
                    return False
            except OSError:
                return False
        return True

    def _kept(self, digest: str) -> str:
        return os.path.join(self._directory, digest)


def _files_below(top: str, path: str) -> Iterable[str]:
    for folder, _, names in os.walk(os.path.join(top, path)):
        for name in names:
            full = os.path.join(folder, name)
            if os.path.isfile(full) and not os.path.islink(full):
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
