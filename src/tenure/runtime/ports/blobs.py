"""Blobs: the bytes of attachments, outside of the commit and addressed by their content."""

import hashlib
from typing import Protocol


class BlobStore(Protocol):
    """Bytes by the digest of what they are, each in the care of one session.

    A session's blobs are put before they are mentioned, never change, and go with the session.
    Two sessions with the same content have a copy each, so that none keeps the other's.
    """

    def put(self, session: str, content: bytes) -> str:
        """Store content for a session; its digest. On the disk when this returns. Idempotent."""
        ...

    def has(self, session: str, digest: str) -> bool:
        """Whether the session has that content."""
        ...

    def get(self, session: str, digest: str) -> bytes:
        """The content.

        Raises: BlobMissing; RecordUnreadable: what is stored is not what it was.
        """
        ...

    def remove(self, session: str) -> None:
        """Drop everything of a session. Idempotent."""
        ...

    def owners(self) -> list[str]:
        """The sessions that have any."""
        ...


def digest_of(content: bytes) -> str:
    """What content is addressed by."""
    return hashlib.sha256(content).hexdigest()
