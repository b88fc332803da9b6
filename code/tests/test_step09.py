"""The small client after lesson 9, on servers of both revisions."""

import re
import runpy
import sys
import threading
import time
from pathlib import Path

import main
import pytest
from mcp_harness.lanes import Message
from steps import step03_reader_thread as step03
from steps import step09_stateless as step

CODE = Path(main.__file__).parent
FIGURES = runpy.run_path(str(CODE.parent / "lessons" / "figures" / "09_stateless.py"))
LESSON = (CODE.parent / "lessons" / "09_stateless.md").read_text(encoding="utf-8")
PATIENCE = 30.0  # for servers that answer: a busy machine must not make them slow ones


def server(name, *options):
    return [sys.executable, str(CODE / "servers" / f"{name}.py"), *options]


def names(connection):
    return [tool["name"] for tool in connection.tools]


def grow(connection):
    connection.request("tools/call", {"name": "grow", "arguments": {}})


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def heard(connection, method):
    return any(message.get("method") == method for _, arrow, message in list(connection.record) if arrow == "←")


def asked(connection, method):
    sent = [message["method"] for _, arrow, message in connection.record if arrow == "→"]
    return sent.count(method)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


# --- the probe


def test_a_new_server_is_dressed_and_gets_no_handshake():
    with step.Connection("notes", server("notes", "--era", step.MODERN), patience=PATIENCE) as connection:
        assert (connection.revision, names(connection)) == (step.MODERN, ["search", "create"])
        assert connection.capabilities == {"tools": {"listChanged": True}}
    sent = [message for _, arrow, message in connection.record if arrow == "→"]
    assert [message["method"] for message in sent] == ["server/discover", "tools/list"]
    assert all(message["params"]["_meta"] == step.META for message in sent)


def test_an_old_server_gets_the_handshake_and_no_meta():
    with step.Connection("notes", server("notes"), patience=PATIENCE) as connection:
        assert (connection.revision, names(connection)) == (step.LEGACY, ["search", "create"])
    sent = [message for _, arrow, message in connection.record if arrow == "→"][1:]
    assert [message["method"] for message in sent] == ["initialize", "notifications/initialized", "tools/list"]
    assert all("_meta" not in message.get("params", {}) for message in sent)


def test_a_slow_new_server_is_not_taken_for_an_old_one():
    with step.Connection("slow", server("changing", "--slow"), patience=0.2) as connection:
        assert (connection.revision, connection.late, names(connection)) == (step.MODERN, 1, ["grow"])


def test_a_server_that_refuses_both_is_an_error_and_leaves_no_process():
    connection = step.Connection("odd", server("faulty", "refuses-initialize"), patience=PATIENCE)
    with pytest.raises(step03.RpcError):
        connection.start()
    assert connection.popen.poll() is not None


def test_a_new_server_without_a_common_revision_is_named_with_its_own():
    code = """if True:
        import json, sys
        for line in sys.stdin:
            result = {"supportedVersions": ["2028-01-01"], "capabilities": {}}
            print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": result}), flush=True)
    """
    connection = step.Connection("later", [sys.executable, "-c", code], patience=PATIENCE)
    with pytest.raises(RuntimeError, match="speaks 2028-01-01 only"):
        connection.start()
    assert connection.popen.poll() is not None


# --- the cache


def test_a_result_is_fresh_for_less_than_its_ttl():
    clock, sent = Clock(), []
    cache = step.Cache(clock)

    def ask():
        sent.append(clock.now)
        return {"ttlMs": 2000}

    for clock.now in (0, 1.9, 2, 3.9, 4):
        cache.get("tools/list", {}, ask)
    assert sent == [0, 2, 4]


@pytest.mark.parametrize("hints", [{}, {"ttlMs": 0}, {"ttlMs": -5}])
def test_without_a_positive_ttl_nothing_is_kept(hints):
    sent, cache = [], step.Cache(Clock())
    for _ in range(2):
        cache.get("tools/list", {}, lambda: sent.append(1) or hints)
    assert len(sent) == 2


def test_each_page_is_an_entry_of_its_own_and_an_empty_cursor_is_a_page():
    cache, fresh = step.Cache(Clock()), {"ttlMs": 1000}
    pages = [None, {"cursor": ""}, {"cursor": "x"}]
    for number, params in enumerate(pages):
        cache.get("tools/list", params, lambda number=number: {**fresh, "page": number})
    kept = [cache.get("tools/list", params, lambda: {"page": "asked"})["page"] for params in pages]
    assert kept == [0, 1, 2]
    cache.forget("tools/list")
    assert cache.get("tools/list", pages[1], lambda: {"page": "asked"})["page"] == "asked"


