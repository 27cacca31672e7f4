"""Other libraries that do the same turn on SQLite, with a model that answers by a script.

Each runs in an environment of its own below `.bench/peers`, made when it is first needed, as
a program that does a number of turns of one conversation and prints what each took.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.measuring import Samples, clean_environment
from bench.place import PLACE, last_line, make_venv, pip
from bench.runtime_parts import ANSWER, FOUND, SAID


class _Peer(NamedTuple):
    name: str
    packages: tuple[str, ...]
    keeps: str  #: what it keeps, in short
    program: str


_LANGGRAPH = """
import json, sqlite3, sys, time
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

path, turns, said, found, answer = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]

def model(state):
    if isinstance(state["messages"][-1], HumanMessage):
        call = {"name": "look", "args": {"q": "x"}, "id": "c0"}
        return {"messages": [AIMessage(content="", tool_calls=[call])]}
    return {"messages": [AIMessage(content=answer)]}

def look(state):
    return {"messages": [ToolMessage(content=found, tool_call_id="c0")]}

def after(state):
    return "look" if state["messages"][-1].tool_calls else END

graph = StateGraph(MessagesState)
graph.add_node("model", model)
graph.add_node("look", look)
graph.add_edge(START, "model")
graph.add_conditional_edges("model", after, ["look", END])
graph.add_edge("look", "model")
connection = sqlite3.connect(path, check_same_thread=False)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA synchronous = FULL")
app = graph.compile(checkpointer=SqliteSaver(connection))
config = {"configurable": {"thread_id": "chat"}}
taken = []
for _ in range(turns):
    begin = time.perf_counter()
    state = app.invoke({"messages": [HumanMessage(content=said)]}, config, durability="sync")
    taken.append((time.perf_counter() - begin) * 1000)
assert state["messages"][-1].content == answer
connection.close()
print(json.dumps(taken))
"""

_DBOS = """
import json, sys, time
from dbos import DBOS

path, turns, said, found, answer = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{path}",
             "log_level": "ERROR", "run_admin_server": False})

@DBOS.step()
def ask(messages):
    if messages[-1]["role"] == "user":
        return {"role": "assistant", "call": {"name": "look", "q": "x"}}
    return {"role": "assistant", "text": answer}

@DBOS.step()
def look(q):
    return {"role": "tool", "text": found}

@DBOS.workflow()
def turn(said):
    messages = [{"role": "user", "text": said}]
    messages.append(ask(messages))
    messages.append(look(messages[-1]["call"]["q"]))
    messages.append(ask(messages))
    return messages[-1]["text"]

DBOS.launch()
taken = []
for _ in range(turns):
    begin = time.perf_counter()
    got = turn(said)
    taken.append((time.perf_counter() - begin) * 1000)
assert got == answer
DBOS.destroy()
print(json.dumps(taken))
"""

_AGENTS = """
import asyncio, json, sys, time
from agents import (Agent, Model, ModelResponse, Runner, SQLiteSession, Usage, function_tool,
                    set_tracing_disabled)
from openai.types.responses import (ResponseFunctionToolCall, ResponseOutputMessage,
                                    ResponseOutputText)

path, turns, said, found, answer = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
set_tracing_disabled(True)

