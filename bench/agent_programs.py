"""One Pydantic AI agent under each engine, as programs that another interpreter runs.

Each takes what to do, a directory, a number of runs and an address, and prints as JSON what each
run took. The model asks for a refund and then says so; the refund leaves a line in a file. `DIE`
says where the process kills itself: in the tool, once it took effect, or in the model call after it.
"""

_AGENT = """
import asyncio, json, os, signal, sys, time
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

act, place, runs, address = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]

def die(moment):
    if os.environ.get("DIE") == moment:
        os.kill(os.getpid(), signal.SIGKILL)

def say(messages, info):
    if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
        die("model")
        return ModelResponse(parts=[TextPart("Done.")])
    return ModelResponse(parts=[ToolCallPart("refund", {"order": 7}, "call-1")])

async def refund(order: int) -> str:
    with open(os.path.join(place, "effects"), "a") as file:
        file.write("refunded\\n")
    die("tool")
    return f"refunded {order}"

async def measured(turn):
    taken = []
    for number in range(runs):
        begin = time.perf_counter()
        assert await turn(number) == "Done."
        taken.append((time.perf_counter() - begin) * 1000)
    print(json.dumps(taken), flush=True)
"""

PLAIN = (
    _AGENT
    + """
agent = Agent(FunctionModel(say), name="clerk")
agent.tool_plain(refund)

async def turn(number):
    return (await agent.run("Refund order 7?")).output

asyncio.run(measured(turn))
"""
)

TENURE = (
    _AGENT
    + """
from tenure import LeaseTimings, Runtime
from tenure.faces.pydantic_ai import TenureDurability, durable

agent = Agent(FunctionModel(say), name="clerk", capabilities=[TenureDurability()])
agent.tool_plain(refund)
support = durable(agent)

async def main():
    timings = LeaseTimings(ttl=1.5, renew_interval=0.5)
    store = f"sqlite:///{place}/tenure.db"
    async with Runtime(store=store, agents=[support], lease_timings=timings, poll=0.1) as rt:
        async def turn(number):
            answer = await support.ask(rt, f"chat-{number}", "Refund order 7?", key="k")
            return answer.output
        await measured(turn)

asyncio.run(main())
"""
)

_DBOS = """
from dbos import DBOS, SetWorkflowID
from pydantic_ai.durable_exec.dbos import DBOSDurability

DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{place}/dbos.db",
             "log_level": "ERROR", "run_admin_server": False, "application_version": "1"})
agent = Agent(FunctionModel(say), name="clerk", capabilities=[DBOSDurability()])
agent.tool_plain(TOOL, name="refund")

@DBOS.workflow()
async def work(said):
    return (await agent.run(said)).output

async def main():
    DBOS.launch()
    async def turn(number):
        with SetWorkflowID(f"chat-{number}"):
            return await work("Refund order 7?")
    await measured(turn)
    DBOS.destroy()

asyncio.run(main())
"""
DBOS = _AGENT + _DBOS.replace("TOOL", "refund")
DBOS_STEP = _AGENT + _DBOS.replace("TOOL", "DBOS.step()(refund)")

TEMPORAL = (
    _AGENT
    + """
from datetime import timedelta
from pydantic_ai.durable_exec.temporal import PydanticAIPlugin, TemporalDurability
from temporalio import workflow
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

short = timedelta(seconds=1.5)
durability = TemporalDurability(activity_config={"start_to_close_timeout": short})
agent = Agent(FunctionModel(say), name="clerk", capabilities=[durability])
agent.tool_plain(refund)

@workflow.defn
class Work:
    __pydantic_ai_agents__ = [agent]

    @workflow.run
    async def run(self, said: str) -> str:
        return (await agent.run(said)).output

async def main():
    client = await Client.connect(address, plugins=[PydanticAIPlugin()])
    queue = place
    async def turn(number):
        return await client.execute_workflow(
            Work.run, "Refund order 7?", id=f"{place}-{number}", task_queue=queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING, task_timeout=short)
    async with Worker(client, task_queue=queue, workflows=[Work],
                      workflow_runner=UnsandboxedWorkflowRunner()):
        await measured(turn)

asyncio.run(main())
"""
)
