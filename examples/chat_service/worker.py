"""One worker: a process that takes requests and drives turns, until it is told to leave.

Any number of them share a port and a file. The runtime handles no signals: the order of levers in
`serve` is this service's own way to end.
"""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from examples.chat_service.chats import Chats
from examples.chat_service.desk import Bank, desk
from examples.chat_service.web import Web
from tenure import LeaseTimings, Model, Runtime

#: How long a request may take to its end once a worker is to leave, in seconds.
GRACE = 5
#: How soon one worker sees what another one did, in seconds.
POLL = 0.2


class Server(uvicorn.Server):
    """A server that leaves signals to `serve`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def listening(port: int) -> socket.socket:
    """A socket on a port, 0 for any. Workers share it, and the kernel spreads what comes."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    found.bind(("127.0.0.1", port))
    found.listen(128)
    return found


async def serve(
    store: Path, port: int, *, release: int, model: Model, timings: LeaseTimings
) -> None:
    """Take requests and drive turns until SIGTERM or SIGINT; then hand everything over."""
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, asked.set)

    rt = Runtime(
        store=f"sqlite:///{store}",
        agents=[desk(release, model)],
        lease_timings=timings,
        deps=lambda: Bank(store.with_suffix(".bank")),
        poll=POLL,
    )
    chats = Chats(str(store))
    web = Web(rt, chats, {"release": release, "worker": os.getpid()})
    listener = listening(port)
    config = uvicorn.Config(
        web.app, lifespan="off", log_level="warning", timeout_graceful_shutdown=GRACE
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    driving = asyncio.create_task(rt.drive(concurrency=8))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
    leave = asyncio.create_task(asked.wait())
    await asyncio.wait({serving, driving, leave}, return_when=asyncio.FIRST_COMPLETED)

    server.should_exit = True  # 1. take no more requests; the other workers have the port
    web.leaving.set()  # 2. send the pages to them
    driving.cancel()  # 3. hand back what is driven here: it stays admitted, others go on at once
    ended = await asyncio.gather(serving, driving, return_exceptions=True)
    leave.cancel()
    await model.provider.close()  # 4. end connections as their protocol says
    await rt.shutdown()  # 5. release protocol and plugins
    await asyncio.to_thread(chats.close)  # 6. close the file
    await rt.aclose()
    for error in ended:
        if isinstance(error, Exception):  # one of them ended by itself: a supervisor should know
            raise error
