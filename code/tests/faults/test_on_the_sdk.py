"""The same kinds of fault against `SdkHost`: which of them the official SDK lets a client hold.

sdk.md says for each kind of README.md how it goes; the last test compares the two, and the tests here prove it,
the ones that do not hold too: when the SDK changes, a test fails and the page follows.
"""

import asyncio
import collections
import io
import json
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import anyio
import pytest
from mcp_harness import (
    HostClosed,
    Policy,
    RequestTimeout,
    RpcError,
    ServerDied,
    SpawnError,
    UnknownTool,
    load_config,
)
from mcp_harness.sdk_host import SdkHost

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent
TESTS = collections.defaultdict(list)  # kind → the tests that prove it
LIMIT = 25  # seconds for the asynchronous part of one test


def proves(kind):
    """The test proves what sdk.md says of this kind; an async one runs in a loop of its own, under a limit."""

    def register(test):
        TESTS[kind].append(test.__name__)
        return test

    return register


@pytest.fixture
def run():
    """`run(steps(), …)`: the coroutine under a limit."""

    def with_limit(steps):
        async def limited():
            with anyio.fail_after(LIMIT):
                return await steps

        return asyncio.run(limited())

    return with_limit


@pytest.fixture
def sdk(run):
    """`sdk(configs, steps, …)`: run `await steps(host)` with a host on the SDK, under a limit."""

    def with_host(configs, steps, **options):
        async def inside():
            async with SdkHost(configs, **options) as host:
                return await steps(host)

        return run(inside())

    return with_host


async def come(condition, seconds=10):
    """Wait until a condition holds, in the loop."""
    with anyio.fail_after(seconds):
        while not condition():
            await asyncio.sleep(0.005)


async def nothing(host):
    """No steps: open and close."""


# --- The start -------------------------------------------------------------------------


@proves("server exits at once, or after a moment")
@pytest.mark.parametrize("mode", ["exits-at-once", "exits-in-handshake"])
def test_an_exit_is_reported_with_command_and_last_words_but_without_the_code(faulty, sdk, mode):
    async def steps(host):
        return host.status()["faulty"]

    began = time.monotonic()
    status = sdk([faulty(mode, "--code", 3, "--text", "no licence key", start_timeout=25)], steps)
    assert time.monotonic() - began < 10
    assert status.state == "failed"
    assert "faulty.py" in status.reason
    assert "no licence key" in status.reason
    assert "code 3" not in status.reason


@proves("server exits at once, or after a moment")
@pytest.mark.parametrize("text", ['{"protocolVersion": "1999-01-01", "capabilities": {}}', "{}", "[]", "0"])
def test_an_initialize_result_that_makes_no_sense_is_a_failed_server(faulty, sdk, text):
    async def steps(host):
        return host.status()["faulty"]

    status = sdk([faulty("odd-initialize", "--text", text, start_timeout=2)], steps)
    assert status.state == "failed"
    assert status.reason


@proves("server silent at start, or slow to start")
def test_a_silent_server_fails_after_its_own_deadline_and_the_others_are_there(faulty, sdk):
    async def steps(host):
        assert (await host.call("echo", {"text": "on"})).text == "on"
        return host.status()["mute"]

    status = sdk([faulty("silent", name="mute", start_timeout=0.7), faulty("good")], steps)
    assert status.state == "failed"
    assert "start_timeout of 0.7 s" in status.reason


@proves("many slow servers, started one after another")
def test_slow_servers_start_together_and_no_more_than_the_bound(faulty, run, gate):
    doors = [gate() for _ in range(3)]
    configs = [faulty("slow-start", "--gate", door, name=f"s{i}") for i, door in enumerate(doors)]

    async def steps():
        async with SdkHost(configs, wait=False, max_starting=3) as host:
            arrived = [await asyncio.to_thread(door.arrive) for door in doors]  # all three are at their gates
            for each in arrived:
                each.close()
            for config in configs:
                await host.wait_ready(config.name)

    run(steps())


@proves("one bad server among good ones")
def test_one_bad_server_costs_nobody_else_anything(faulty, sdk):
    configs = [faulty("good", name="a"), faulty("exits-at-once", name="b"), faulty("good", name="c")]

    async def steps(host):
        assert (await host.call("a/echo", {"text": "1"})).text == "1"
        assert (await host.call("c/echo", {"text": "2"})).text == "2"
        return {name: status.state for name, status in host.status().items()}

    assert sdk(configs, steps, policy=Policy.PREFIX_ALL) == {"a": "ready", "b": "failed", "c": "ready"}


