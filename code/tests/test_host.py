"""The host: its surface, restarts by a fake clock, events, status. Real processes, no sleeping."""

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from mcp_harness import (
    ArgumentsError,
    ConfigError,
    FakeClock,
    Host,
    HostClosed,
    RequestTimeout,
    RpcError,
    ServerConfig,
    ServerDied,
    SpawnError,
    UnknownServer,
    UnknownTool,
    load_config,
)

SERVERS = Path(__file__).resolve().parents[1] / "servers"


def config(name, **options):
    return ServerConfig(name, sys.executable, ("-I", "-S", str(SERVERS / f"{name}.py")), **options)


def kill(host, name):
    """Kill a server; returns when the host has noticed."""
    os.kill(host.status()[name].pid, 9)


# --- the surface ---------------------------------------------------------------------------


def test_a_result_carries_content_text_structure_server_and_the_raw_message():
    with Host([config("files")]) as host:
        result = host.call("read", {"path": "plan.txt"})
        assert result.content == [{"type": "text", "text": "1. merge 2. route"}]
        assert result.text == "1. merge 2. route"
        assert (result.structured, result.is_error, result.server) == (None, False, "files")
        assert result.raw["content"] == result.content
        failed = host.call("read", {"path": "nowhere"})
        assert failed.is_error
        assert "nowhere" in failed.text


def test_a_tool_without_arguments_needs_none():
    with Host([config("github")]) as host:
        assert "Names collide" in host.call("list_issues").text


def test_tools_are_described_for_people_and_models():
    with Host([config("files")]) as host:
        tool = host.tools()["read"]
        assert (tool.description, tool.model_name) == ("Read a file.", "files__read")
        assert tool.definition["inputSchema"]["required"] == ["path"]
        host.tools().clear()
        assert host.tools()


def test_status_says_how_each_server_is():
    with Host([config("files"), ServerConfig("gone", "no-such-command-at-all")]) as host:
        files, gone = host.status().values()
        assert (files.name, files.state, files.reason, files.era) == ("files", "ready", None, "2025-11-25")
        assert (files.tools, files.restarts, files.retry_in, files.generation) == (2, 0, None, 1)
        assert (files.pending, files.noise_lines, files.late_replies, files.stderr_tail) == (0, 0, 0, ())
        os.kill(files.pid, 0)
        assert files.uptime >= 0
        assert (gone.state, gone.pid, gone.tools, gone.generation, gone.uptime) == ("failed", None, 0, 1, None)
        assert "no-such-command-at-all" in gone.reason
    assert {status.state for status in host.status().values()} == {"closed"}


def test_an_entry_with_a_url_is_a_failed_server_with_a_sentence():
    entries = {
        "web": {"url": "https://example.org/mcp"},
        "files": {"command": sys.executable, "args": config("files").args},
    }
    with Host(load_config({"mcpServers": entries})) as host:
        assert host.status()["web"].state == "failed"
        assert "URL" in host.status()["web"].reason
        assert host.call("read", {"path": "plan.txt"}).server == "files"
        with pytest.raises(SpawnError, match="URL"):
            host.restart("web")


def test_two_servers_of_one_name_are_refused_before_anything_starts():
    with pytest.raises(ConfigError, match="twice"):
        Host([config("files"), config("files")])
    with pytest.raises(ConfigError, match="ServerConfig"):
        Host([{"name": "files"}])
    with pytest.raises(ConfigError, match="max_starting"):
        Host([], max_starting=0)


def test_a_host_without_servers_is_no_error():
    with Host([]) as host:
        assert (host.tools(), host.status()) == ({}, {})
        with pytest.raises(UnknownTool):
            host.call("x")


def test_outside_of_its_block_a_host_says_so():
    host = Host([config("files")])
    for use in (lambda: host.call("read"), lambda: host.refresh("files"), lambda: host.wait_ready("files")):
        with pytest.raises(HostClosed, match="with"):
            use()
    with host:
        pass
    host.close()
    for use in (
        lambda: host.call("read", {}),
        lambda: host.refresh("files"),
        lambda: host.restart("files"),
        lambda: host.wait_ready("files"),
        host.__enter__,
    ):
        with pytest.raises(HostClosed):
            use()


