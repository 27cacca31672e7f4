"""Blobs as files in a directory beside the store.

Files, because a picture in a row would be written twice through the log that every turn's
commit waits for. There is no table of them that could disagree: a file under its final name
is stored, and it was given that name once its content was on the disk. A directory for each
session makes its end one removal; what a crash leaves of one is found by its `owner` file.
"""

import hashlib
import os
import re

from tenure.kernel.errors import RecordUnreadable, StoreUnavailable
from tenure.runtime.errors import BlobMissing
from tenure.runtime.ports.blobs import digest_of

_OWNER = "owner"
_DIGEST = re.compile("[0-9a-f]{64}")


class BlobFiles:
    """`tenure.runtime.ports.blobs.BlobStore` in a directory. Made when the first blob is put."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def put(self, session: str, content: bytes) -> str:
        digest = digest_of(content)
        place = self._place(session)
        try:
            if not os.path.exists(os.path.join(place, digest)):
                self._settle(session, place)
                _write(place, digest, content)
        except OSError as error:
            raise _unavailable(place, error) from error
        return digest

    def has(self, session: str, digest: str) -> bool:
        return bool(_DIGEST.fullmatch(digest)) and os.path.exists(
            os.path.join(self._place(session), digest)
        )

    def get(self, session: str, digest: str) -> bytes:
        if not _DIGEST.fullmatch(digest):
            raise BlobMissing(digest=digest)
        path = os.path.join(self._place(session), digest)
        try:
            with open(path, "rb") as file:
                content = file.read()
        except FileNotFoundError as error:
            raise BlobMissing(digest=digest) from error
        except OSError as error:
            raise _unavailable(path, error) from error
        if digest_of(content) != digest:
            raise RecordUnreadable(record=path, reason="its content is not what its name says")
        return content

    def remove(self, session: str) -> None:
        place = self._place(session)
        try:
            for name in os.listdir(place):
                if name != _OWNER:
                    _unlink(os.path.join(place, name))
            _unlink(os.path.join(place, _OWNER))  # last: until then it can be found and ended
            os.rmdir(place)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _unavailable(place, error) from error

    def owners(self) -> list[str]:
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unavailable(self._directory, error) from error
        return sorted(owner for name in names if (owner := self._owner_of(name)) is not None)

    def _owner_of(self, name: str) -> str | None:
        try:
            with open(os.path.join(self._directory, name, _OWNER), encoding="utf-8") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _place(self, session: str) -> str:
        """Ids may be anything and as long as they like; names of directories may not."""
        named = hashlib.sha256(session.encode()).hexdigest()[:32]
        return os.path.join(self._directory, named)

    def _settle(self, session: str, place: str) -> None:
        if os.path.exists(os.path.join(place, _OWNER)):
            return
        os.makedirs(place, mode=0o700, exist_ok=True)
        _write(place, _OWNER, session.encode())
        for directory in (self._directory, os.path.dirname(self._directory)):
            _sync(directory)


def _write(directory: str, name: str, content: bytes) -> None:
    """A file that is there under its name with all of its content, or not at all."""
    unfinished = os.path.join(directory, f"{name}.{os.getpid()}-{os.urandom(6).hex()}.new")
    descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.rename(unfinished, os.path.join(directory, name))
    except BaseException:
        os.unlink(unfinished)
        raise
    _sync(directory)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _sync(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unavailable(path: str, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        store=path,
        reason=f"an attachment cannot be kept or read ({error.strerror or error})",
        hint="check the disk and the permissions there",
    )