class Scripted(Model):
    async def get_response(self, system_instructions, input, *args, **kwargs):
        if input[-1].get("role") == "user":
            out = ResponseFunctionToolCall(type="function_call", call_id="c0", name="look",
                                           arguments='{"q": "x"}')
        else:
            text = ResponseOutputText(type="output_text", text=answer, annotations=[])
            out = ResponseOutputMessage(type="message", id="m", role="assistant",
                                        status="completed", content=[text])
        return ModelResponse(output=[out], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError

@function_tool
def look(q: str) -> str:
    return found

async def main():
    agent = Agent(name="clerk", instructions="Do it.", model=Scripted(), tools=[look])
    session = SQLiteSession("chat", path)
    taken = []
    for _ in range(turns):
        begin = time.perf_counter()
        result = await Runner.run(agent, said, session=session)
        taken.append((time.perf_counter() - begin) * 1000)
    assert result.final_output == answer
    session.close()
    print(json.dumps(taken))

asyncio.run(main())
"""

_LANGGRAPH_RESUMES = """
import json, sqlite3, sys, time
from typing import TypedDict
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

path, times = sys.argv[1], int(sys.argv[2])
went_on = []

class State(TypedDict):
    said: str

def ask(state):
    said = interrupt("really?")
    went_on.append(time.perf_counter())
    return {"said": said}

graph = StateGraph(State)
graph.add_node("ask", ask)
graph.add_edge(START, "ask")
graph.add_edge("ask", END)
connection = sqlite3.connect(path, check_same_thread=False)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA synchronous = FULL")
app = graph.compile(checkpointer=SqliteSaver(connection))
taken = []
for number in range(times):
    config = {"configurable": {"thread_id": f"chat {number}"}}
    app.invoke({"said": ""}, config, durability="sync")
    begin = time.perf_counter()
    state = app.invoke(Command(resume="yes"), config, durability="sync")
    taken.append((went_on[-1] - begin) * 1000)
    assert state["said"] == "yes" and len(went_on) == number + 1
connection.close()
print(json.dumps(taken))
"""

_PEERS = (
    _Peer(
        "LangGraph, SQLite saver",
        ("langgraph", "langgraph-checkpoint-sqlite"),
        "a checkpoint after each step, with synchronous=FULL",
        _LANGGRAPH,
    ),
    _Peer("DBOS on SQLite", ("dbos",), "each step's outcome, as it sets SQLite up", _DBOS),
    _Peer(
        "OpenAI Agents, SQLite session",
        ("openai-agents",),
        "the messages alone: a turn that loses its process is lost",
        _AGENTS,
    ),
)


#: Those that go on with an answer. Whoever answers drives as well, so nobody has to be woken.
_RESUMING = (
    _Peer(
        "LangGraph, SQLite saver",
        ("langgraph", "langgraph-checkpoint-sqlite"),
        "the answer with the run that goes on, in whoever answers",
        _LANGGRAPH_RESUMES,
    ),
)


def taken_by_peers(place: Path, turns: int) -> tuple[dict[str, Samples], list[str]]:
    """What each peer's turns took, and what has to be said of them or why there are none."""
    return _taken(_PEERS, place, turns)


def resumed_by_peers(place: Path, times: int) -> tuple[dict[str, Samples], list[str]]:
    """What each peer took from an answer to what goes on with it, and what has to be said."""
    return _taken(_RESUMING, place, times)


def _taken(peers: Sequence[_Peer], place: Path, times: int) -> tuple[dict[str, Samples], list[str]]:
    taken: dict[str, Samples] = {}
    notes = []
    for peer in peers:
        try:
            milliseconds = _run(peer, place, times)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            notes.append(f"{peer.name} cannot be measured: {last_line(str(error))}")
            continue
        warm = len(milliseconds) // 10
        taken[peer.name] = Samples(tuple(milliseconds[warm:]))
        notes.append(f"{peer.name} keeps {peer.keeps}")
    return taken, notes


def _run(peer: _Peer, place: Path, turns: int) -> list[float]:
    venv = PLACE / "peers" / f"runtime-{peer.packages[0]}"
    stamp = venv / "installed"
    if not stamp.exists():
        make_venv(venv)
        pip(venv, *peer.packages)
        stamp.touch()
    words = [venv / "bin" / "python", "-c", peer.program, place / f"{peer.packages[0]}.db"]
    done = subprocess.run(
        [*map(str, words), str(turns), SAID, FOUND, ANSWER],
        env=clean_environment(),
        cwd=place,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr or f"it ended with {done.returncode}")
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found
