"""Revision 2026-07-28: hearing of changes on a stream that stands open, and age where there is none."""

import json
import os
import signal

import pytest
from mcp_harness import Host
from mcp_harness.clock import FakeClock
from mcp_harness.refreshing import BACKSTOP, POLL_FLOOR

NEW = "2026-07-28"
REFUSED = {"error": {"code": -32601, "message": "no"}}


def counts(path, method):
    """How often a server with --record has received a method."""
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
    return sum(1 for line in lines if line.get("method") == method)


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "record"
    path.touch()
    return path


def test_a_server_that_announces_changes_is_listened_to_before_it_is_listed(faulty, facts):
    with Host([faulty("good", era=NEW)]) as host:
        received = facts(host)["received"]
        assert host.status()["faulty"].pending == 0, "the stream counts as a call"
    assert [message["method"] for message in received[:3]] == ["server/discover", "subscriptions/listen", "tools/list"]
    assert received[1]["params"]["notifications"] == {"toolsListChanged": True}
    assert "io.modelcontextprotocol/protocolVersion" in received[1]["params"]["_meta"]


def test_a_change_on_the_stream_is_listed(faulty, events):
    with Host([faulty("good", era=NEW)], on_event=events) as host:
        host.call("change", {"tools": ["new"]}, timeout=10)
        events.wait("tools_changed")
        assert "new" in host.tools()


@pytest.mark.parametrize("capabilities", [{}, {"tools": {}}, {"tools": {"listChanged": False}}], ids=json.dumps)
def test_a_server_that_does_not_announce_changes_is_not_asked_to(faulty, record, capabilities):
    hello = {"result": {"supportedVersions": [NEW], "capabilities": capabilities}}
    text = json.dumps({"server/discover": [hello]})
    with Host([faulty("scripted", "--text", text, "--record", record, era=NEW)]) as host:
        assert host.status()["faulty"].state == "ready"
    assert counts(record, "subscriptions/listen") == 0


def test_the_stream_is_asked_for_again_after_a_restart(faulty, events, record):
    clock = FakeClock()
    with Host([faulty("good", "--record", record, era=NEW)], on_event=events, clock=clock) as host:
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("restarting")
        clock.advance(1.1)
        events.wait("ready", number=2)
        host.call("change", {"tools": ["new"]}, timeout=10)
        events.wait("tools_changed")
    assert counts(record, "subscriptions/listen") == 2


def test_an_open_stream_is_never_timed_out_and_is_listed_behind_only_at_times(faulty, record, events, until):
    """The listing behind it finds a change that the server forgot to announce."""
    clock = FakeClock()
    config = faulty("good", "--record", record, era=NEW)
    with Host([config], clock=clock, on_event=events) as host:
        host.call("change", {"tools": ["new"], "times": 0}, timeout=10)  # its reply stands behind the acknowledgement
        clock.advance(BACKSTOP - 1)
        host.call("echo", timeout=10)
        assert counts(record, "tools/list") == 1
        clock.advance(2)
        assert events.wait("tools_changed").data["added"] == ["new"]
        member = host._members["faulty"]
        for number in range(3, 10):
            until(lambda: not member._refreshes._runs)  # time must not jump while a listing is under way
            assert member.poll_at() == clock.now() + BACKSTOP
            clock.advance(BACKSTOP + 1)
            until(lambda number=number: counts(record, "tools/list") == number)
    assert counts(record, "subscriptions/listen") == 1
    assert counts(record, "notifications/cancelled") == 0


@pytest.mark.parametrize("how", ["result", "cancelled", "both"])
def test_after_the_end_of_the_stream_it_is_asked_for_again_and_the_list_with_it(faulty, events, record, until, how):
    """The specification has the server end it in two ways; both are accepted, and both together."""
    clock = FakeClock()
    config = faulty("ends-its-stream", "--how", how, "--record", record, era=NEW)
    with Host([config], on_event=events, clock=clock) as host:
        for number in (1, 2, 3):
            assert host.call("end_stream", timeout=10).text == str(number)
            assert counts(record, "subscriptions/listen") == number, "it was asked for at once: that can be a loop"
            clock.advance(POLL_FLOOR + 1)
            until(lambda number=number: counts(record, "tools/list") == number + 1)
            until(lambda: not host._members["faulty"]._refreshes._runs)  # time must not jump meanwhile
        host.call("change", {"tools": ["new"]}, timeout=10)
        events.wait("tools_changed")
        status = host.status()["faulty"]
        assert (status.late_replies, status.noise_lines, status.pending) == (0, 0, 0)
    assert counts(record, "subscriptions/listen") == 4


