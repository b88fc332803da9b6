"""Any bytes, any JSON: nothing that a server writes stops the reader, loses a later good reply, or grows without bound.

First the pure functions of `wire`, then the same through the pipe of a real process.
"""

import contextlib
import json
import sys

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mcp_harness import BadReply, HandshakeError, Host, RpcError, carries, masking, probe, rounds, wire

QUICK = settings(deadline=None, max_examples=100, derandomize=True, database=None)
THROUGH_A_PROCESS = settings(QUICK, max_examples=70, suppress_health_check=[HealthCheck.too_slow])
NEW_PROCESSES = settings(THROUGH_A_PROCESS, max_examples=12)

GOOD = b'{"jsonrpc":"2.0","id":1,"result":{"good":true}}\n'

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
METHODS = [
    "notifications/tools/list_changed",
    "notifications/progress",
    "notifications/cancelled",
    "notifications/message",
    "notifications/subscriptions/acknowledged",
]
METHODS += ["ping", "roots/list", "sampling/createMessage", "elicitation/create", "tools/list", ""]
FAR_ID = 10**9  # never given out, so that no made-up reply is by chance the right one
ids = (
    st.integers(FAR_ID, FAR_ID + 9)
    | st.text(alphabet="ab ", max_size=5)
    | st.floats(0, 1).filter(lambda x: x not in (0, 1))
)
ids |= st.none() | st.booleans() | st.lists(st.integers(), max_size=2)

# what looks like JSON-RPC: any of its keys, with a likely value or with any value at all
message_parts = {
    "jsonrpc": st.just("2.0") | json_values,
    "id": ids,
    "method": st.sampled_from(METHODS) | json_values,
    "params": json_values | st.fixed_dictionaries({"requestId": json_values, "progressToken": json_values}),
    "result": json_values
    | st.fixed_dictionaries({"content": json_values, "tools": json_values})
    | st.fixed_dictionaries({"resultType": st.just("input_required"), "inputRequests": json_values}),
    "error": json_values | st.fixed_dictionaries({"code": json_values, "message": json_values}),
}
almost_messages = st.fixed_dictionaries({}, optional=message_parts)
json_lines = (almost_messages | json_values | st.lists(almost_messages, max_size=3)).map(
    lambda value: json.dumps(value).encode()
)
broken_lines = st.builds(
    lambda line, at, byte: line[:at] + bytes([byte]) + line[at:], json_lines, st.integers(0, 40), st.integers(0, 255)
)
deep = st.integers(1, 5000).flatmap(
    lambda depth: st.sampled_from([b"[" * depth, b'{"a":' * depth, b"[" * depth + b"]" * depth])
)
any_bytes = (
    st.binary(max_size=200)
    | json_lines
    | broken_lines
    | deep
    | st.lists(st.binary(max_size=20) | json_lines, max_size=6).map(b"\n".join)
)


@QUICK
@given(any_bytes)
@example(b'{"jsonrpc": "2.0", "id": 1e999, "result": {}}')
@example(b'{"id": ' + b"9" * 5000 + b', "result": {}}')
@example(b"[" * 200_000)
@example(b'{"id": "' + b"1" * 5000 + b'", "result": {}}')
@example(b'{"id": "\\ud800", "result": {}}')
def test_any_line_gives_a_message_or_noise_and_never_an_exception(data):
    for incoming in wire.messages(data + b"\n"):
        assert isinstance(incoming, wire.Request | wire.Notification | wire.Reply | wire.Noise)
        if isinstance(incoming, wire.Reply | wire.Request):
            wire.own_id(incoming.id)
            wire.encode(wire.error(incoming.id, -32601, "an answer can always be written"))


@QUICK
@given(any_bytes)
def test_a_good_reply_behind_any_bytes_is_found(data):
    *_, last = wire.messages(data + b"\n" + GOOD)
    assert isinstance(last, wire.Reply)
    assert last.body["result"] == {"good": True}


@QUICK
@given(any_bytes, st.lists(st.integers(0, 300), max_size=12))
def test_the_pieces_in_which_bytes_arrive_make_no_difference(data, cuts):
    whole, piecewise, at = wire.LineBuffer().feed(data), [], 0
    buffer = wire.LineBuffer()
    for cut in [*sorted(cuts), len(data)]:
        piecewise += buffer.feed(data[at:cut])
        at = max(at, min(cut, len(data)))
    assert piecewise == whole
    assert whole == data.split(b"\n")[:-1]


@QUICK
@given(st.lists(st.binary(min_size=1, max_size=3000).map(lambda piece: piece.replace(b"\n", b"x")), max_size=30))
@example([b"x" * 3000] * 30)
def test_a_line_without_an_end_is_bounded_in_memory_and_the_next_line_counts(pieces):
    buffer = wire.LineBuffer(max_bytes=2000)
    for piece in pieces:
        assert buffer.feed(piece) == []
        kept = sum(sys.getsizeof(value) for value in vars(buffer).values())
        assert kept < 20_000
    lines = buffer.feed(b"\n" + GOOD)
    assert lines[-1] == GOOD[:-1]
    assert len(lines) == 2