def test_wrong_names_and_arguments_are_the_callers_mistakes():
    with Host([config("files")]) as host:
        with pytest.raises(UnknownServer, match="'files'"):
            host.refresh("fiels")
        with pytest.raises(UnknownTool) as caught:
            host.call("raed", {})
        assert caught.value.suggestions == ("read",)
        with pytest.raises(ArgumentsError):
            host.call("read", ["plan.txt"])
        with pytest.raises(ArgumentsError):
            host.call("read", {"path": object()})
        assert host.status()["files"].pending == 0


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
def test_a_request_that_no_tool_is_for(era):
    command = ("-I", "-S", str(SERVERS / "files.py"), "--era", era)
    with Host([ServerConfig("files", sys.executable, command)]) as host:
        assert [tool["name"] for tool in host.request("files", "tools/list")["tools"]] == ["read", "search"]
        with pytest.raises(RpcError, match=r"answered prompts/list with error -32601"):
            host.request("files", "prompts/list", timeout=5)
        with pytest.raises(UnknownServer):
            host.request("mail", "prompts/list")
        assert host.status()["files"].pending == 0
    with pytest.raises(HostClosed):
        host.request("files", "prompts/list")


def test_a_request_without_a_reply_ends_in_time(faulty):
    with (
        Host([faulty("never-answers")]) as host,
        pytest.raises(RequestTimeout, match=r"no reply to tools/call 'never' within 0\.2 s"),
    ):
        host.request("faulty", "tools/call", {"name": "never"}, timeout=0.2)


def test_the_2026_revision_fails_with_a_sentence_for_now():
    with Host([config("files", era="2026-07-28")]) as host:
        assert host.status()["files"].state == "failed"
        assert "2026-07-28" in host.status()["files"].reason


def test_refresh_returns_the_names_that_changed(faulty):
    with Host([config("files")]) as host:
        assert host.refresh("files") == []


# --- restarts, by a fake clock ---------------------------------------------------------------


def test_a_killed_server_starts_again_after_one_second_with_a_new_process(events):
    clock = FakeClock()
    with Host([config("notes")], on_event=events, clock=clock) as host:
        host.call("create", {"title": "t", "text": "lost"})
        first = host.status()["notes"]
        kill(host, "notes")
        assert events.wait("restarting").data["delay"] == 1
        down = host.status()["notes"]
        assert (down.state, down.pid, down.uptime, down.tools) == ("restarting", None, None, 2)
        assert down.retry_in == 1
        assert "SIGKILL" in down.reason
        clock.advance(0.5)
        with pytest.raises(ServerDied, match="SIGKILL") as caught:
            host.call("search", {"query": "lost"})
        assert caught.value.retry_in == 0.5
        clock.advance(0.5)
        host.wait_ready("notes", timeout=10)
        again = host.status()["notes"]
        assert (again.generation, again.restarts, again.state, again.reason) == (2, 1, "ready", None)
        assert again.pid != first.pid
        assert host.call("search", {"query": "lost"}).text == "no note found"
        events.wait("ready", number=2)  # a thread of its own hands events on, perhaps after the call
        kinds = [event.kind for event in events.seen()]
        assert kinds == ["ready", "died", "restarting", "ready"]


def test_exit_code_0_is_a_failure_too(faulty, events):
    clock = FakeClock()
    with Host([faulty("dies-mid-call", "--code", 0)], on_event=events, clock=clock) as host:
        with pytest.raises(ServerDied, match="code 0"):
            host.call("wait", {}, timeout=10)
        events.wait("restarting")