def test_a_result_that_was_on_its_way_when_the_news_came_is_not_kept():
    cache = step.Cache(Clock())

    def ask():
        cache.forget("tools/list")
        return {"ttlMs": 1000, "tools": "old"}

    cache.get("tools/list", {}, ask)
    assert cache.get("tools/list", {}, lambda: {"tools": "new"})["tools"] == "new"


def test_the_time_counts_from_the_arrival():
    clock = Clock()
    cache = step.Cache(clock)

    def slow():
        clock.now += 100
        return {"ttlMs": 1000, "n": 1}

    cache.get("tools/list", {}, slow)
    clock.now += 0.9
    assert cache.get("tools/list", {}, dict) == {"ttlMs": 1000, "n": 1}


# --- listen and poll


def test_a_change_is_seen_although_the_list_is_fresh():
    with step.Connection("changing", server("changing"), patience=PATIENCE) as connection:
        stream = connection.listen()
        grow(connection)
        wait_for(lambda: names(connection) == ["grow", "tool_1"])
        assert not stream.done()
    assert isinstance(stream.exception(5), step03.ServerDied)


def test_a_lost_notification_is_made_good_by_the_first_poll_after_the_ttl():
    clock = Clock()
    command = server("changing", "--lose", "--ttl", "60000")
    with step.Connection("changing", command, patience=PATIENCE, clock=clock) as connection:
        connection.listen()
        grow(connection)
        seen = []
        for clock.now in (29, 30, 59, 60):
            connection.poll(every=30)
            seen.append((len(connection.tools), asked(connection, "tools/list")))
        assert seen == [(1, 1), (1, 1), (1, 1), (2, 2)]


def test_polls_and_notices_at_the_same_time_lose_nothing():
    with step.Connection("changing", server("changing", "--ttl", "0"), patience=PATIENCE) as connection:
        connection.listen()
        stop = threading.Event()

        def poll():
            while not stop.is_set():
                connection.poll(every=0)

        poller = threading.Thread(target=poll)
        poller.start()
        for _ in range(10):
            grow(connection)
        stop.set()
        poller.join()
        wait_for(lambda: len(connection.tools) == 11)


# --- the figures


def row(source, target, message, arrow):
    """A message of a record as a row of a figure, without the words."""
    source, target = (source, target) if arrow == "→" else (target, source)
    return source, target, message.get("id")


def drawn(rows, without=()):
    """The messages of a figure in the same form, without those of some lanes."""
    return [
        (m.source, m.target, m.id) for m in rows if isinstance(m, Message) and not {m.source, m.target} & {*without}
    ]


def test_the_figure_of_the_openings_shows_what_passes():
    with step03.Connection("notes", server("notes")) as old:
        pass
    with step.Connection("notes", server("notes", "--era", step.MODERN), patience=PATIENCE) as new:
        pass
    passed = [row("host", "old server", message, arrow) for _, arrow, message in old.record]
    assert drawn(FIGURES["OPENING"], without=["new server"]) == passed
    exchange = [row("host", "new server", message, arrow) for _, arrow, message in new.record]
    assert drawn(FIGURES["OPENING"], without=["old server"]) == [(*one[:2], 1) for one in exchange[:2]]


def test_the_figure_of_the_race_shows_what_passes():
    with step.Connection("slow", server("changing", "--slow"), patience=0.2) as connection:
        pass
    passed = [row("host", "slow server", message, arrow) for _, arrow, message in connection.record]
    assert drawn(FIGURES["RACE"]) == passed[:7]


def test_the_figure_of_the_lost_notification_shows_what_passes():
    clock = Clock()
    with step.Connection("changing", server("changing", "--lose"), patience=PATIENCE, clock=clock) as connection:
        first = len(connection.record)
        connection.listen()
        wait_for(lambda: heard(connection, "notifications/subscriptions/acknowledged"))
        grow(connection)
        clock.now = 60
        connection.poll(every=60)
    passed = [row("host", "changing", message, arrow) for _, arrow, message in connection.record[first:]]
    assert drawn(FIGURES["LOST"]) == passed


def test_the_figure_of_the_restart_shows_what_the_lesson_recorded():
    output = LESSON[LESSON.index("started again\nPOST") :]
    recorded = re.findall(r"^POST (?:id (\d+): )?(\S+?)(?:, session (\w))? +(\d+)", output, re.MULTILINE)
    asked = [m for m in FIGURES["RESTART"] if isinstance(m, Message) and m.target == "server"]
    answers = [m for m in FIGURES["RESTART"] if isinstance(m, Message) and m.source == "server"]
    assert [(str(m.id or ""), m.label.split(", session ")[-1] if "session" in m.label else "") for m in asked] == [
        (number, session) for number, _, session, _ in recorded
    ]
    with_reply = [status for _, method, _, status in recorded if not method.startswith("notifications/")]
    assert [m.label.split(",")[0] for m in answers] == with_reply