@QUICK
@given(st.dictionaries(st.text(max_size=8), json_values, max_size=4))
def test_what_we_encode_is_one_line_of_ascii_and_comes_back_the_same(params):
    message = {"jsonrpc": "2.0", "method": "m", "params": params}
    try:
        frame = wire.encode(message)
    except ValueError:
        assert "NaN" in json.dumps(params) or "Infinity" in json.dumps(params)
        return
    assert frame.count(b"\n") == 1
    assert frame.endswith(b"\n")
    assert frame.isascii()
    (back,) = wire.messages(frame)
    assert back == wire.Notification("m", params)


@QUICK
@given(st.integers(1, 10**6), json_values)
def test_only_our_own_number_in_its_plain_forms_is_our_id(number, other):
    assert wire.own_id(number) == wire.own_id(str(number)) == number
    if not isinstance(other, int | float) or isinstance(other, bool):
        assert wire.own_id(other) is None or (isinstance(other, str) and other == str(int(other)))


@QUICK
@given(almost_messages | json_values)
@example({"result": {"supportedVersions": [["2026-07-28"]]}})
@example({"error": {"code": -32022, "data": {"supported": [{}]}}})
def test_any_answer_to_the_probe_gives_a_verdict_or_a_sentence(body):
    with contextlib.suppress(HandshakeError):
        assert probe.judge("s", body if isinstance(body, dict) else {"result": body}).version in (None, "2026-07-28")


@QUICK
@given(st.fixed_dictionaries({}, optional={"inputRequests": json_values, "requestState": json_values}))
def test_any_question_in_a_result_can_be_read_or_is_refused(result):
    with contextlib.suppress(BadReply):
        questions, state = rounds.read_round("s", "tools/call", result)
        assert questions or state is not None


@QUICK
@given(json_values | almost_messages)
def test_any_message_can_be_shown_and_masking_changes_nothing_else(value):
    message = value if isinstance(value, dict) else {"result": value}
    assert len(carries.carries(message, "tools/call")) <= carries.LONGEST
    assert masking.Masker(show=True).message(message) == message
    masking.Masker(["secret"]).message(message)


# --- through a real process ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.fault("prints and banners on stdout")
@pytest.mark.both_eras
def test_any_bytes_of_a_real_server_leave_the_good_reply_behind_them(faulty, tmp_path):
    path = tmp_path / "bytes"
    handlers = {name: lambda server, params: {} for name in ("sampling", "roots", "elicitation")}
    with Host([faulty("good")], **handlers) as host:
        pid = host.status()["faulty"].pid

        @THROUGH_A_PROCESS
        @given(any_bytes)
        def replay(data):
            path.write_bytes(data)
            assert host.call("replay", {"path": str(path)}, timeout=15).text == "replayed"

        replay()
        host.refresh("faulty")
        status = host.status()["faulty"]
        assert (status.state, status.pid, status.pending) == ("ready", pid, 0)
        assert "echo" in host.tools()


@pytest.mark.slow
@pytest.mark.fault("`isError: true` taken for a protocol error")
@pytest.mark.both_eras
def test_any_reply_of_a_real_server_ends_the_call_without_waiting_for_the_deadline(faulty):
    with Host([faulty("good")]) as host:

        @THROUGH_A_PROCESS
        @given(json_values | st.fixed_dictionaries({"content": json_values}), st.sampled_from(["result", "error"]))
        def reply(body, key):
            line = '{"jsonrpc": "2.0", "id": $id, "' + key + '": ' + json.dumps(body).replace("$id", "") + "}"
            with contextlib.suppress(RpcError, BadReply):  # but no RequestTimeout: that would be a lost reply
                assert isinstance(host.call("say", {"lines": [line], "last": True}, timeout=15).text, str)

        reply()
        assert host.call("echo", {"text": "on"}, timeout=10).text == "on"


@pytest.mark.slow
@pytest.mark.fault("server exits at once, or after a moment")
@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28", "auto"])
@pytest.mark.parametrize("mode", ["odd-initialize", "odd-tools"])
def test_any_answer_at_the_start_ends_in_ready_or_failed_with_a_reason(faulty, mode, era):
    """In 2026-07-28, and with "auto", it is `server/discover` that is answered with anything."""
    good = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
    if era != "2025-11-25":
        good = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
    tool = st.fixed_dictionaries({"name": st.text(max_size=5) | json_values, "inputSchema": json_values}) | json_values
    likely = {
        "odd-initialize": st.dictionaries(st.sampled_from(sorted(good)), json_values).map(lambda odd: {**good, **odd}),
        "odd-tools": st.fixed_dictionaries(
            {"tools": st.lists(tool, max_size=4) | json_values}, optional={"nextCursor": json_values}
        ),
    }

    @NEW_PROCESSES
    @given(likely[mode] | json_values)
    def start(body):
        spoken = "2025-11-25" if era == "2025-11-25" else "2026-07-28"
        config = faulty(mode, "--text", json.dumps(body), era=spoken, client_era=era, restart="never", start_timeout=20)
        with Host([config]) as host:
            status = host.status()["faulty"]
            assert status.state in ("ready", "failed")
            assert (status.state == "ready") == (not status.reason)
            assert "no reply" not in (status.reason or "")

    start()
