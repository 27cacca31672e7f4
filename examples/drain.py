"""A host that drains on SIGTERM. The library handles no signals: these are its levers, in order."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterable

from tenure import ParkedSession, Provider, Runtime, Session
from tenure.runtime.ports.tracing import TraceSink

Request = tuple[str, str, str]  # a session, what is asked in it, and the caller's key


async def serve(
    rt: Runtime,
    agent: str,
    requests: AsyncIterator[Request],
    *,
    providers: Iterable[Provider] = (),
    sink: TraceSink | None = None,
    grace: float = 20.0,
) -> list[ParkedSession]:
    """Answer requests and drive what others left, until SIGTERM; then hand everything over."""
    asked = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    handles: dict[str, Session] = {}
    active: set[asyncio.Task[object]] = set()

    async def admit() -> None:
        async for session, text, key in requests:
            if session not in handles:
                handles[session] = await rt.session(session, agent=agent)
            turn = asyncio.create_task(handles[session].turn(text, key=key))
            active.add(turn)
            turn.add_done_callback(active.discard)

    admitting = asyncio.create_task(admit())
    driving = asyncio.create_task(rt.drive())
    await asked.wait()

    admitting.cancel()  # 1. admit nothing more
    if active:  # 2. let what is under way end by itself
        await asyncio.wait(active, timeout=grace)
    tasks = [admitting, driving, *active]
    for task in tasks:  # 3. what has not ended is recorded and handed back: it stays admitted
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    tickets = [await handle.park() for handle in handles.values()]  # 4. nobody uses a session
    for provider in providers:  # 5. end connections as their protocol says
        await provider.close()
    await rt.shutdown()  # 6. release protocols and plugins
    if sink is not None:  # 7. traces are on the disk
        sink.flush()
    await rt.aclose()  # 8. the store and its thread
    return tickets
