"""Runs of the OpenAI Agents SDK on sessions in a Tenure store, which no two of them can mix."""

from agents import Agent, Runner

from tenure.faces.guests import open_store
from tenure.faces.openai_agents import TenureSession

store = open_store("sqlite:///agents.db")  # once in a process; a `Runtime` will do as well


async def answer(agent: Agent[None], chat: str, text: str) -> str:
    result = await Runner.run(agent, text, session=TenureSession(chat, store))
    return str(result.final_output)


async def answer_alone(agent: Agent[None], chat: str, text: str) -> str:
    async with TenureSession(chat, store, wait=20) as session:
        result = await Runner.run(agent, text, session=session)
        return str(result.final_output)