def acknowledges(id, **honoured):
    """What a server says first on a stream."""
    params = {"_meta": {"io.modelcontextprotocol/subscriptionId": id}, "notifications": honoured}
    return [{"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}]


UNHEARD = [
    pytest.param([REFUSED], id="refused"),
    pytest.param(["silence"], id="never acknowledged"),
    pytest.param([acknowledges("$id")], id="nothing of it honoured"),
    pytest.param([acknowledges(999, toolsListChanged=True)], id="somebody else's"),
]


@pytest.mark.parametrize("listen", UNHEARD)
def test_without_a_stream_a_server_that_changes_is_listed_again_at_times(faulty, record, until, events, listen):
    clock = FakeClock()
    text = json.dumps({"subscriptions/listen": listen})
    with Host([faulty("scripted", "--text", text, "--record", record, era=NEW)], on_event=events, clock=clock) as host:
        host.call("echo", timeout=10)
        member = host._members["faulty"]
        for number in (2, 3):
            clock.advance(POLL_FLOOR - 1)
            host.call("echo", timeout=10)
            assert counts(record, "tools/list") == number - 1
            clock.advance(2)
            until(lambda number=number: counts(record, "tools/list") == number)
            until(lambda: not member._refreshes._runs)  # time must not jump while a listing is under way
            assert member.poll_at() == clock.now() + POLL_FLOOR
        assert host.status()["faulty"].pending == 0
    assert counts(record, "subscriptions/listen") == 1
    assert events.seen("notice") == []


QUIET = {"result": {"supportedVersions": [NEW], "capabilities": {"tools": {}}}}


@pytest.mark.parametrize(
    ("ttl", "due"),
    [(300_000, 300), (90_000.5, 90.0005), (1, POLL_FLOOR), (10**18, 7 * 24 * 3600), (0, None), (-5, None), ("x", None)],
    ids=str,
)
def test_a_listing_is_fresh_for_its_ttl_and_not_polled_more_often_than_the_floor(faulty, record, until, ttl, due):
    """A server that announces no changes but says how long its list holds: after that it is asked again."""
    clock = FakeClock()
    tools = {"result": {"tools": [], "ttlMs": ttl, "cacheScope": "private"}}
    text = json.dumps({"server/discover": [QUIET], "tools/list": [tools]})
    with Host([faulty("scripted", "--text", text, "--record", record, era=NEW)], clock=clock) as host:
        if due is None:
            assert host._members["faulty"].poll_at() is None
            return
        assert host._members["faulty"].poll_at() == pytest.approx(due)
        clock.advance(due - 0.5)
        assert counts(record, "tools/list") == 1
        clock.advance(0.6)
        until(lambda: counts(record, "tools/list") == 2)


def test_of_several_pages_the_one_that_ages_first_counts(faulty):
    pages = [
        {"result": {"tools": [], "nextCursor": "a", "ttlMs": 500_000}},
        {"result": {"tools": [], "ttlMs": 200_000}},
    ]
    text = json.dumps({"server/discover": [QUIET], "tools/list": pages})
    with Host([faulty("scripted", "--text", text, era=NEW)], clock=FakeClock()) as host:
        assert host._members["faulty"].poll_at() == 200


def test_a_server_of_the_old_revision_is_never_polled(faulty, record):
    clock = FakeClock()
    text = json.dumps({"tools/list": [{"result": {"tools": [], "ttlMs": 1000}}]})
    with Host([faulty("scripted", "--text", text, "--record", record)], clock=clock) as host:
        assert host._members["faulty"].poll_at() is None


BAD = {"error": {"code": -32602, "message": "bad cursor"}}


def page(*names, cursor=None):
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    return {"result": {"tools": tools, **({} if cursor is None else {"nextCursor": cursor})}}


@pytest.mark.fault("more than one page of tools, a cursor that does not advance")
@pytest.mark.both_eras
def test_a_cursor_that_the_server_does_not_take_starts_the_list_again(faulty, record):
    answers = [page("old", cursor="a"), BAD, page("new", cursor=""), page("newer")]
    text = json.dumps({"tools/list": answers})
    with Host([faulty("scripted", "--text", text, "--record", record)]) as host:
        assert list(host.tools()) == ["new", "newer"]
    assert counts(record, "tools/list") == 4


@pytest.mark.fault("more than one page of tools, a cursor that does not advance")
@pytest.mark.both_eras
def test_a_list_that_is_started_again_and_again_is_given_up(faulty, record):
    text = json.dumps({"tools/list": [page("old", cursor="a"), BAD] * 30})
    with Host([faulty("scripted", "--text", text, "--record", record)]) as host:
        assert host.status()["faulty"].state == "failed"
        assert "bad cursor" in host.status()["faulty"].reason
    assert counts(record, "tools/list") == 8
