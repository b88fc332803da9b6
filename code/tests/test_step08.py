"""The port of lesson 8: routing as before, one bad server, any order of closing, all pages. Nothing stays behind."""

import asyncio
import sys
from pathlib import Path

import anyio
import pytest
from steps.step08_sdk_port import Connection, Hub

SERVERS = Path(__file__).resolve().parents[1] / "servers"


def run(steps, seconds=25):
    """Run a coroutine under a limit."""

    async def limited():
        with anyio.fail_after(seconds):
            return await steps

    return asyncio.run(limited())


def command(script, *arguments):
    return [sys.executable, str(SERVERS / script), *arguments]


THREE = {
    "notes": command("notes.py"),
    "files": command("files.py", "--era", "2026-07-28"),
    "github": command("github.py"),
}


def text(result):
    return result["content"][0]["text"]


def test_both_revisions_and_a_bad_server_give_one_table_and_its_routing():
    async def steps():
        async with Hub({**THREE, "mail": ["no-such-program"]}) as hub:
            called = [text(await hub.call(name, {"query": "plan"})) for name in ("search", "files/search")]
            unknown = await hub.call("open", {})
            return list(hub.registry), called, unknown["isError"], hub.connections["mail"].reason

    names, called, refused, reason = run(steps())
    assert names == ["search", "create", "read", "files/search", "list_issues", "open_pr", "github/search"]
    assert called == ["plan", "plan.txt"]
    assert refused
    assert reason == "[Errno 2] No such file or directory: 'no-such-program'"


def test_connections_close_in_any_order_and_from_any_task():
    async def steps():
        first, second = Connection("notes", THREE["notes"]), Connection("files", THREE["files"])
        await asyncio.gather(first.start(), second.start())
        await asyncio.create_task(first.close())
        assert first.client is None
        assert second.client is not None
        await second.close()

    run(steps())


@pytest.mark.parametrize(
    ("words", "reason"), [(("exits-at-once", "--text", ""), "Connection closed"), (("silent",), "TimeoutError")]
)
def test_the_reason_of_a_failed_start_is_unwrapped(words, reason):
    async def steps():
        connection = Connection("faulty", command("faulty.py", *words))
        connection._own = lambda own=connection._own: own(seconds=1)
        await connection.start()
        await connection.close()
        return connection.reason

    assert run(steps()) == reason


def test_all_pages_are_listed_and_a_death_is_an_error_result():
    async def steps():
        commands = {
            "pages": command("faulty.py", "pages", "--count", "3"),
            "frail": command("faulty.py", "dies-mid-call", "--text", ""),
        }
        async with Hub(commands) as hub:
            return [name for name in hub.registry if name.startswith("tool_")], await hub.call("wait", {})

    pages, dead = run(steps())
    assert pages == ["tool_0", "tool_1", "tool_2"]
    assert (dead["isError"], text(dead)) == (True, "server 'frail': Connection closed")
