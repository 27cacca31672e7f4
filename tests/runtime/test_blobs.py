"""Attachments: bytes by what they are, in one session's care, gone with it and not before."""

import asyncio
import os
from pathlib import Path

import pytest

from tenure import Attachment
from tenure.kernel.errors import RecordUnreadable, StoreUnavailable
from tenure.runtime.errors import BlobMissing
from tenure.runtime.model.message import UserMessage
from tenure.runtime.ports.blobs import BlobStore
from tenure.runtime.stores.memory_blobs import MemoryBlobs
from tenure.runtime.stores.sqlite.blobs import BlobFiles
from tests.runtime.scene import echo, run, runtime, support

#: The SHA-256 of "hello", from FIPS 180-4 implementations everywhere.
HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


@pytest.fixture(params=["memory", "files"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    if request.param == "memory":
        return MemoryBlobs()
    return BlobFiles(os.fspath(tmp_path / "agents.db.blobs"))


def test_content_is_found_by_its_digest_and_put_once(blobs: BlobStore) -> None:
    for _ in range(2):
        assert blobs.put("chat", b"hello") == HELLO
    assert blobs.has("chat", HELLO)
    assert blobs.get("chat", HELLO) == b"hello"
    assert blobs.get("chat", blobs.put("chat", b"")) == b""
    assert blobs.owners() == ["chat"]


def test_a_session_has_only_what_it_was_given(blobs: BlobStore) -> None:
    blobs.put("one", b"hello")
    assert not blobs.has("two", HELLO)
    with pytest.raises(BlobMissing):
        blobs.get("two", HELLO)
    blobs.put("two", b"hello")
    for _ in range(2):
        blobs.remove("one")
    assert blobs.owners() == ["two"]
    assert blobs.get("two", HELLO) == b"hello"


@pytest.mark.parametrize("name", ["", "0" * 64, "../../etc/passwd", "owner"])
def test_what_is_no_digest_of_anything_is_missing(blobs: BlobStore, name: str) -> None:
    blobs.put("chat", b"hello")
    assert not blobs.has("chat", name)
    with pytest.raises(BlobMissing):
        blobs.get("chat", name)


@pytest.mark.parametrize("session", ["../..", "a/b", "x" * 5000, "ünï", "."])
def test_a_session_may_be_called_anything(blobs: BlobStore, session: str) -> None:
    blobs.put(session, b"hello")
    assert blobs.owners() == [session]
    blobs.remove(session)
    assert blobs.owners() == []


def test_files_are_the_users_own_and_whole(tmp_path: Path) -> None:
    root = tmp_path / "agents.db.blobs"
    files = BlobFiles(os.fspath(root))
    assert not root.exists(), "made when it is needed"
    files.put("chat", b"hello")
    (place,) = root.iterdir()
    assert sorted(path.name for path in place.iterdir()) == sorted([HELLO, "owner"])
    assert {path.stat().st_mode & 0o777 for path in place.iterdir()} == {0o600}
    assert place.stat().st_mode & 0o777 == 0o700


def test_content_that_changed_on_the_disk_is_never_handed_out(tmp_path: Path) -> None:
    files = BlobFiles(os.fspath(tmp_path / "blobs"))
    files.put("chat", b"hello")
    (place,) = (tmp_path / "blobs").iterdir()
    (place / HELLO).write_bytes(b"jello")
    with pytest.raises(RecordUnreadable):
        files.get("chat", HELLO)


def test_where_nothing_can_be_kept_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file")
    with pytest.raises(StoreUnavailable, match="an attachment cannot be kept"):
        BlobFiles(os.fspath(tmp_path / "blobs")).put("chat", b"hello")


# in a session


def test_what_is_attached_is_put_first_and_read_back(store: str) -> None:
    async def story() -> None:
        provider = echo()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            picture = await chat.attach(b"hello", media_type="image/png", name="a.png")
            assert picture == Attachment(digest=HELLO, media_type="image/png", name="a.png", size=5)
            result = await chat.turn("Look.", attachments=(picture,), key="k")
            assert result.completed
            (request,) = provider.requests
            assert request.messages[0] == UserMessage(text="Look.", attachments=(picture,))
            assert await request.content(picture) == b"hello"
            assert await chat.content(picture) == b"hello"
            assert await chat.turn("Look.", attachments=(picture,), key="k") == result

    run(story())


def test_what_is_said_to_an_open_turn_may_have_something_attached(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("one")
            picture = await chat.attach(b"hello", media_type="image/png")
            await chat.say("this", to=turn, attachments=(picture,))
            await chat.wait(turn)
            said = UserMessage(text="this", attachments=(picture,))
            assert said in await chat.messages()
            gone = Attachment(digest="0" * 64, media_type="text/plain")
            with pytest.raises(BlobMissing):
                await chat.say("that", to=turn, attachments=(gone,))

    run(story())


def test_what_was_never_put_is_not_admitted(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            other = await rt.session("other", agent="support")
            theirs = await other.attach(b"hello", media_type="text/plain")
            with pytest.raises(BlobMissing):
                await chat.turn("Look.", attachments=(theirs,))
            with pytest.raises(BlobMissing):
                [event async for event in chat.stream("Look.", attachments=(theirs,))]
            with pytest.raises(BlobMissing):
                await chat.content(theirs)
            assert (await rt.drain_status()).pending == ()

    run(story())


def test_a_deleted_sessions_blobs_are_gone_and_no_others(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            one = await rt.session("one", agent="support")
            two = await rt.session("two", agent="support")
            picture = await one.attach(b"hello", media_type="text/plain")
            assert await two.attach(b"hello", media_type="text/plain") == picture
            await one.turn("Look.", attachments=(picture,))
            await two.turn("Look.", attachments=(picture,))
            assert await rt.delete_session("one")
            assert rt.wiring.access.blobs.owners() == ["two"]
            assert await two.content(picture) == b"hello"

    run(story())


def test_what_a_crash_left_of_a_deleted_session_is_vacuumed(shared: str) -> None:
    async def story() -> None:
        async with runtime(shared, support(echo())) as rt:
            blobs = rt.wiring.access.blobs
            for name in ("one", "two", "three"):
                chat = await rt.session(name, agent="support")
                await chat.attach(b"hello", media_type="text/plain")
            assert await rt.delete_session("one")
            assert await rt.delete_session("two")
            for left in ("one", "two", "nobody"):
                await asyncio.to_thread(blobs.put, left, b"left")
            assert await rt.vacuum(older_than=0, limit=2) == 2
            assert await rt.vacuum(older_than=0, limit=2) == 1
            assert await rt.vacuum(older_than=0, limit=2) == 0
            assert blobs.owners() == ["three"]

    run(story())