@proves("command missing, PATH stripped")
def test_a_missing_command_is_named_with_the_path_that_was_searched(sdk):
    (config,) = load_config({"mcpServers": {"ghost": {"command": "no-such-program", "args": ["a b"]}}})

    async def steps(host):
        with pytest.raises(SpawnError) as caught:
            await host.restart("ghost")
        return str(caught.value)

    text = sdk([config], steps)
    assert "['no-such-program', 'a b']" in text
    assert f"PATH searched: {os.environ['PATH']}" in text
    assert "has a space in it" in text


@proves("every secret of the host in every child")
def test_a_child_gets_a_short_list_of_variables_and_what_is_configured(faulty, sdk, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")

    async def steps(host):
        return json.loads((await host.call("report")).text)["environment"]

    environment = sdk([faulty("good", env={"DECLARED": "yes"})], steps)
    assert "SECRET_TOKEN" not in environment
    assert environment["DECLARED"] == "yes"
    assert "PATH" in environment


@proves("`${VAR}` undefined")
def test_variables_are_replaced_before_the_sdk_sees_them():
    with pytest.raises(ValueError, match=r"server 'x': 'args\[0\]' uses \$\{NOT_THERE\}"):
        load_config({"mcpServers": {"x": {"command": "c", "args": ["${NOT_THERE}"]}}}, environ={})


@proves("legacy code page")
def test_text_is_utf_8_whatever_the_code_page(mark):
    program = f"""
        import asyncio, sys
        sys.path.insert(0, {str(FOLDER.parents[1])!r})
        from mcp_harness import ServerConfig
        from mcp_harness.sdk_host import SdkHost
        async def main():
            config = ServerConfig("s", sys.executable, [{str(FOLDER.parents[1] / "servers" / "faulty.py")!r}, "good",
                                  "--mark", {mark!r}])
            async with SdkHost([config]) as host:
                print(ascii((await host.call("echo", {{"text": "\\u00fc\\u20ac"}})).text))
        asyncio.run(main())
    """
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=25, check=True)
    assert done.stdout.strip() == r"'\xfc\u20ac'"


# --- The bytes -------------------------------------------------------------------------


@proves("two messages in one read, one in many, characters cut in half")
@pytest.mark.parametrize("how", ["bytes", "halves"])
def test_messages_cut_anywhere_arrive_whole(faulty, sdk, how):
    async def steps(host):
        return (await host.call("echo", {"text": "ü€\u2028𝄞"})).text

    assert sdk([faulty("odd-frames", "--how", how)], steps) == "ü€\u2028𝄞"


@proves("CRLF at the end of a line")
def test_crlf_is_accepted(faulty, sdk):
    async def steps(host):
        return (await host.call("echo", {"text": "x"})).text

    assert sdk([faulty("odd-frames", "--how", "crlf")], steps) == "x"


@proves("prints and banners on stdout")
def test_banners_are_skipped_counted_and_told_once(faulty, sdk):
    seen = []

    async def steps(host):
        assert (await host.call("echo", {"text": "x"})).text == "x"
        await come(lambda: host.status()["faulty"].noise_lines > 5)

    sdk([faulty("banners")], steps, on_event=seen.append)
    assert len([event for event in seen if event.kind == "noise" and event.server == "faulty"]) == 1


@proves("long lines, lines without an end")
def test_a_line_has_no_stated_maximum(faulty, sdk):
    """Our own client stops at 64 MiB with a clear error; the SDK goes on collecting. Here: one line of 2 MB."""

    async def steps(host):
        assert (await host.call("endless", {"size": 2_000_000}, timeout=20)).text == "at last"
        return host.status()["faulty"].noise_lines

    assert sdk([faulty("endless-line")], steps) == 1