def test_each_row_has_one_notice_and_one_recovery(events):
    clock = FakeClock()
    with Host([config("files")], on_event=events, clock=clock) as host:
        for number, delay in enumerate([1, 2, 4, 8, 16, 30, 30], 1):
            kill(host, "files")
            assert events.wait("restarting", number=number).data["delay"] == delay
            clock.advance(delay)
            events.wait("ready", number=number + 1)
        clock.advance(60)
        kill(host, "files")
        assert events.wait("restarting", number=8).data["delay"] == 1
    assert [len(events.seen(kind)) for kind in ("notice", "recovered", "died")] == [1, 1, 8]
    kinds = [event.kind for event in events.seen()]
    assert kinds.index("notice") < kinds.index("recovered")
    assert kinds[: kinds.index("notice")].count("died") == 3


def test_a_start_that_fails_is_tried_again_with_the_next_delay(events):
    clock, numbers = FakeClock(), itertools.count()

    def spawn(*args, **options):
        if 1 <= next(numbers) <= 2:
            raise FileNotFoundError("gone for a moment")
        return subprocess.Popen(*args, **options)

    with Host([config("files")], on_event=events, clock=clock, spawn=spawn) as host:
        kill(host, "files")
        for number, delay in enumerate([1, 2, 4], 1):
            assert events.wait("restarting", number=number).data["delay"] == delay
            clock.advance(delay)
        events.wait("ready", number=2)
        events.wait("recovered")
        assert host.status()["files"].restarts == 3
        assert [event.at for event in events.seen("restarting")] == [0, 1, 3]


def test_a_server_that_was_never_ready_is_not_started_again(events):
    clock, starts = FakeClock(), []

    def spawn(*args, **options):
        starts.append(args)
        raise PermissionError("no")

    with Host([config("files")], on_event=events, clock=clock, spawn=spawn) as host:
        assert host.status()["files"].state == "failed"
        clock.advance(1000)
        with pytest.raises(SpawnError, match="no"):
            host.wait_ready("files")
    assert len(starts) == 1
    assert [event.kind for event in events.seen()] == ["failed"]


def test_never_means_failed_at_once_and_the_tools_stay_listed(events):
    clock = FakeClock()
    with Host([config("files", restart="never")], on_event=events, clock=clock) as host:
        kill(host, "files")
        events.wait("failed")
        clock.advance(1000)
        assert host.status()["files"].retry_in is None
        assert set(host.tools()) == {"read", "search"}
        with pytest.raises(ServerDied, match="SIGKILL"):
            host.call("read", {"path": "plan.txt"})
        with pytest.raises(ServerDied, match="SIGKILL"):
            host.wait_ready("files")
        assert host.restart("files") == []
        assert host.call("read", {"path": "plan.txt"}).server == "files"


def test_restart_by_hand_ends_the_row_and_the_old_process(events):
    clock = FakeClock()
    with Host([config("files")], on_event=events, clock=clock) as host:
        kill(host, "files")
        events.wait("restarting")
        assert host.restart("files") == []
        assert host.status()["files"].generation == 2
        clock.advance(100)
        kill(host, "files")
        assert events.wait("restarting", number=2).data["delay"] == 1


def test_restart_by_hand_fails_the_calls_that_wait(faulty):
    with Host([faulty("never-answers")]) as host:
        answers = []

        def call():
            try:
                host.call("never", {}, timeout=20)
            except ServerDied as error:
                answers.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        while not host.status()["faulty"].pending:
            pass
        host.restart("faulty")
        thread.join(10)
        assert "on request" in answers[0].reason


def test_a_plain_function_will_do_as_a_clock(events):
    now = [0.0]
    with Host([config("files")], on_event=events, clock=lambda: now[0]) as host:
        kill(host, "files")
        events.wait("restarting")
        now[0] = 1.0
        host.wait_ready("files", timeout=10)


# --- waiting, events -------------------------------------------------------------------------


def test_wait_ready_gives_up_at_its_deadline(faulty):
    with Host([faulty("silent")], wait=False) as host:
        with pytest.raises(RequestTimeout, match="starting"):
            host.wait_ready("faulty", timeout=0.1)
        assert isinstance(RequestTimeout("s", "m"), TimeoutError)


