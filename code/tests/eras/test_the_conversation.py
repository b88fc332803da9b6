"""What a client owes a server on stdio, seen from the server: the rules that the conformance suite leaves out.

First message to last: the probe and `initialized` (test_the_probe.py has more of it), plain lines,
ids, cancelling, stopping, starting again, the order of the shutdown.
"""

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp_harness import Host, RequestTimeout
from mcp_harness.clock import FakeClock

OLD, NEW = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"


def received(path):
    """What a server with --record has received: messages, and signals as text."""
    lines = path.read_text().splitlines()
    return [json.loads(line) if line.startswith("{") else line for line in lines]


@pytest.fixture
def record(tmp_path):
    return tmp_path / "record"


def test_initialized_is_sent_after_the_result_and_before_anything_else(faulty, gate, record):
    door = gate()
    with Host([faulty("slow-start", "--gate", door, "--record", record)], wait=False) as host:
        with door.arrive():
            assert [message["method"] for message in received(record)] == ["initialize"]
        host.wait_ready("faulty", timeout=10)
    _, second, third = received(record)
    assert second == {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert third["method"] == "tools/list"


def test_no_message_of_the_old_handshake_or_of_what_was_removed_reaches_a_new_server(faulty, record):
    handlers = {name: lambda server, params: {} for name in ("sampling", "elicitation", "roots")}
    with Host([faulty("good", "--record", record, era=NEW, client_era="auto")], **handlers) as host:
        host.call("echo", timeout=10)
        host.refresh("faulty")
        with pytest.raises(RequestTimeout):
            host.call("say", {"lines": [], "last": True}, timeout=0.2)
        host.call("echo", timeout=10)
    messages = received(record)
    assert {message["method"] for message in messages if "id" not in message} == {"notifications/cancelled"}
    allowed = {"server/discover", "subscriptions/listen", "tools/list", "tools/call"}
    assert {message["method"] for message in messages if "id" in message} == allowed


def test_each_request_of_the_new_revision_carries_what_the_handshake_used_to_say(faulty, record):
    sampling = lambda server, params: {}  # noqa: E731
    with Host([faulty("pages", "--count", 3, "--record", record, era=NEW)], sampling=sampling) as host:
        host.call("tool_2", {"text": "x"}, timeout=10)
    for message in received(record):
        meta = message["params"]["_meta"]
        assert meta[META + "protocolVersion"] == NEW
        assert meta[META + "clientCapabilities"] == {"sampling": {}}
        assert set(meta[META + "clientInfo"]) == {"name", "version"}
    assert [message["params"].get("cursor") for message in received(record) if message["method"] == "tools/list"] == [
        None, "p1", "p2",
    ]  # fmt: skip


@pytest.mark.both_eras
def test_every_line_is_one_object_and_no_id_is_used_twice(faulty, record):
    with Host([faulty("good", "--record", record)]) as host, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: host.call("echo", {"text": "\n\r\u2028" * number}, timeout=20), range(40)))
    ids = [message["id"] for message in received(record) if "id" in message]
    assert len(ids) == len(set(ids)) > 40
    assert all(isinstance(id, int) for id in ids)


@pytest.mark.both_eras
def test_a_call_that_is_given_up_is_cancelled_by_its_id_and_others_go_on(faulty, record, events):
    with Host([faulty("late-reply", "--record", record)], on_event=events) as host:
        with pytest.raises(RequestTimeout):
            host.call("late", timeout=0.2)
        events.wait("late_reply")
        assert host.call("echo", {"text": "on"}, timeout=10).text == "on"
    messages = received(record)
    (late,) = [message for message in messages if message.get("params", {}).get("name") == "late"]
    (cancelled,) = [message for message in messages if message["method"] == "notifications/cancelled"]
    assert cancelled["params"]["requestId"] == late["id"]


@pytest.mark.both_eras
def test_what_was_answered_is_not_cancelled(faulty, record):
    with Host([faulty("good", "--record", record)]) as host:
        for _ in range(5):
            host.call("echo", timeout=10)
    assert [message for message in received(record) if message["method"] == "notifications/cancelled"] == []


def test_a_cancelled_request_of_the_server_costs_nothing(faulty, facts):
    """2025-11-25: the server takes its question back while our handler is at work. Its answer may still be sent."""
    held, entered = threading.Event(), threading.Event()

    def roots(server, params):
        entered.set()
        held.wait(10)
        return {"roots": []}

    asks = json.dumps({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
    takes_back = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q"}})
    with Host([faulty("good")], roots=roots) as host:
        assert host.call("say", {"lines": [asks, takes_back]}, timeout=10).text == "said"
        assert entered.wait(10)
        held.set()
        assert host.call("echo", {"text": "on"}, timeout=10).text == "on"
        assert host.status()["faulty"].noise_lines == 0


@pytest.mark.both_eras
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["SIGKILL", "SIGTERM"])
def test_a_server_that_dies_is_started_again_and_opened_like_the_first(faulty, record, events, number):
    clock = FakeClock()
    with Host([faulty("good", "--record", record)], on_event=events, clock=clock) as host:
        first = received(record)
        os.kill(host.status()["faulty"].pid, number)
        events.wait("restarting")
        clock.advance(1.1)
        events.wait("ready", number=2)
        again = [message for message in received(record)[len(first) :] if isinstance(message, dict)]
        assert again == first, "the new process heard something else than the old one, other ids for instance"
        assert host.call("echo", {"text": "on"}, timeout=10).text == "on"


@pytest.mark.both_eras
def test_the_shutdown_closes_stdin_first_and_a_server_that_obeys_gets_no_signal(faulty, record):
    with Host([faulty("good", "--record", record)]):
        pass
    assert [line for line in received(record) if isinstance(line, str)] == []


@pytest.mark.slow
@pytest.mark.both_eras
def test_the_shutdown_goes_on_to_sigterm_for_a_server_that_ignores_the_end_of_stdin(faulty, record):
    with Host([faulty("ignores-eof", "--record", record)]):
        pass
    assert [line for line in received(record) if isinstance(line, str)] == ["SIGTERM"]


@pytest.mark.slow
def test_the_shutdown_ends_with_sigkill_for_a_server_that_ignores_sigterm(faulty, running, mark):
    with Host([faulty("ignores-sigterm", era=NEW)]) as host:
        pid = host.status()["faulty"].pid
    assert pid not in running()
