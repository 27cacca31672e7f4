"""A LangGraph graph on checkpoints in a Tenure store, which no two runs can fork."""

from typing import TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from tenure.faces.guests import open_store
from tenure.faces.langgraph import TenureSaver


class State(TypedDict, total=False):
    allowed: bool


def ask(state: State) -> State:
    return {"allowed": bool(interrupt({"refund": 7, "so far": state}))}


builder = StateGraph(State)
builder.add_node("ask", ask)
builder.add_edge(START, "ask")

store = open_store("sqlite:///agents.db")  # once in a process; a `Runtime` will do as well
saver = TenureSaver(store)
graph = builder.compile(checkpointer=saver)


def answer(thread: str, allowed: bool) -> str:
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    with saver.holding(thread, wait=20):
        if not graph.get_state(config).interrupts:
            return "somebody else has answered"
        graph.invoke(Command(resume=allowed), config)
        return "this was the answer"