def test_a_server_that_is_too_slow_is_failed_with_a_reason(faulty, events):
    with Host([faulty("silent", start_timeout=0.2)], on_event=events) as host:
        status = host.status()["faulty"]
        assert status.state == "failed"
        assert "start_timeout of 0.2 s" in status.reason
        assert events.wait("failed").data["reason"] == status.reason


def test_events_come_from_one_thread_that_is_not_a_reader():
    threads = set()
    with Host([config("files"), config("notes")], on_event=lambda event: threads.add(threading.current_thread().name)):
        pass
    assert threads == {"mcp-events"}


def test_a_broken_callback_is_counted():
    def callback(event):
        raise ValueError(event.kind)

    with Host([config("files")], on_event=callback) as host:
        assert host.call("read", {"path": "plan.txt"}).server == "files"
    assert host.events.errors == 1
    assert str(host.events.last_error) == "ready"


def test_a_failure_while_entering_leaves_nothing(monkeypatch):
    def interrupt(self):
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        return True

    monkeypatch.setattr(Host, "_settle", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Host([config("files")]).__enter__()


def test_a_handler_that_was_not_given_is_not_declared(faulty, facts):
    def roots(server, params):
        return {"roots": []}

    with Host([faulty("good", name="a"), faulty("good", name="b")], roots=roots) as host:
        (hello,) = [m for m in facts(host)["received"] if m.get("method") == "initialize"]
    assert hello["params"]["capabilities"] == {"roots": {}}
    assert hello["params"]["protocolVersion"] == "2025-11-25"


def test_three_descriptors_and_one_thread_a_server():
    def used(number):
        with Host([ServerConfig(f"s{n}", sys.executable, config("files").args) for n in range(number)]):
            return len(os.listdir("/dev/fd")), threading.active_count()

    (one_fds, one_threads), (four_fds, four_threads) = used(1), used(4)
    assert (four_fds - one_fds, four_threads - one_threads) == (9, 3)


def test_the_deadline_covers_a_name_and_a_number(faulty):
    with Host([faulty("never-answers")]) as host:
        with pytest.raises(RequestTimeout, match=r"'faulty'.*'never'.*0\.1 s"):
            host.call("never", timeout=0.1)
        assert host.status()["faulty"].pending == 0


def test_a_json_rpc_error_is_an_exception_with_its_parts(tmp_path):
    script = tmp_path / "server.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(SERVERS.parent)!r})\n"
        "from main import make_files_server; from servers.stdio_loop import serve\n"
        "inner = make_files_server()\n"
        "error = {'code': -32000, 'message': 'no disk', 'data': [1]}\n"
        "fail = lambda r: {'jsonrpc': '2.0', 'id': r['id'], 'error': error}\n"
        "serve(lambda r: fail(r) if r['method'] == 'tools/call' else inner(r))\n"
    )
    with Host([ServerConfig("s", sys.executable, ("-I", "-S", str(script)))]) as host:
        with pytest.raises(RpcError) as caught:
            host.call("read", {"path": "x"})
        assert (caught.value.code, caught.value.message, caught.value.data) == (-32000, "no disk", [1])
        assert "no disk" in str(caught.value)


def test_closing_many_servers_takes_the_time_of_one():
    with Host([ServerConfig(f"s{n}", sys.executable, config("files").args) for n in range(12)]) as host:
        began = time.monotonic()
        host.close()
        assert time.monotonic() - began < 2


def test_the_package_imports_the_standard_library_only():
    script = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import mcp_harness, mcp_harness.__main__; "
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    run = [sys.executable, "-I", "-S", "-c", script, str(SERVERS.parent)]
    modules = json.loads(subprocess.run(run, capture_output=True, check=True, timeout=20).stdout)
    assert set(modules) - set(sys.stdlib_module_names) <= {"mcp_harness", "__main__"}
