"""A store that is damaged, full, newer or not one: named, left as it is, and nothing is half done."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tenure import LeaseTimings, Runtime, Session, TurnResult
from tenure.kernel.errors import (
    RecordUnreadable,
    StoreNewer,
    StoreUnavailable,
    TenureError,
)
from tenure.runtime.errors import TurnMissing, WiringError
from tenure.runtime.model.work import ActiveTurn
from tenure.testing.faults import Faults
from tenure.testing.provider import ScriptedProvider, calls, results, text
from tests.architecture.source import ROOT
from tests.runtime.scene import Door, echo, line, run, runtime, support, until

#: Doubt is asked again for a ttl, and a test of doubt waits that long.
SHORT = LeaseTimings(ttl=0.3, renew_interval=0.1)


def path_of(store: str) -> str:
    return store.removeprefix("sqlite:///")


def changed(store: str, statement: str) -> None:
    connection = apsw.Connection(path_of(store))
    list(connection.execute(statement))
    connection.close()


# what cannot be opened


def _nowhere(place: Path) -> str:
    return f"sqlite:///{place}/no/such/agents.db"


def _directory(place: Path) -> str:
    (place / "agents.db").mkdir()
    return f"sqlite:///{place}/agents.db"


def _garbage(place: Path) -> str:
    (place / "agents.db").write_bytes(b"this is no database " * 1000)
    return f"sqlite:///{place}/agents.db"


def _empty(place: Path) -> str:
    (place / "agents.db").touch()
    return f"sqlite:///{place}/agents.db"


def _somebody_elses(place: Path) -> str:
    store = f"sqlite:///{place}/agents.db"
    changed(store, "CREATE TABLE theirs (id INTEGER)")
    return store


@pytest.mark.parametrize("made", [_nowhere, _directory, _garbage, _empty, _somebody_elses])
def test_what_is_no_store_is_refused_and_left_as_it_is(made, tmp_path: Path) -> None:
    store = made(tmp_path)
    path = Path(path_of(store))
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreUnavailable) as refusal:
        runtime(store, support(echo()))
    assert path_of(store) in str(refusal.value)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_newer_store_is_refused_and_left_as_it_is(shared: str) -> None:
    with runtime(shared, support(echo())) as rt:
        rt.turn_sync("chat", "one", agent="support")
    changed(shared, "UPDATE format SET version = 99 WHERE line = 'runtime'")
    with pytest.raises(StoreNewer) as refusal:
        runtime(shared, support(echo()))
    assert (refusal.value.line, refusal.value.found) == ("runtime", 99)


# what does not parse

DAMAGE = [
    ("session", "settings", "'{'", RecordUnreadable),
    ("session", "host", "'odd'", RecordUnreadable),
    ("session", "agent", "''", WiringError),
    ("work", "content", '\'{"type": "user"\'', RecordUnreadable),
    ("work", "state", "7", RecordUnreadable),
    ("message", "body", '\'{"type": "nobody"}\'', RecordUnreadable),
    ("work", "program", "99", RecordUnreadable),
    ("program", "body", "'[]'", RecordUnreadable),
    ("journal", "entries", '\'[{"key": "odd"}]\'', RecordUnreadable),
    ("lane", "lease", "'{'", RecordUnreadable),
]


@pytest.mark.parametrize(("table", "column", "value", "kind"), DAMAGE)
def test_a_damaged_row_is_named_and_nothing_is_committed_over_it(
    shared: str, table: str, column: str, value: str, kind: type[TenureError]
) -> None:
    """A turn is left in the middle of a tool; then a row of it, or of the one before, is damaged."""

    async def story() -> None:
        doors = [Door(), Door(), Door()]
        doors[0].open()
        ahead = iter(doors)

        async def slow() -> str:
            await next(ahead).wait()
            return "slow"

        async def quick() -> str:
            return "quick"

        asked = calls(("quick", {}), ("slow", {}))
        provider = ScriptedProvider(asked, lambda r: text(" ".join(results(r))))
        agent = support(provider, quick, slow)
        async with runtime(shared, agent, lease_timings=SHORT) as rt:
            chat = await rt.session("chat", agent="support")
            await chat.turn("one")
            asking = asyncio.ensure_future(chat.turn("two", key="k"))
            await doors[1].somebody()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        good = _column(shared, table, column)
        changed(shared, f"UPDATE {table} SET {column} = {value}")
        before = _dump(shared, "message"), _dump(shared, "work")
        async with runtime(shared, agent, lease_timings=SHORT) as rt:
            with pytest.raises(kind):
                await asked_again(rt)
        assert (_dump(shared, "message"), _dump(shared, "work")) == before
        _restored(shared, table, column, good)
        async with runtime(shared, agent, lease_timings=SHORT) as rt:
            assert (await asked_again(rt)).completed
            chat = await rt.session("chat", agent="support")
            assert line(await chat.messages())[5:8] == [
                "user: two",
                "assistant:  [quick, slow]",
                "quick: ok: quick",
            ]

    run(story())


async def asked_again(rt: Runtime) -> TurnResult:
    return await (await rt.session("chat", agent="support")).turn("two", key="k")


def _column(store: str, table: str, column: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(path_of(store))
    found = list(connection.execute(f"SELECT {_key(table)}, {column} FROM {table}"))
    connection.close()
    return found


def _key(table: str) -> str:
    return "position" if table == "journal" else "rowid"


def _restored(store: str, table: str, column: str, good: list[tuple[object, ...]]) -> None:
    connection = apsw.Connection(path_of(store))
    for rowid, value in good:
        where = f"WHERE {_key(table)} = ?"
        list(connection.execute(f"UPDATE {table} SET {column} = ? {where}", (value, rowid)))
    connection.close()


def _dump(store: str, table: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(path_of(store))
    found = list(connection.execute(f"SELECT * FROM {table} ORDER BY rowid"))
    connection.close()
    return found


def test_a_driver_goes_on_with_the_others_and_rests_from_what_fails(shared: str) -> None:
    """One session cannot be read. The driver does not spin on it, and drives every other."""

    async def story() -> None:
        async with runtime(shared, support(echo()), lease_timings=SHORT) as rt:
            for n in range(4):
                rt.submit(f"chat-{n}", "?", agent="support")
            changed(shared, "UPDATE work SET content = '{' WHERE sequence = 2")
            driving = asyncio.ensure_future(rt.drive(concurrency=1))
            others = [await rt.session(f"chat-{n}", agent="support") for n in (0, 2, 3)]
            await until(lambda: answered(others), "every other is driven")
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)
            assert await (await rt.session("chat-1", agent="support")).messages() == []

    told: list[str] = []
    run(story(), told)
    assert 1 <= len(told) <= 10
    assert {line.partition(":")[0] for line in told} == {
        "session 'chat-1' could not be driven; its turn stays admitted"
    }


async def answered(chats: list[Session]) -> bool:
    return all([await chat.messages() for chat in chats])


# many calls in one commit


def test_a_call_that_fails_half_way_is_undone_alone(shared: str) -> None:
    async def story() -> None:
        async with runtime(shared, support(echo())) as rt:
            await rt.session("chat", agent="support")
            store, intake, asking = rt.wiring.store, rt.intake, rt.wiring.asking
            nobody = ActiveTurn(turn="turn-nobody")
            lost = intake.prepare("chat", "support", "x", active=nobody)
            with Faults() as faults:
                pause = faults.pause("create:begin")
                first = asyncio.ensure_future(rt.session("first", agent="support"))
                await asyncio.to_thread(pause.await_arrival)
                batch = [
                    asyncio.ensure_future(rt.session("second", agent="support")),
                    asyncio.ensure_future(intake.admit(lost)),
                    asyncio.ensure_future(rt.session("third", agent="support")),
                    asyncio.ensure_future(intake.admit(lost)),
                ]
                await asyncio.sleep(0)
                pause.resume()
                await first
                made = await asyncio.gather(*batch, return_exceptions=True)
            assert [isinstance(one, TurnMissing) for one in made] == [False, True, False, True]
            found = [record.id for record in await rt.inventory()]
            assert found == ["chat", "first", "second", "third"]
            assert await asking.call(lambda: store.work(lost.work.id)) is None
            assert _dump_of(shared, "SELECT digest FROM program") == [], (
                "what it wrote before is gone"
            )

    run(story())


def _dump_of(store: str, statement: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(path_of(store))
    found = list(connection.execute(statement))
    connection.close()
    return found


# no room

FILLED = """
import asyncio, os, sys
from tenure import LeaseTimings
from tenure.kernel.errors import StoreUnavailable
from tests.runtime.scene import echo, runtime, support, line