@proves("bytes that are not UTF-8")
def test_a_line_that_is_not_utf_8_costs_only_itself(faulty, sdk, tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x80 not UTF-8 \xc3")

    async def steps(host):
        assert (await host.call("replay", {"path": str(tmp_path / "bytes")})).text == "replayed"
        return (await host.call("echo", {"text": "next"})).text

    assert sdk([faulty("good")], steps) == "next"


@proves("stderr flood")
@pytest.mark.parametrize("how", ["lines", "line"])
def test_a_flood_on_stderr_is_drained_and_only_its_end_is_kept(faulty, sdk, how):
    async def steps(host):
        assert (await host.call("echo", {"text": "x"})).text == "x"
        return host.status()["faulty"].stderr_tail

    tail = sdk([faulty("stderr-flood", "--count", 4, "--how", how)], steps)
    assert tail[-1] == "the last line"
    assert sum(map(len, tail)) < 70_000


@proves("`fileno` in Colab and Jupyter")
def test_no_stream_of_the_program_needs_a_descriptor(faulty, sdk, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sys, "stdout", io.StringIO())

    async def steps(host):
        return (await host.call("echo", {"text": "x"})).text

    assert sdk([faulty("good")], steps) == "x"


@proves("a result of 31 MB")
def test_a_big_result_comes_whole(faulty, sdk):
    async def steps(host):
        return len((await host.call("big", {"size": 4_000_000}, timeout=20)).text)

    assert sdk([faulty("good")], steps) == 4_000_000


# --- The calls -------------------------------------------------------------------------


@proves("reply id comes back as a string")
def test_a_numeric_id_that_comes_back_as_a_string_is_matched(faulty, sdk):
    line = '{"jsonrpc": "2.0", "id": "$id", "result": {"content": [{"type": "text", "text": "mine"}]}}'

    async def steps(host):
        return (await host.call("say", {"lines": [line], "last": True}, timeout=3)).text

    assert sdk([faulty("good")], steps) == "mine"


@proves("replies out of order, many calls at once")
def test_many_calls_wait_together_and_each_gets_its_own_reply(faulty, sdk):
    async def steps(host):
        calls = [host.call("together", {"text": str(n)}, timeout=20) for n in range(20)]
        return [result.text for result in await asyncio.gather(*calls)]

    assert sdk([faulty("out-of-order", "--count", 20)], steps) == [str(n) for n in range(20)]


@proves("writes from many threads interleave")
def test_frames_of_many_tasks_do_not_mix(faulty, sdk):
    texts = [f"{n}:" + "é" * 50_000 for n in range(12)]

    async def steps(host):
        return [r.text for r in await asyncio.gather(*[host.call("echo", {"text": t}, timeout=20) for t in texts])]

    assert sdk([faulty("good")], steps) == texts


@proves("late reply after a deadline")
def test_a_late_reply_is_ignored_and_the_server_was_told(faulty, sdk):
    async def steps(host):
        with pytest.raises(RequestTimeout, match="late"):
            await host.call("late", {}, timeout=0.3)
        assert (await host.call("echo", {"text": "after"})).text == "after"
        status = host.status()["faulty"]
        received = json.loads((await host.call("report")).text)["received"]
        return status, [m["method"] for m in received if m.get("method") == "notifications/cancelled"]

    status, cancelled = sdk([faulty("late-reply")], steps)
    assert cancelled == ["notifications/cancelled"]
    assert status.pending == 0
    assert status.late_replies == 0, "the SDK counts them now: let the status say it"


@proves("server stops reading, the pipe is full")
def test_the_deadline_fires_although_the_pipe_is_full_and_close_works(faulty, sdk):
    async def steps(host):
        for _ in range(2):
            with pytest.raises(RequestTimeout):
                await host.call("echo", {"text": "z" * 1_000_000}, timeout=0.5)
        return (await host.call("other/echo", {"text": "well"})).text

    assert sdk([faulty("stops-reading"), faulty("good", name="other")], steps) == "well"


@proves("the server asks the client")
def test_ping_and_handlers_are_answered_and_a_handler_that_raises_is_minus_32603(faulty, sdk):
    def roots(server, params):
        raise LookupError("no folder")

    async def model(server, params):
        return {"role": "assistant", "content": {"type": "text", "text": server}, "model": "m"}

    async def steps(host):
        async def ask(method, params):
            return json.loads((await host.call("ask_client", {"method": method, "params": params})).text)

        prompt = {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 5}
        question = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
        return [
            (await ask("ping", {}))["result"],
            (await ask("sampling/createMessage", prompt))["result"]["content"]["text"],
            (await ask("roots/list", {}))["error"]["code"],
            (await ask("elicitation/create", question))["error"]["code"],
            (await ask("no/such", {}))["error"]["code"],
        ]

    answers = sdk([faulty("good")], steps, sampling=model, roots=roots)
    assert answers == [{}, "faulty", -32603, -32600, -32601], "an undeclared one gets -32600 from the SDK"


@proves("a handler that calls a tool on the same server")
def test_a_handler_may_call_a_tool_of_the_server_that_asks(faulty, sdk):
    hosts = []

    async def model(server, params):
        text = (await hosts[0].call("echo", {"text": "from inside"}, timeout=5)).text
        return {"role": "assistant", "content": {"type": "text", "text": text}, "model": "m"}

    async def steps(host):
        hosts.append(host)
        prompt = {"messages": [], "maxTokens": 5}
        return (await host.call("ask_client", {"method": "sampling/createMessage", "params": prompt}, timeout=10)).text

    assert "from inside" in sdk([faulty("good")], steps, sampling=model)


@proves("anything before the initialize result")
def test_a_server_may_talk_before_the_handshake_is_over(faulty, sdk):
    async def steps(host):
        return (await host.call("echo", {"text": "x"})).text

    assert sdk([faulty("talks-before-initialize")], steps) == "x"


@proves("`list_changed`, once or 500 times")
@pytest.mark.parametrize("times", [1, 500])
def test_changes_lead_to_few_listings(faulty, sdk, times):
    async def steps(host):
        host.tools()
        await host.call("change", {"tools": ["fresh"], "times": times})
        await come(lambda: "fresh" in host.tools())
        received = json.loads((await host.call("report")).text)["received"]
        return len([m for m in received if m.get("method") == "tools/list"])

    assert sdk([faulty("good")], steps) <= 1 + (1 if times == 1 else times // 10)


@proves("`isError: true` taken for a protocol error")
def test_an_error_of_the_tool_is_a_result_and_one_of_the_protocol_an_exception(faulty, sdk):
    line = '{"jsonrpc": "2.0", "id": $id, "error": {"code": -32602, "message": "no such thing", "data": {"a": 1}}}'

    async def steps(host):
        failed = await host.call("fail", {})
        with pytest.raises(RpcError) as caught:
            await host.call("say", {"lines": [line], "last": True})
        return failed, caught.value

    failed, error = sdk([faulty("failing-tool"), faulty("good", name="other")], steps)
    assert (failed.is_error, failed.text, failed.structured) == (True, "the disk is full", {"not": "promised"})
    assert (error.code, error.message, error.data) == (-32602, "no such thing", {"a": 1})


# --- Death and restart -------------------------------------------------------------------


@proves("server dies in the middle of a call")
def test_all_pending_calls_fail_at_once_with_last_words_and_no_exit_code(faulty, sdk):
    async def steps(host):
        calls = [host.call("wait", {}, timeout=20) for _ in range(5)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        return outcomes, host.status()["faulty"], "wait" in host.tools()

    config = faulty("dies-mid-call", "--count", 5, "--text", "out of memory", restart="never")
    outcomes, status, listed = sdk([config], steps)
    assert all(isinstance(one, ServerDied) and "out of memory" in str(one) for one in outcomes)
    assert (status.state, status.pending, status.pid, listed) == ("failed", 0, None, True)


@proves("stdout closed, process alive")
def test_a_server_that_closes_its_stdout_is_dead_and_reaped(faulty, sdk, tmp_path):
    async def steps(host):
        with pytest.raises(ServerDied):
            await host.call("close", {}, timeout=20)

    sdk([faulty("closes-pipes", "--record", tmp_path / "record", restart="never")], steps)
    assert b"SIGTERM" in (tmp_path / "record").read_bytes()


class Sleeper:
    """A `sleep` that the test ends: each sleeper waits until it is let go."""

    def __init__(self):
        self.asked, self.doors = [], []

    async def __call__(self, seconds):
        door = asyncio.Event()
        self.asked.append(seconds)
        self.doors.append(door)
        await door.wait()


@proves("dies again and again")
def test_the_wait_grows_with_one_notice_at_three_and_one_on_recovery(faulty, sdk, tmp_path):
    sleeper, seen = Sleeper(), []

    async def steps(host):
        with pytest.raises(ServerDied):
            await host.call("die", {}, timeout=20)
        for number in range(1, 5):
            await come(lambda number=number: len(sleeper.asked) == number)
            sleeper.doors[-1].set()
        await host.wait_ready("faulty", timeout=10)
        return [event.kind for event in seen if event.kind in ("notice", "recovered", "died", "ready")]

    config = faulty("crash-loop", "--count", 4, "--starts", tmp_path / "starts")
    kinds = sdk([config], steps, on_event=seen.append, sleep=sleeper)
    assert [round(seconds) for seconds in sleeper.asked] == [1, 2, 4, 8]
    assert kinds == ["ready", "died", "notice", "ready", "recovered"]


@proves("restarted with other tools, or with none")
def test_a_restarted_server_is_ready_only_with_its_new_tools(faulty, sdk, tmp_path):
    seen = []
    lists = json.dumps([["old"], ["new"]])

    async def steps(host):
        host.tools()
        changed = await host.restart("faulty")
        return changed, "old" in host.tools(), "new" in host.tools()

    config = faulty("good", "--tools", lists, "--starts", tmp_path / "starts")
    assert sdk([config], steps, on_event=seen.append) == (["new", "old"], False, True)
    (event,) = [event for event in seen if event.kind == "tools_changed"]
    assert (event.data["added"], event.data["removed"]) == (["new"], ["old"])


@proves("call while restarting")
def test_a_call_while_restarting_says_when_and_is_never_replayed(faulty, sdk):
    sleeper = Sleeper()

    async def steps(host):
        with pytest.raises(ServerDied):
            await host.call("die", {}, timeout=20)
        with pytest.raises(ServerDied, match="next start in") as caught:
            await host.call("echo", {"text": "x"})
        await come(lambda: sleeper.doors)
        sleeper.doors[0].set()
        await host.wait_ready("faulty", timeout=10)
        received = json.loads((await host.call("report")).text)["received"]
        return caught.value.retry_in, [m["params"]["name"] for m in received if m.get("method") == "tools/call"]

    retry_in, called = sdk([faulty("good")], steps, sleep=sleeper)
    assert 0 < retry_in <= 1
    assert called == ["report"]


@proves("reply of the old process after a restart")
def test_a_reply_of_the_old_process_reaches_nobody(faulty, sdk, gate, tmp_path):
    door = gate()

    async def steps(host):
        dying = asyncio.create_task(host.call("haunt", {}, timeout=20))
        while not (await asyncio.to_thread((tmp_path / "starts").exists)):
            await asyncio.sleep(0.01)
        entered = await asyncio.to_thread(door.arrive)
        await host.restart("faulty")
        waiting = asyncio.create_task(host.call("never", {}, timeout=0.5))
        entered.close()
        with pytest.raises(ServerDied):
            await dying
        with pytest.raises(RequestTimeout):
            await waiting
        return (await host.call("haunt", {}, timeout=5)).text

    config = faulty("reply-of-the-dead", "--gate", door, "--starts", tmp_path / "starts")
    assert sdk([config], steps) == "alive"


@proves("close during backoff")
def test_nothing_starts_after_a_close_during_the_wait(faulty, sdk, tmp_path):
    sleeper = Sleeper()

    async def steps(host):
        with pytest.raises(ServerDied):
            await host.call("die", {}, timeout=20)
        await come(lambda: sleeper.doors)
        await host.close()
        sleeper.doors[0].set()
        with pytest.raises(HostClosed):
            await host.call("echo", {})

    sdk([faulty("good", "--starts", tmp_path / "starts")], steps, sleep=sleeper)
    assert len((tmp_path / "starts").read_text().splitlines()) == 1


# --- The end ---------------------------------------------------------------------------


@proves("the grandchild survives")
def test_a_grandchild_of_a_server_that_ends_by_itself_lives_on(faulty, sdk, mark, running):
    """The SDK ends the process group only where the server itself does not end with its stdin."""
    sdk([faulty("leaves-a-grandchild")], nothing)
    left = [pid for pid, (_, command) in running().items() if mark in command]
    assert left, "the SDK ends the whole group now: say so in sdk.md"
    for pid in left:
        os.kill(pid, 9)


@proves("ignores EOF, ignores SIGTERM")
def test_stubborn_servers_are_ended_in_parallel(faulty, run):
    async def steps():
        async with SdkHost([faulty("ignores-sigterm", name=f"s{n}") for n in range(4)]):
            began = time.monotonic()
        return time.monotonic() - began

    assert run(steps()) < 12


@proves("Ctrl-C reaches the children first")
def test_the_children_have_a_session_of_their_own(faulty, sdk):
    async def steps(host):
        return json.loads((await host.call("report")).text)

    facts = sdk([faulty("good")], steps)
    assert facts["group"] == facts["pid"] != os.getpgid(0)


@proves("start and stop 200 times")
def test_many_lives_leave_nothing(faulty, sdk, leaks):
    async def steps(host):
        await host.restart("faulty")
        before = leaks()
        for _ in range(20):
            await host.restart("faulty")
        # the one server that runs now has a child, and on some versions of Python a thread that waits for it
        return [line for line in before.since() if "child" not in line and "asyncio-waitpid" not in line]

    assert sdk([faulty("good")], steps) == []


# --- The list of tools -------------------------------------------------------------------


@proves("more than one page of tools, a cursor that does not advance")
@pytest.mark.parametrize(
    ("arguments", "tools", "notices"),
    [(["--count", 5], 5, 0), (["--count", 2, "--how", "empty"], 2, 0), (["--count", 3, "--how", "repeat"], 2, 1)],
)
def test_all_pages_are_followed_and_a_cursor_that_stands_still_ends_the_list(faulty, sdk, arguments, tools, notices):
    seen = []

    async def steps(host):
        return host.status()["faulty"].tools

    assert sdk([faulty("pages", *arguments)], steps, on_event=seen.append) == tools
    assert len([event for event in seen if event.kind == "notice"]) == notices


@proves("one tool with a bad schema")
def test_one_bad_tool_costs_its_server_all_tools(faulty, sdk):
    async def steps(host):
        return host.status()["faulty"]

    status = sdk([faulty("bad-tools")], steps)
    assert status.state == "failed", "the SDK reads a listing tool by tool now: say so in sdk.md"
    assert "validation error" in status.reason


@proves("a tool gone between list and call")
@pytest.mark.parametrize("how", ["error", "is-error"])
def test_a_tool_that_is_gone_leads_to_one_refresh_and_a_clear_error(faulty, sdk, how):
    async def steps(host):
        host.tools()
        with pytest.raises(UnknownTool, match="no longer has 'gone'"):
            await host.call("gone", {}, timeout=5)
        return "gone" in host.tools()

    assert sdk([faulty("tool-gone", "--how", how)], steps) is False


@proves("names that collide, are too long or illegal")
def test_awkward_names_are_all_reached_by_the_servers_own_name(faulty, sdk):
    async def steps(host):
        return {
            (tool.local_name, (await host.call(name, {})).structured["tool"])
            for name, tool in host.tools().items()
            if tool.local_name in ("search", "a__b", "files/search", "a b", "ünï", "-", "x" * 200)
        }

    pairs = sdk([faulty("awkward-names", name="acme"), faulty("awkward-names", name="acme_")], steps)
    assert len(pairs) == 7
    assert all(local == received for local, received in pairs)


# --- sdk.md ------------------------------------------------------------------------------

ROW = re.compile(r"^\| (.+?) \| (yes|in part|no) \| (.+?) \|$", re.MULTILINE)


def test_the_page_has_each_kind_in_the_order_of_the_fault_table_and_each_is_proved_here():
    readme = (FOLDER / "README.md").read_text("utf-8")
    kinds = re.findall(r"^\| (.+?) \|", readme, re.MULTILINE)[1:]
    kinds = [kind for kind in kinds if not set(kind) <= set("-")]
    rows = ROW.findall((FOLDER / "sdk.md").read_text("utf-8"))
    assert [kind for kind, _, _ in rows] == kinds
    assert set(TESTS) == set(kinds)


def test_the_page_counts_right():
    page = (FOLDER / "sdk.md").read_text("utf-8")
    counts = collections.Counter(held for _, held, _ in ROW.findall(page))
    sentence = f"{counts['yes']} kinds hold, {counts['in part']} in part, {counts['no']} do not"
    assert sentence in page
