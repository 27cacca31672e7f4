"""What a session costs as it grows to 5,000 turns: each turn, each byte, and opening it."""

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Claim, Limit, Row, main, rows
from bench.measuring import Case, interleaved
from bench.place import fresh
from bench.runtime_parts import ANSWER, PAYLOAD, SAID, runtime, stepper

TURNS = 5_000
EARLY = 10  #: the turn that the last one is compared with
WINDOW = 100  #: turns whose bytes are counted together
LARGE = 16 * 1024
SHOWN = 20


def measure(quick: bool) -> list[Claim]:
    """With `--quick` the session has 1,000 turns."""
    turns = TURNS // 5 if quick else TURNS
    place = fresh("runtime-growth")
    runner, step = stepper()
    with runner:
        old = runtime(place / "old.db")
        chat = step(old.session("chat", agent="clerk"))
        for _ in range(EARLY):
            step(chat.turn(SAID))
        early = _written(lambda: step(chat.turn(SAID)))
        for _ in range(turns - EARLY - 2 * WINDOW):
            step(chat.turn(SAID))
        late = _written(lambda: step(chat.turn(SAID)))
        found = [_growth(place, step, chat, turns, late / early), _opening(step, old, turns)]
        step(old.aclose())
        found.append(_bytes(place, step))
    return found


def _growth(place: Path, step: Any, chat: Any, turns: int, bytes_grew: float) -> Claim:
    """Turns of the old session, and in between turns of sessions that have just begun."""
    young = runtime(place / "young.db")
    names = count()
    begun: list[Any] = []

    def begin() -> None:
        if len(begun) % EARLY == 0:
            begun.append(step(young.session(f"young {next(names)}", agent="clerk")))
            for _ in range(EARLY - 1):
                step(begun[-1].turn(SAID))
        begun.append(begun[-1])

    cases = {
        f"turn {EARLY} and on": Case(lambda: step(begun[-1].turn(SAID)), begin),
        f"turn {turns:,} and on": Case(lambda: step(chat.turn(SAID))),
    }
    taken = interleaved(cases, WINDOW, warm=EARLY)
    step(young.aclose())
    first, last = taken.values()
    limits = (
        Limit("bytes written", 1.10, bytes_grew, "×"),
        Limit("time, medians", 1.25, last.median / first.median, "×"),
    )
    title = f"Growth from turn {EARLY} to turn {turns:,}"
    return Claim(title, limits, rows(taken, f"turn {EARLY} and on"))


def _written(turn: Callable[[], None]) -> int:
    """The bytes that this process hands to the system in a window of turns, checkpoints too."""
    before = _handed_over()
    for _ in range(WINDOW):
        turn()
    return _handed_over() - before


def _handed_over() -> int:
    with open("/proc/self/io", encoding="ascii") as file:
        told = dict(line.split(": ") for line in file.read().splitlines())
    return int(told["wchar"])


def _opening(step: Any, rt: Any, turns: int) -> Claim:
    """A handle on the session, its lane, what waits in it, and its last turns."""
    store, asking = rt.wiring.access.store, rt.wiring.asking

    def look() -> object:
        return store.lane("chat"), store.waiting("chat"), store.last_turns("chat", SHOWN)

    async def opened() -> None:
        handle = await rt.session("chat", agent="clerk")
        await asking.call(look)
        rt.forget(handle)

    taken = interleaved({"opened": Case(lambda: step(opened()))}, WINDOW, warm=5)["opened"]
    limit = Limit("a session, medians", 5, taken.median, "ms")
    title = f"Open a session of {turns:,} turns: lane, pending, last {SHOWN} turns"
    return Claim(title, (limit,), (Row("opened", taken, taken),))


def _bytes(place: Path, step: Any) -> Claim:
    """The size of the store when it is closed, by what was said in it.

    Answers differ in length, as they do: were they all the same, whether a third one just fits
    on a page would count and nothing else.
    """
    notes = []
    ratios: dict[int, float] = {}
    for middle in (len(ANSWER), LARGE):
        shortest, spread = 2 * middle // 3, 2 * middle // 3
        lengths = [shortest + n * 613 % spread for n in range(WINDOW)]
        answers = [(ANSWER * (length // len(ANSWER) + 1))[:length] for length in lengths]
        said = sum(lengths) // WINDOW + PAYLOAD - len(ANSWER)
        ratios[said] = _stored(step, place / f"bytes-{said}.db", answers) / (10 * WINDOW * said)
        notes.append(f"{said:,} bytes a turn: {ratios[said]:.2f} ×")
    smallest = min(ratios)
    limit = Limit(f"{smallest:,} bytes a turn", 1.5, ratios[smallest], "×")
    return Claim("Bytes stored for each byte of payload", (limit,), (), tuple(notes))


def _stored(step: Any, path: Path, answers: list[str]) -> int:
    rt = runtime(path, answers=answers)
    chat = step(rt.session("chat", agent="clerk"))
    for _ in range(10 * WINDOW):
        step(chat.turn(SAID))
    step(rt.aclose())
    return path.stat().st_size


if __name__ == "__main__":
    sys.exit(main(measure))