disk = sys.argv[1]

async def main():
    short = LeaseTimings(ttl=0.6, renew_interval=0.2)
    async with runtime(f"sqlite:///{disk}/agents.db", support(echo()), lease_timings=short) as rt:
        chat = await rt.session("chat", agent="support")
        await chat.turn("before", key="before")
        ballast = os.open(f"{disk}/ballast", os.O_CREAT | os.O_WRONLY)
        try:
            while True:
                os.write(ballast, b"x" * 4096)
        except OSError:
            os.close(ballast)
        kinds = set()
        for n in range(4):
            try:
                await chat.turn("y" * 100_000, key="full")
            except StoreUnavailable as error:
                kinds.add(str(error).partition(";")[0].rpartition(": ")[2])
        assert kinds == {"the disk is full"}, kinds
        assert len(await chat.messages()) == 2
        os.unlink(f"{disk}/ballast")
        assert (await chat.turn("y" * 100_000, key="full")).completed
        assert (await chat.turn("before", key="before")).text == "re: before"
        assert len(await chat.messages()) == 4

asyncio.run(main())
"""


@pytest.mark.skipif(
    os.geteuid() != 0
    or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0,
    reason="mounting needs root and a mount namespace of one's own",
)
def test_a_full_disk_is_named_and_once_there_is_room_the_turn_goes_on(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f'set -e; mount -t tmpfs -o size=2m tmpfs {disk}; "$0" -c "$1" {disk}'
    done = subprocess.run(
        ["unshare", "-m", "--propagation=private", "sh", "-c", script, sys.executable, FILLED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
