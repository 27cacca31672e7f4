"""The service's own tables: which chats there are, and what was asked in them, in order.

They lie in the same file as the sessions. So a question and its turn are admitted in one
transaction: there is no question that nobody will answer, and no answer to nothing.
"""

import hashlib
import threading
from typing import NamedTuple

import apsw
import msgspec

from examples.chat_service.desk import DESK
from tenure import Runtime

TABLES = """
CREATE TABLE IF NOT EXISTS chat (id TEXT PRIMARY KEY, begun REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS post (
    chat TEXT NOT NULL REFERENCES chat (id),
    number INTEGER NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    turn TEXT NOT NULL,
    PRIMARY KEY (chat, number),
    UNIQUE (chat, key)
) STRICT;
"""


#: How long another writer is waited for, in milliseconds.
BUSY = 2_000

#: The columns of a Post.
POST = "number, key, text, turn"


class Post(NamedTuple):
    """One question in a chat, and the turn that answers it."""

    number: int
    key: str
    text: str
    turn: str


class OtherText(Exception):
    """The key was used in this chat with another text. Nothing was posted."""


class Chats:
    """Every call is one transaction on one connection, from any thread."""

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        self._connection = apsw.Connection(path)
        self._connection.set_busy_timeout(BUSY)
        self._connection.transaction_mode = "IMMEDIATE"
        with self._lock, self._connection:
            self._connection.execute(TABLES).fetchall()

    def begin(self, key: str) -> str:
        """A chat for a key: the same one, asked twice."""
        chat = hashlib.sha256(key.encode()).hexdigest()[:16]
        with self._lock, self._connection:
            self._connection.execute(
                "INSERT OR IGNORE INTO chat VALUES (?, unixepoch('subsec'))", (chat,)
            ).fetchall()
        return chat

    def known(self, chat: str) -> bool:
        """Whether there is such a chat."""
        with self._lock:
            rows = self._connection.execute("SELECT 1 FROM chat WHERE id = ?", (chat,)).fetchall()
        return bool(rows)

    def latest(self) -> list[tuple[str, str]]:
        """The newest chats, each with what was asked first in it."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT id, coalesce(text, '') FROM chat"
                " LEFT JOIN post ON post.chat = chat.id AND number = 1"
                " ORDER BY begun DESC, id LIMIT 30"
            ).fetchall()
        return msgspec.convert(rows, list[tuple[str, str]])

    def posts(self, chat: str, after: int) -> list[Post]:
        """What was asked in a chat after a number, in order."""
        with self._lock:
            rows = self._connection.execute(
                f"SELECT {POST} FROM post WHERE chat = ? AND number > ? ORDER BY number",
                (chat, after),
            ).fetchall()
        return msgspec.convert(rows, list[Post])

    def post(self, rt: Runtime, chat: str, text: str, key: str) -> Post:
        """Ask in a chat: the post, and its turn is admitted. The same key is the same post.

        Raises: OtherText.
        """
        with self._lock, self._connection:
            known = self._by_key(chat, key)
            if known is None:
                turn = rt.submit(chat, text, agent=DESK, key=key, connection=self._connection)
                self._connection.execute(
                    "INSERT INTO post SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4"
                    " FROM post WHERE chat = ?1",
                    (chat, key, text, turn),
                ).fetchall()
                known = self._by_key(chat, key)
        assert known is not None, "it was posted"
        if known.text != text:
            raise OtherText
        return known

    def _by_key(self, chat: str, key: str) -> Post | None:
        rows = self._connection.execute(
            f"SELECT {POST} FROM post WHERE chat = ? AND key = ?", (chat, key)
        ).fetchall()
        return msgspec.convert(rows[0], Post) if rows else None

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()
