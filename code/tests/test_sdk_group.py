"""What lesson 8 says about the SDK's ClientSessionGroup. If one of these fails, the SDK changed: so must the lesson."""

import asyncio
import functools
import inspect
import os
import sys
from pathlib import Path

import anyio
import mcp
import pytest
from mcp import ClientSessionGroup, MCPError, StdioServerParameters

SERVERS = Path(__file__).resolve().parents[1] / "servers"
CHANGES_ONCE = """
import json, sys
names = ["first"]
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if m["method"] == "initialize":
        info, can = {"name": "s", "version": "1"}, {"tools": {"listChanged": True}}
        send(id=m["id"], result={"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": info})
    elif m["method"] == "tools/list":
        send(id=m["id"], result={"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]})
    elif m["method"] == "tools/call":
        names.append("second")
        send(method="notifications/tools/list_changed")
        send(id=m["id"], result={"content": []})
    elif "id" in m:
        send(id=m["id"], error={"code": -32601, "message": "no"})
"""


@pytest.fixture(autouse=True)
def stderr_is_inherited(monkeypatch):
    """A group cannot choose `errlog`; its default, sys.stderr, has no descriptor under some runners."""
    monkeypatch.setattr(mcp, "stdio_client", functools.partial(mcp.stdio_client, errlog=None))


def run(steps, seconds=25):
    """Run a coroutine under a limit."""

    async def limited():
        with anyio.fail_after(seconds):
            return await steps

    return asyncio.run(limited())


def command(script, *arguments):
    return StdioServerParameters(command=sys.executable, args=[str(SERVERS / script), *arguments])


def test_a_group_takes_the_first_page_only():
    async def steps():
        async with ClientSessionGroup() as group:
            await group.connect_to_server(command("faulty.py", "pages", "--count", "3"))
            return list(group.tools)

    assert run(steps()) == ["tool_0"]


def test_a_group_hears_no_list_changed():
    async def steps():
        async with ClientSessionGroup() as group:
            changing = StdioServerParameters(command=sys.executable, args=["-c", CHANGES_ONCE])
            session = await group.connect_to_server(changing)
            await group.call_tool("first", {})
            listed = [tool.name for tool in (await session.list_tools()).tools]
            return listed, list(group.tools)

    assert run(steps()) == (["first", "second"], ["first"])


def test_a_name_that_is_taken_raises_and_the_refused_server_runs_on(running):
    async def steps():
        async with ClientSessionGroup() as group:
            await group.connect_to_server(command("notes.py"))
            with pytest.raises(MCPError, match="already exist"):
                await group.connect_to_server(command("files.py"))
            mine = [words for parent, words in running().values() if parent == os.getpid()]
            return list(group.tools), [words for words in mine if "files.py" in words]

    tools, refused = run(steps())
    assert tools == ["search", "create"]
    assert len(refused) == 1


def test_two_servers_that_call_themselves_the_same_collide_under_a_hook_too():
    async def steps():
        async with ClientSessionGroup(component_name_hook=lambda name, server: f"{server.name}/{name}") as group:
            await group.connect_to_server(command("notes.py"))
            with pytest.raises(MCPError, match="already exist"):
                await group.connect_to_server(command("notes.py"))

    run(steps())


def test_only_the_newest_server_can_be_disconnected():
    async def steps():
        async with ClientSessionGroup() as group:
            oldest = await group.connect_to_server(command("notes.py"))
            await group.connect_to_server(command("faulty.py", "pages", "--count", "1"))
            with pytest.raises(RuntimeError, match="cancel scope"):
                await group.disconnect_from_server(oldest)

    with pytest.raises(asyncio.CancelledError):  # the task is left cancelled
        asyncio.run(steps())


def test_errlog_cannot_be_chosen():
    settings = {*inspect.signature(ClientSessionGroup).parameters, *StdioServerParameters.model_fields}
    settings |= set(inspect.signature(ClientSessionGroup.connect_to_server).parameters)
    assert not {"errlog", "stderr"} & settings
