"""The small client after lesson 3: nobody waits for anybody. Each server is a real process."""

import json
import queue
import sys
import threading
import time
from pathlib import Path

import main
import pytest
from servers import faulty
from steps.step03_reader_thread import (
    LIST_CHANGED,
    Connection,
    RequestTimeout,
    RpcError,
    ServerDied,
    Tracker,
    call,
    merge,
)

SERVERS = Path(main.__file__).parent / "servers"


def command(mode, *options):
    """The fault server in one of its modes."""
    return [sys.executable, faulty.__file__, mode, *map(str, options)]


def texts(result):
    """The text of a tool's result."""
    return result["content"][0]["text"]


def tool(connection, name, timeout=10.0, **arguments):
    """Call a tool of one server directly."""
    return connection.request("tools/call", {"name": name, "arguments": arguments}, timeout)


def until(condition, seconds=10.0):
    """Wait for a condition."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.005)


def test_the_three_servers_of_the_course_work_as_in_main_py():
    names = ("notes", "files", "github")
    connections = {name: Connection(name, [sys.executable, str(SERVERS / f"{name}.py")]) for name in names}
    try:
        for connection in connections.values():
            connection.start()
        registry = merge(connections)
        assert list(registry)[:4] == ["search", "create", "read", "files/search"]
        assert texts(call(registry, connections, "files/search", {"query": "plan"})) == "plan.txt"
    finally:
        for connection in connections.values():
            connection.close()
    assert {connection.popen.returncode for connection in connections.values()} == {0}


def test_replies_in_another_order_find_their_callers():
    with Connection("x", command("out-of-order", "--count", 5)) as connection:
        results = {}
        threads = [
            threading.Thread(
                target=lambda n=n: results.update({n: texts(tool(connection, "together", text=f"call {n}"))})
            )
            for n in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert results == {n: f"call {n}" for n in range(5)}


def test_a_reply_after_the_deadline_is_counted_and_given_to_nobody():
    with Connection("x", command("late-reply")) as connection:
        with pytest.raises(RequestTimeout, match=r"gave no reply to tools/call within 0\.1 s"):
            tool(connection, "late", timeout=0.1)
        assert texts(tool(connection, "echo", text="next")) == "next"
        until(lambda: connection.late == 1)
        sent = [message for _, arrow, message in connection.record if arrow == "→"]
    (cancelled,) = [message for message in sent if message["method"] == "notifications/cancelled"]
    assert "id" not in cancelled


def test_initialize_is_never_cancelled_and_leaves_no_process():
    connection = Connection("x", command("silent"))
    with pytest.raises(RequestTimeout):
        connection.start(timeout=0.2)
    assert connection.state == "dead"
    assert connection.popen.returncode is not None
    assert [message["method"] for _, _, message in connection.record] == ["initialize"]


def test_a_server_that_dies_in_a_call_fails_every_waiting_call_at_once():
    with Connection("x", command("dies-mid-call", "--count", 2)) as connection:
        failures = queue.Queue()

        def doomed():
            try:
                tool(connection, "wait", timeout=60)
            except ServerDied as error:
                failures.put(error)

        for _ in range(2):
            threading.Thread(target=doomed, daemon=True).start()
        first, second = failures.get(timeout=10), failures.get(timeout=10)
        assert first.reason == second.reason == connection.reason
        assert first is not second
        with pytest.raises(ServerDied):
            tool(connection, "echo", text="too late")


def test_the_servers_requests_are_answered_and_its_notifications_never():
    with Connection("x", command("good")) as connection:
        ping = json.loads(texts(tool(connection, "ask_client", method="ping")))
        unknown = json.loads(texts(tool(connection, "ask_client", method="roots/list")))
        tool(connection, "say", lines=[json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})])
        received = json.loads(texts(tool(connection, "report")))["received"]
    assert ping["result"] == {}
    assert unknown["error"]["code"] == -32601
    assert len([message for message in received if "method" not in message]) == 2


def test_a_burst_of_list_changed_leads_to_few_lists_and_the_newest_tools():
    heard = queue.Queue()
    with Connection("x", command("good"), lambda connection, message: heard.put(message["method"])) as connection:
        tool(connection, "change", tools=["fresh"], times=200)
        for _ in range(200):
            assert heard.get(timeout=10) == LIST_CHANGED
        assert "fresh" in [definition["name"] for definition in connection.tools]
        lists = [message for _, _, message in connection.record if message.get("method") == "tools/list"]
    assert len(lists) <= 1 + 200 / 4


@pytest.mark.parametrize("options", [("--count", 4), ("--count", 2, "--how", "empty")])
def test_every_page_is_asked_for_also_behind_an_empty_cursor(options):
    with Connection("x", command("pages", *options)) as connection:
        assert [tool["name"] for tool in connection.tools] == [f"tool_{n}" for n in range(options[1])]


def test_prints_between_the_messages_are_skipped():
    with Connection("x", command("banners")) as connection:
        assert texts(tool(connection, "echo", text="through")) == "through"


def test_a_protocol_error_is_raised_with_its_code():
    with Connection("x", command("good")) as connection, pytest.raises(RpcError) as caught:
        tool(connection, "absent")
    assert caught.value.code == -32602


def test_only_a_ready_connection_takes_requests_and_the_state_dead_is_the_last():
    connection = Connection("x", command("good"))
    with pytest.raises(RuntimeError, match="'x' is disconnected: ping was not sent"):
        connection.request("ping")
    with connection:
        assert connection.state == "ready"
        connection.popen.kill()
        until(lambda: connection.state == "dead")
        assert connection.reason == "it ended with exit code -9"
    with pytest.raises(RuntimeError, match="make a new connection"):
        connection.start()


def test_a_server_of_another_revision_is_refused_and_ended():
    text = json.dumps(
        {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
    )
    connection = Connection("old", command("odd-initialize", "--text", text))
    with pytest.raises(RuntimeError, match="'old' speaks 1999-01-01 only"):
        connection.start()
    assert connection.popen.returncode is not None


def test_a_server_that_closes_its_output_and_lives_is_dead_to_us_and_reaped():
    with Connection("x", command("closes-pipes")) as connection:
        with pytest.raises(ServerDied, match="it closed its output"):
            tool(connection, "close")
        until(lambda: connection.popen.poll() is not None)


def test_two_ends_of_a_tracker_keep_the_first_reason():
    tracker = Tracker()
    _, future = tracker.add()
    tracker.end("first")
    tracker.end("second")
    assert future.exception(0).reason == "first"
    with pytest.raises(ServerDied, match="first"):
        tracker.add()
