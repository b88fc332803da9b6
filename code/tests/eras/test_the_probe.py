"""Which revision does a server speak? The specification's algorithm, and the traps that real servers set."""

import json

import pytest
from mcp_harness import HandshakeError, Host
from mcp_harness.probe import OLD as OLD_KIND
from mcp_harness.probe import Verdict, judge

OLD, NEW = "2025-11-25", "2026-07-28"


def error(code, data=None, message="no"):
    return {"error": {"code": code, "message": message, **({} if data is None else {"data": data})}}


def script(**answers):
    """The --text of the mode `scripted`; `discover` stands for server/discover, `listing` for tools/list."""
    methods = {"discover": "server/discover", "listing": "tools/list", "initialize": "initialize"}
    return json.dumps({methods[name]: steps for name, steps in answers.items()})


def methods(path):
    """What a server with --record has received, by method."""
    return [json.loads(line).get("method") for line in path.read_text().splitlines() if line.startswith("{")]


# --- the rules, without a process


SILLY = [error(code) for code in (-32601, -32602, -32603, -32600, -32700, -32000, -32002, 0, 1, 404, -32022, -32020)]
SILLY += [
    error(-32022, data) for data in ({}, [], "x", {"supported": None}, {"supported": "2026-07-28"}, {"supported": []})
]
SILLY += [
    error(-32022, {"supported": [1, 2]}),
    error(-32021),
    error("x"),
    {"error": {}},
    {"error": "no"},
    {"error": []},
]
SILLY += [
    {"result": result} for result in ({}, [], "x", None, 5, {"supportedVersions": []}, {"supportedVersions": NEW})
]
SILLY += [{"result": {"supportedVersions": {NEW: 1}}}, {"result": {"protocolVersion": OLD, "capabilities": {}}}]
SILLY += [{"result": {"supportedVersions": [OLD]}}, error(-32022, {"supported": ["2025-06-18", "1999-01-01"]})]


@pytest.mark.parametrize("body", SILLY, ids=json.dumps)
def test_any_error_and_any_nonsense_means_the_old_kind(body):
    assert judge("s", body) == OLD_KIND


def test_a_discover_result_and_only_a_list_with_our_version_means_the_new_kind():
    result = {"supportedVersions": ["2027-01-01", NEW, OLD], "capabilities": {}}
    assert judge("s", {"result": result}) == Verdict(NEW, result)
    assert judge("s", error(-32022, {"supported": [OLD, NEW], "requested": "x"})) == Verdict(NEW)


@pytest.mark.parametrize(
    "body", [{"result": {"supportedVersions": ["2031-01-01"]}}, error(-32022, {"supported": ["2031-01-01"]})]
)
def test_versions_that_we_do_not_speak_are_named(body):
    with pytest.raises(HandshakeError, match=r"2031-01-01.*2026-07-28"):
        judge("s", body)


def test_a_capability_that_the_server_cannot_do_without_is_named():
    with pytest.raises(HandshakeError, match=r"sampling.*handler"):
        judge("s", error(-32021, {"requiredCapabilities": {"sampling": {}}}))


# --- real processes


@pytest.mark.parametrize(
    "step", [error(-32601), error(-32602), error(-1), {"result": {}}, {"result": 5}], ids=json.dumps
)
def test_a_server_that_does_not_know_the_question_is_shaken_hands_with(faulty, tmp_path, step):
    record = tmp_path / "record"
    config = faulty("scripted", "--text", script(discover=[step]), "--record", record, client_era="auto")
    with Host([config]) as host:
        assert host.status()["faulty"].era == OLD
        assert host.call("echo", {"text": "x"}, timeout=10).text == "x"
    assert methods(record)[:4] == ["server/discover", "initialize", "notifications/initialized", "tools/list"]
    assert host.status()["faulty"].generation == 1


def test_a_server_that_says_nothing_to_the_question_is_shaken_hands_with_in_time(faulty, tmp_path):
    """The probe has a bound of its own, at most half of start_timeout; the question is not cancelled."""
    record = tmp_path / "record"
    text = script(discover=["silence"])
    config = faulty("scripted", "--text", text, "--record", record, client_era="auto", start_timeout=1.5)
    with Host([config]) as host:
        assert (host.status()["faulty"].state, host.status()["faulty"].era) == ("ready", OLD)
        assert host.status()["faulty"].pending == 0
    assert methods(record)[:4] == ["server/discover", "initialize", "notifications/initialized", "tools/list"]


@pytest.mark.parametrize(
    ("mode", "text"),
    [("scripted", script(discover=["exit"])), ("expects-initialize", "")],
    ids=["exit", "error and exit"],
)
def test_a_server_that_dies_on_the_question_is_started_again_and_not_asked(faulty, tmp_path, events, mode, text):
    record, starts = tmp_path / "record", tmp_path / "starts"
    options = ("--text", text, "--record", record, "--starts", starts)
    config = faulty(mode, *options, client_era="auto", start_timeout=20)
    with Host([config], on_event=events) as host:
        status = host.status()["faulty"]
        assert (status.state, status.era, status.restarts, status.generation) == ("ready", OLD, 0, 2)
        assert host.call("echo", {"text": "x"}, timeout=10).text == "x"
    assert len(starts.read_text().splitlines()) == 2
    assert methods(record).count("server/discover") == 1
    assert {event.kind for event in events.seen()} == {"ready"}, "it was told as a failure"


