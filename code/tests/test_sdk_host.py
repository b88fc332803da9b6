"""SdkHost: the surface of Host on the official SDK. Faults are in faults/test_on_the_sdk.py."""

import asyncio
import inspect
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp_harness import (
    AmbiguousTool,
    ArgumentsError,
    ConfigError,
    Host,
    HostClosed,
    Policy,
    RequestTimeout,
    RpcError,
    ServerConfig,
    UnknownServer,
    UnknownTool,
)
from mcp_harness.sdk_host import SdkHost, real_reason

CODE = Path(__file__).resolve().parents[1]
LISTENER = """
import json, sys
tools, stream = ["grow"], None
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    kind, meta = {"resultType": "complete"}, {"io.modelcontextprotocol/subscriptionId": stream}
    if m["method"] == "server/discover":
        send({"id": m["id"], "result": kind | {"supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "public",
              "capabilities": {"tools": {"listChanged": True}}}})
    elif m["method"] == "tools/list":
        listed = [{"name": name, "inputSchema": {"type": "object"}} for name in tools]
        send({"id": m["id"], "result": kind | {"tools": listed, "ttlMs": 600000, "cacheScope": "public"}})
    elif m["method"] == "subscriptions/listen":
        stream, meta = m["id"], {"io.modelcontextprotocol/subscriptionId": m["id"]}
        send({"method": "notifications/subscriptions/acknowledged",
              "params": {"_meta": meta, "notifications": {"toolsListChanged": True}}})
    elif m["method"] == "tools/call":
        tools.append("grown")
        send({"id": m["id"], "result": kind | {"content": [{"type": "text", "text": "grown"}]}})
        send({"method": "notifications/tools/list_changed", "params": {"_meta": meta}})
"""


def run(steps, seconds=25):
    """Run a coroutine under a limit."""

    async def limited():
        with anyio.fail_after(seconds):
            return await steps

    return asyncio.run(limited())


def server(name, *arguments, mark, **options):
    """The configuration of one of the course's servers."""
    command = [str(CODE / "servers" / f"{name}.py"), *arguments]
    return ServerConfig(name, sys.executable, command, env={"MARK": mark}, **options)


@pytest.fixture
def fleet(mark):
    """The three servers of the course, two revisions."""
    return [
        server("notes", mark=mark),
        server("files", "--era", "2026-07-28", mark=mark),
        server("github", "--era", "2026-07-28", mark=mark),
    ]


def test_two_revisions_are_one_table_and_each_call_reaches_its_server(fleet):
    async def steps():
        async with SdkHost(fleet) as host:
            eras = [status.era for status in host.status().values()]
            texts = [(await host.call(name, {"query": "plan"})).text for name in ("search", "files/search")]
            return eras, list(host.tools()), texts

    eras, names, texts = run(steps())
    assert eras == ["2025-11-25", "2026-07-28", "2026-07-28"]
    assert names == ["search", "create", "read", "files/search", "list_issues", "open_pr", "github/search"]
    assert texts == ["plan", "plan.txt"]


def test_a_configured_revision_is_kept_or_the_server_fails(mark):
    configs = [
        server("notes", mark=mark, era="2025-11-25"),
        server("files", mark=mark, era="2026-07-28"),
        server("github", "--era", "2026-07-28", mark=mark, era="2025-11-25"),
    ]

    async def steps():
        async with SdkHost(configs) as host:
            return {name: (status.state, status.reason) for name, status in host.status().items()}

    status = run(steps())
    assert status["notes"] == ("ready", None)
    assert "but its era is configured as 2026-07-28" in status["files"][1]
    assert "-32601" in status["github"][1]


def test_a_change_of_2026_07_28_is_heard_by_listening(mark):
    config = ServerConfig("grower", sys.executable, ["-c", LISTENER, mark])

    async def steps():
        async with SdkHost([config]) as host:
            host.tools()
            await host.call("grow")
            while "grown" not in host.tools():
                await asyncio.sleep(0.01)

    run(steps())


def test_opened_in_one_task_and_closed_in_another(fleet):
    """What two notebook cells do."""

    async def steps():
        host = SdkHost(fleet)
        await asyncio.create_task(host.open())
        assert (await asyncio.create_task(host.call("read", {"path": "plan.txt"}))).is_error is False
        await asyncio.create_task(host.close())
        await host.close()
        with pytest.raises(HostClosed):
            await host.call("read", {})
        return {status.state for status in host.status().values()}

    assert run(steps()) == {"closed"}


def test_two_hosts_close_in_any_order(mark):
    async def steps():
        older, newer = SdkHost([server("notes", mark=mark)]), SdkHost([server("files", mark=mark)])
        await older.open()
        await newer.open()
        await older.close()
        assert (await newer.call("read", {"path": "plan.txt"})).is_error is False
        await newer.close()

    run(steps())


