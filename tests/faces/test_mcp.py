"""The gate as tools: a client of the official SDK drives it, goes away, and ends nothing."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import jsonschema
import msgspec
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tenure.faces.cli import verb_mcp
from tenure.faces.cli.session import Session
from tenure.faces.mcp import answers
from tenure.faces.mcp.tools import TOOLS
from tenure.gate.errors import UsageError
from tests.faces.calls import (
    FAIL,
    HOLD,
    PASS,
    TENURE,
    ended,
    environment,
    gated,
    job,
    start,
    tenure,
)
from tests.gate.repos import make_repo, write
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]

#: A client that calls `done` in the directory it is started in, and says what it hears.
CLIENT = """\
import os, sys
import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp"], cwd=".", env=dict(os.environ))
    async def heard(done, total, message):
        print(message, flush=True)
    async with Client(server) as client:
        await client.call_tool("done", {"wait": "10m"}, progress_callback=heard)

anyio.run(main)
"""


def server(repo):
    return StdioServerParameters(command=TENURE, args=["mcp"], cwd=repo, env=dict(os.environ))


def driven(repo, drive):
    """What an async function makes of a client whose server is in `repo`."""

    async def connected():
        async with Client(server(repo)) as client:
            return await drive(client)

    return anyio.run(connected)


def runs(repo):
    return tenure(repo, "runs", "--json").object["runs"]


def test_a_client_drives_done_end_to_end(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    heard = []

    async def progress(done, total, message):
        heard.append((done, message))
        if message == "start   lint":
            (repo / "out" / "go").parent.mkdir(exist_ok=True)
            (repo / "out" / "go").touch()

    async def drive(client):
        listed = await client.list_tools()
        done = await client.call_tool("done", progress_callback=progress)
        status = await client.call_tool("status")
        return listed.tools, done, status

    tools, done, status = driven(repo, drive)
    assert [tool.name for tool in tools] == ["done", "follow", "explain", "status", "standards"]
    for tool in tools:
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
    assert not done.is_error
    found = done.structured_content
    assert json.loads(done.content[0].text) == found
    jsonschema.validate(found, tools[0].output_schema)
    assert (found["ok"], found["outcome"]) == (True, "met")
    assert [number for number, _ in heard] == [1, 2, 3, 4]
    assert [said.split()[0] for _, said in heard] == ["run", "run", "start", "ok"]
    assert tenure(repo, "done", "--json").object["proof"] == found["proof"]
    jsonschema.validate(status.structured_content, tools[3].output_schema)
    assert status.structured_content["proof"]["id"] == found["proof"]["id"]


def test_a_run_that_takes_long_is_left_and_followed(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))

    async def drive(client):
        left = await client.call_tool("done", {"wait": "1ms"})
        run = left.structured_content["run"]
        still = await client.call_tool("follow", {"run": run, "wait": "1ms"})
        await anyio.to_thread.run_sync(until, (repo / "out" / "began").exists, "the job runs")
        (repo / "out" / "go").touch()
        over = await client.call_tool("follow", {"run": run})
        return left, still, over, await client.call_tool("done")

    left, still, over, done = [each.structured_content for each in driven(repo, drive)]
    assert (left["ok"], left["outcome"], left["exit_code"]) == (False, "running", 75)
    assert (still["ok"], still["outcome"], still["exit_code"]) == (False, "running", 75)
    assert (over["ok"], over["outcome"], over["run"]) == (True, "passed", left["run"])
    assert (done["ok"], done["proof"]["run"]) == (True, left["run"])
    assert len(runs(repo)) == 1


def test_what_is_not_met_is_an_answer_and_what_cannot_be_asked_an_error(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    bare = make_repo(tmp_path / "bare", {"a.txt": "a\n"})
    dirty = gated(tmp_path / "dirty", PASS)
    write(dirty, {"a.txt": "edited\n"})
    calls = {
        "there is no policy": {"directory": str(bare)},
        "a.txt (modified)": {"directory": str(dirty)},
        "unknown field `accept_policy_change`": {"accept_policy_change": ["lint"]},
        "Expected `str`": {"wait": 5},
        "'5' is not a duration": {"wait": "5"},
        "is in no git repository": {"directory": str(tmp_path)},
    }

    async def drive(client):
        answer = await client.call_tool("done")
        errors = {words: await client.call_tool("done", given) for words, given in calls.items()}
        return answer, errors, await client.call_tool("prove")

    answer, errors, unknown = driven(repo, drive)
    assert not answer.is_error
    assert answer.structured_content["ok"] is False
    (failure,) = answer.structured_content["report"]["failures"]
    assert (failure["requirement"], failure["kind"]) == ("lint", "failed")
    for words, error in errors.items():
        assert error.is_error
        assert words in error.content[0].text
    assert "there are done, follow, explain, status, standards" in unknown.content[0].text


def test_a_call_that_is_given_up_ends_no_run(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))

    async def drive(client):
        async with anyio.create_task_group() as tasks:

            async def progress(done, total, message):
                if message == "start   lint":
                    tasks.cancel_scope.cancel()

            await client.call_tool("done", progress_callback=progress)
        return await client.call_tool("status")

    status = driven(repo, drive).structured_content
    (run,) = status["runs"]
    assert run["cancel"] is None
    (repo / "out" / "go").touch()
    assert tenure(repo, "follow", run["id"], "--json").object["outcome"] == "passed"


def test_a_client_that_is_killed_ends_no_run_and_the_next_one_gets_its_proof(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, TENURE],
        cwd=repo,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdout is not None
    while client.stdout.readline() != "start   lint\n":
        pass
    (started,) = [pid for pid in _children(client.pid) if "mcp" in _command(pid)]
    client.send_signal(signal.SIGKILL)
    client.communicate()
    until(lambda: not os.path.exists(f"/proc/{started}"), "the server ends with its client")
    (run,) = runs(repo)
    assert (run["ended_wall_ns"], run["cancel"]) == (None, None)

    async def drive(client):
        (repo / "out" / "go").touch()
        return await client.call_tool("done")

    found = driven(repo, drive).structured_content
    assert (found["ok"], found["proof"]["run"]) == (True, run["id"])
    assert len(runs(repo)) == 1


@pytest.mark.parametrize(("how", "code"), [("its input ends", 0), ("a signal", 143)])
def test_the_server_ends_in_the_middle_of_a_call_and_the_run_goes_on(tmp_path, how, code):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    call = start(repo, "mcp", stdin=subprocess.PIPE)
    assert call.stdin is not None
    for message in _opening("done"):
        call.stdin.write(json.dumps(message).encode() + b"\n")
        call.stdin.flush()
    until((repo / "out" / "began").exists, "the job runs")
    if how == "a signal":
        call.send_signal(signal.SIGTERM)
        assert call.wait(timeout=60) == code
    else:
        call.stdin.close()
        call.stdin = None
    ending = ended(call, "mcp")
    assert (ending.code, ending.err) == (code, "")
    said = [json.loads(line) for line in ending.out.splitlines()]
    assert [each["id"] for each in said if "result" in each] == [1], "the call has no answer"
    (repo / "out" / "go").touch()
    assert tenure(repo, "done", "--json").object["ok"]
    assert len(runs(repo)) == 1


def _opening(tool):
    """What a client writes to call a tool, by the handshake that every server knows."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}}
    info = {"clientInfo": {"name": "test", "version": "1"}}
    yield {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about | info}
    yield {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {"name": tool, "arguments": {"wait": "10m"}}
    yield {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}


def _children(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


def _command(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")


# ── The contract ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_schema_has_the_fields_of_the_reference(tool):
    page = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    everywhere = set(answers.Envelope.__struct_fields__)
    assert _told(page, tool.name) == set(tool.answers.__struct_fields__) - everywhere


def _told(page, verb):
    """The fields that the reference tells of a verb's object."""
    row = next(line for line in page.splitlines() if line.startswith(f"| `{verb}` |"))
    text = re.sub(r"\([^)]*\)", "", row.split("|")[2].partition("; with `--ci`")[0])
    fields = set(re.findall(r"`(\w+)`", text))
    return fields - {"done"} | _told(page, "done") if "done" in fields else fields


def test_standards_are_measured_and_jobs_explained(tmp_path):
    lines = "echo TENURE_METRIC size 7"
    metric = '[standards.size]\nfrom = "lint"\nmetric = { line = "size" }\n'
    policy = job("lint", lines) + metric + 'direction = "down"\nlimit = 5\n'
    repo = gated(tmp_path / "repo", policy)

    async def drive(client):
        named = {"names": ["size"]}
        standards = await client.call_tool("standards", named)
        why = await client.call_tool("explain", {"jobs": ["lint"]})
        return standards, why, await client.call_tool("done")

    standards, why, done = driven(repo, drive)
    (explained,) = why.structured_content["explanations"]
    assert (explained["requirement"], explained["reused"]) == ("lint", True)
    (measured,) = standards.structured_content["standards"]
    assert (measured["verdict"], measured["value"], measured["limit"]) == ("missed", "7", "5")
    assert done.structured_content["ok"] is False


def test_the_objects_of_the_commands_are_what_the_schemas_say(held):
    repo, _ = held
    (run,) = runs(repo)
    kinds = {tool.name: tool.answers for tool in TOOLS}
    objects = [
        tenure(repo, "status", "--json").object,
        tenure(repo, "follow", "--json", "--wait", "1ms").object,
        tenure(repo, "done", "--json", "--wait", "1ms").object,
    ]
    (repo / "out" / "go").touch()
    objects += [
        tenure(repo, "follow", run["id"], "--json").object,
        tenure(repo, "done", "--json").object,
        tenure(repo, "status", "--json").object,
    ]
    for found in objects:
        jsonschema.validate(found, answers.schema_of(kinds[found["verb"]]))
        msgspec.convert(found, kinds[found["verb"]])


def test_json_has_no_room_beside_the_protocol(tmp_path):
    found = tenure(tmp_path, "mcp", "--json").object
    assert (found["exit_code"], found["error"]["kind"]) == (2, "UsageError")


def test_without_the_sdk_it_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "tenure.faces.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    chosen = type("Chosen", (), {"cwd": None})()
    with pytest.raises(
        UsageError, match=r"needs the official SDK, mcp, .*; pip install 'tenure\[mcp\]'"
    ):
        verb_mcp.carry_out(Session(json=False), chosen)


# ── What happens, told to machines ───────────────────────────────────────────────────────


def test_events_are_told_beside_the_one_object(tmp_path):
    repo = gated(tmp_path / "repo")
    ending = tenure(repo, "done", "--json", "--events")
    assert ending.object["outcome"] == "met"
    events = [json.loads(line) for line in ending.err.splitlines()]
    assert [each["event"] for each in events] == [
        "began",
        "bound",
        "planned",
        "job_began",
        "job_ended",
        "ended",
    ]
    (run,) = runs(repo)
    again = tenure(repo, "follow", run["id"], "--json", "--events")
    assert [json.loads(line) for line in again.err.splitlines()] == events