def test_a_server_that_dies_both_ways_fails_with_its_last_words(faulty, tmp_path):
    starts = tmp_path / "starts"
    with Host([faulty("exits-at-once", "--text", "no licence", "--starts", starts, client_era="auto")]) as host:
        status = host.status()["faulty"]
    assert status.state == "failed"
    assert "no licence" in status.reason
    assert len(starts.read_text().splitlines()) == 2


def test_a_new_server_is_asked_once_and_never_initialized(faulty, tmp_path):
    record = tmp_path / "record"
    with Host([faulty("good", "--record", record, era=NEW, client_era="auto")]) as host:
        assert host.status()["faulty"].era == NEW
        assert host.call("echo", {"text": "x"}, timeout=10).text == "x"
    assert methods(record) == ["server/discover", "subscriptions/listen", "tools/list", "tools/call"]


@pytest.mark.parametrize("client_era", ["auto", NEW])
def test_minus_32022_is_asked_again_at_a_version_that_both_speak(faulty, tmp_path, client_era):
    record = tmp_path / "record"
    steps = script(discover=[error(-32022, {"supported": ["2031-01-01", NEW], "requested": NEW}), "usual"])
    config = faulty("scripted", "--text", steps, "--record", record, era=NEW, client_era=client_era)
    with Host([config]) as host:
        assert (host.status()["faulty"].state, host.status()["faulty"].era) == ("ready", NEW)
    assert methods(record)[:3] == ["server/discover", "server/discover", "subscriptions/listen"]


@pytest.mark.parametrize("client_era", ["auto", NEW])
def test_a_server_that_refuses_the_version_that_it_lists_is_given_up(faulty, tmp_path, client_era):
    record = tmp_path / "record"
    steps = script(discover=[error(-32022, {"supported": [NEW], "requested": NEW})])
    config = faulty("scripted", "--text", steps, "--record", record, era=NEW, client_era=client_era)
    with Host([config]) as host:
        assert host.status()["faulty"].state == "failed"
        assert "says that it supports it" in host.status()["faulty"].reason
    assert "initialize" not in methods(record)
    assert methods(record).count("server/discover") <= 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "initialize",
    [["usual"], [error(-32601)], ["silence"], [error(-32603)]],
    ids=["-32022", "-32601", "silence", "-32603"],
)
def test_a_slow_new_server_is_recognised_by_its_late_answer(faulty, gate, until, initialize):
    """The probe runs out, `initialize` goes out, then the DiscoverResult comes, and a refusal of `initialize`."""
    door = gate()
    text = script(discover=["gate"], initialize=initialize)
    config = faulty("scripted", "--text", text, "--gate", door, era=NEW, client_era="auto", start_timeout=4)
    with Host([config], wait=False) as host:
        with door.arrive():
            until(lambda: host.status()["faulty"].pending == 2)  # the probe and `initialize`
        host.wait_ready("faulty", timeout=10)
        assert host.status()["faulty"].era == NEW
        assert host.call("echo", {"text": "x"}, timeout=10).text == "x"
        status = host.status()["faulty"]
        assert (status.pending, status.noise_lines, status.generation) == (0, 0, 1)


def test_a_slow_new_server_that_lost_the_question_is_recognised_by_minus_32022(faulty):
    """No DiscoverResult comes at all; the refusal of `initialize` is the proof, and the question is asked again."""
    config = faulty(
        "scripted", "--text", script(discover=["silence", "usual"]), era=NEW, client_era="auto", start_timeout=2
    )
    with Host([config]) as host:
        assert (host.status()["faulty"].state, host.status()["faulty"].era) == ("ready", NEW)


def test_a_slow_old_server_is_shaken_hands_with_although_its_refusal_comes_late(faulty, gate, until):
    door = gate()
    config = faulty("scripted", "--text", script(discover=["gate"]), "--gate", door, client_era="auto", start_timeout=4)
    with Host([config], wait=False) as host:
        with door.arrive():
            until(lambda: host.status()["faulty"].pending == 2)  # the probe and `initialize`
        host.wait_ready("faulty", timeout=10)
        assert host.status()["faulty"].era == OLD
        assert host.status()["faulty"].late_replies == 0


def test_a_configured_old_revision_is_never_probed(faulty, tmp_path):
    record = tmp_path / "record"
    with Host([faulty("good", "--record", record, client_era=OLD)]) as host:
        assert host.status()["faulty"].era == OLD
    assert "server/discover" not in methods(record)


@pytest.mark.parametrize("step", [error(-32601), {"result": {}}, "exit"], ids=json.dumps)
def test_a_configured_new_revision_never_falls_back(faulty, tmp_path, step):
    record, starts = tmp_path / "record", tmp_path / "starts"
    text = script(discover=[step])
    config = faulty("scripted", "--text", text, "--record", record, "--starts", starts, client_era=NEW)
    with Host([config]) as host:
        status = host.status()["faulty"]
        assert status.state == "failed"
        assert "server/discover" in status.reason or "exited" in status.reason
    assert methods(record) == ["server/discover"]
    assert len(starts.read_text().splitlines()) == 1


def test_the_new_process_is_asked_again_after_a_restart(faulty, tmp_path):
    """What one process spoke says nothing about the next: it may be another version of the server."""
    record, starts = tmp_path / "record", tmp_path / "starts"
    config = faulty("changes-its-revision", "--record", record, "--starts", starts, client_era="auto")
    with Host([config]) as host:
        assert host.status()["faulty"].era == OLD
        host.restart("faulty")
        assert host.status()["faulty"].era == NEW
        assert host.call("echo", {"text": "x"}, timeout=10).text == "x"