def test_a_cancelled_block_leaves_nothing(mark):
    async def steps():
        async def inside():
            async with SdkHost([server("notes", mark=mark)]):
                await asyncio.sleep(60)

        task = asyncio.create_task(inside())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(steps())


def test_a_start_that_is_cancelled_leaves_nothing(faulty):
    async def steps():
        task = asyncio.create_task(SdkHost([faulty("silent")]).open())
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(steps())


def test_your_own_mistakes_are_the_exceptions_of_the_host(fleet):
    async def steps():
        host = SdkHost(fleet, policy=Policy.AMBIGUOUS)
        with pytest.raises(HostClosed, match="async with SdkHost"):
            await host.call("read")
        async with host:
            with pytest.raises(AmbiguousTool, match="notes/search"):
                await host.call("search", {})
            with pytest.raises(UnknownTool, match="Did you mean"):
                await host.call("files/serch", {})
            with pytest.raises(UnknownServer, match="'notes', 'files', 'github'"):
                await host.refresh("mail")
            assert await host.refresh("notes") == []

    run(steps())
    with pytest.raises(ConfigError, match="max_starting"):
        SdkHost([], max_starting=0)


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
def test_a_request_that_no_tool_is_for(mark, era):
    async def steps():
        async with SdkHost([server("files", "--era", era, mark=mark)]) as host:
            listed = await host.request("files", "tools/list")
            assert [tool["name"] for tool in listed["tools"]] == ["read", "search"]
            with pytest.raises(RpcError, match=r"answered prompts/list with error -32601"):
                await host.request("files", "prompts/list", timeout=5)
            with pytest.raises(UnknownServer):
                await host.request("mail", "prompts/list")
            assert host.status()["files"].pending == 0
        with pytest.raises(HostClosed):
            await host.request("files", "prompts/list")

    run(steps())


def test_what_is_no_json_is_the_callers_mistake_and_is_not_sent(mark):
    async def steps():
        async with SdkHost([server("files", mark=mark)]) as host:
            with pytest.raises(ArgumentsError, match=r"'files': the parameters are no JSON.*nothing was sent"):
                await host.call("read", {"path": object()})
            with pytest.raises(ArgumentsError, match="no JSON"):
                await host.request("files", "tools/list", {"cursor": object()})
            with pytest.raises(ArgumentsError, match="have to be a dict"):
                await host.call("read", ["plan.txt"])
            assert host.status()["files"].pending == 0

    run(steps())


def test_a_request_without_a_reply_ends_in_time(faulty):
    async def steps():
        async with SdkHost([faulty("never-answers")]) as host:
            with pytest.raises(RequestTimeout, match=r"no reply to tools/call within 0\.2 s"):
                await host.request("faulty", "tools/call", {"name": "never"}, timeout=0.2)

    run(steps())


def test_a_refused_server_is_ended(mark):
    configs = [server("notes", mark=mark), server("files", mark=mark)]

    async def steps():
        async with SdkHost(configs, policy=Policy.REJECT_SERVER) as host:
            return {name: status.state for name, status in host.status().items()}, list(host.tools())

    assert run(steps()) == ({"notes": "ready", "files": "failed"}, ["search", "create"])


def test_an_exception_in_the_callback_is_counted(mark):
    async def steps():
        async with SdkHost([server("notes", mark=mark)], on_event=lambda event: 1 / 0) as host:
            await asyncio.sleep(0)
            return host.callback_errors

    assert run(steps()) >= 1


def test_the_surface_is_that_of_the_host():
    ours, theirs = vars(SdkHost), vars(Host)
    shared = {"tools", "call", "request", "status", "refresh", "restart", "wait_ready", "close"}
    for name in shared:
        assert list(inspect.signature(ours[name]).parameters) == list(inspect.signature(theirs[name]).parameters), name
        assert inspect.iscoroutinefunction(ours[name]) == (name not in ("tools", "status"))


def test_the_reason_is_unwrapped_from_groups():
    inner = ValueError("the reason")
    assert real_reason(ExceptionGroup("outer", [ExceptionGroup("inner", [inner])])) is inner


def test_without_the_sdk_the_package_works_and_the_module_says_what_to_install():
    code = "import sys; sys.modules['mcp'] = None; sys.modules['mcp_types'] = None\n"
    code += "import mcp_harness\nprint(mcp_harness.Host.__name__)\nimport mcp_harness.sdk_host"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CODE, check=False, timeout=25)
    assert done.stdout.strip() == "Host"
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: mcp_harness.sdk_host needs version 2.3 or newer of the official SDK")
    assert "pip install 'mcp>=2.3,<3'" in last
