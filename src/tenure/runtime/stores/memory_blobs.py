"""Blobs in this process's memory."""

from tenure.runtime.errors import BlobMissing
from tenure.runtime.ports.blobs import digest_of


class MemoryBlobs:
    """`tenure.runtime.ports.blobs.BlobStore` in memory."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, bytes]] = {}

    def put(self, session: str, content: bytes) -> str:
        digest = digest_of(content)
        self._of.setdefault(session, {})[digest] = bytes(content)
        return digest

    def has(self, session: str, digest: str) -> bool:
        return digest in self._of.get(session, {})

    def get(self, session: str, digest: str) -> bytes:
        if not self.has(session, digest):
            raise BlobMissing(digest=digest)
        return self._of[session][digest]

    def remove(self, session: str) -> None:
        self._of.pop(session, None)

    def owners(self) -> list[str]:
        return sorted(self._of)
