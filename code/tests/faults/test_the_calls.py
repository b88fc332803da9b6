"""Faults in a call: replies late, twice, in any order or never; a server that does not read; results of every kind."""

import contextlib
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp_harness import HarnessError, Host, HostClosed, RequestTimeout, RpcError, ServerDied

pytestmark = pytest.mark.both_ways


def reply(result, request_id="$id"):
    """A reply as a line for the tool `say`, which puts the id of the call in the place of $id."""
    content = {"content": [{"type": "text", "text": result}]} if isinstance(result, str) else result
    line = json.dumps({"jsonrpc": "2.0", "id": 0, "result": content})
    return line.replace('"id": 0', f'"id": {request_id}')


@pytest.mark.fault("reply id comes back as a string")
@pytest.mark.both_eras
def test_a_numeric_id_that_comes_back_as_a_string_is_matched(faulty):
    with Host([faulty("good")]) as host:
        for _ in range(3):
            assert host.call("say", {"lines": [reply("mine", '"$id"')], "last": True}, timeout=10).text == "mine"
        assert host.status()["faulty"].late_replies == 0


@pytest.mark.fault("reply id comes back as a string")
@pytest.mark.parametrize(
    "wrong", ['" $id"', '"+$id"', '"$id "', '"0$id"', '"$id_0"', '"$id.0"', "-$id", "true", "null", '""']
)
def test_an_id_that_only_looks_like_ours_is_not_matched(faulty, wrong):
    with Host([faulty("good")]) as host:
        assert host.call("say", {"lines": [reply("not mine", wrong)]}, timeout=10).text == "said"


@pytest.mark.fault("reply id comes back as a string")
def test_the_reply_of_another_call_is_never_taken(faulty):
    """While two calls wait, the second gets its own reply although the server answers with strings for both."""
    with Host([faulty("never-answers")]) as host, ThreadPoolExecutor(1) as pool:
        first = pool.submit(host.call, "never", {}, timeout=0.7)
        assert host.call("say", {"lines": [reply("second", '"$id"')], "last": True}, timeout=10).text == "second"
        with pytest.raises(RequestTimeout):
            first.result()


@pytest.mark.fault("replies out of order, many calls at once")
@pytest.mark.parametrize("number", [2, 20, 64])
@pytest.mark.both_eras
def test_many_calls_wait_together_and_each_gets_its_own_reply(faulty, number):
    """The server answers none before all have arrived, then the last one first: in a row it would take for ever."""
    with Host([faulty("out-of-order", "--count", number)]) as host, ThreadPoolExecutor(number) as pool:
        texts = [str(index) for index in range(number)]
        assert list(pool.map(lambda text: host.call("together", {"text": text}, timeout=20).text, texts)) == texts
        assert host.status()["faulty"].pending == 0


@pytest.mark.fault("replies out of order, many calls at once")
@pytest.mark.both_eras
def test_a_slow_call_holds_up_neither_its_own_server_nor_another(faulty, gate):
    with (
        Host([faulty("never-answers", name="slow"), faulty("good", name="quick")]) as host,
        ThreadPoolExecutor(1) as pool,
    ):
        waiting = pool.submit(host.call, "never", {}, timeout=1)
        assert host.call("echo", {"text": "same server"}, timeout=10).text == "same server"
        assert host.call("quick/echo", {"text": "other server"}, timeout=10).text == "other server"
        assert not waiting.done()
        with pytest.raises(RequestTimeout):
            waiting.result()


@pytest.mark.fault("replies out of order, many calls at once")
@pytest.mark.both_eras
def test_a_second_reply_to_the_same_call_is_ignored(faulty, events):
    with Host([faulty("good")], on_event=events) as host:
        assert host.call("say", {"lines": [reply("first"), reply("second")]}, timeout=10).text == "first"
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"
        assert host.status()["faulty"].pending == 0


@pytest.mark.fault("writes from many threads interleave")
@pytest.mark.parametrize(("threads", "size"), [(32, 10), (8, 300_000)])
def test_frames_of_many_threads_do_not_mix(faulty, facts, threads, size):
    with Host([faulty("good")]) as host, ThreadPoolExecutor(threads) as pool:
        texts = [f"{number}:" + "é" * size for number in range(threads * 3)]
        assert list(pool.map(lambda text: host.call("echo", {"text": text}, timeout=25).text, texts)) == texts
        if size < 1000:
            assert not [message for message in facts(host)["received"] if "garbled" in message]


@pytest.mark.fault("late reply after a deadline")
@pytest.mark.both_eras
def test_a_late_reply_is_ignored_and_counted_and_the_server_was_told(faulty, facts, events):
    with Host([faulty("late-reply")], on_event=events) as host:
        with pytest.raises(RequestTimeout) as caught:
            host.call("late", {}, timeout=0.3)
        assert "late" in str(caught.value)
        assert "faulty" in str(caught.value)
        assert "0.3" in str(caught.value)
        events.wait("late_reply", "faulty")
        assert host.status()["faulty"].late_replies == 1
        assert host.status()["faulty"].pending == 0
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"
        received = facts(host)["received"]
    (called,) = [m for m in received if m.get("method") == "tools/call" and m["params"]["name"] == "late"]
    (cancelled,) = [m for m in received if m.get("method") == "notifications/cancelled"]
    assert cancelled["params"]["requestId"] == called["id"]
    assert "id" not in cancelled


@pytest.mark.fault("late reply after a deadline")
@pytest.mark.both_eras
def test_ten_late_replies_are_counted_and_no_call_gets_a_wrong_one(faulty, events):
    with Host([faulty("late-reply")], on_event=events) as host, ThreadPoolExecutor(10) as pool:
        calls = [pool.submit(host.call, "late", {}, timeout=0.3) for _ in range(10)]
        for call in calls:
            with pytest.raises(RequestTimeout):
                call.result()
        # a call after them: its reply stands behind the late ones in the same pipe
        assert host.call("echo", {"text": "mine"}, timeout=10).text == "mine"
        assert host.status()["faulty"].late_replies == 10


@pytest.mark.fault("late reply after a deadline")
def test_the_deadline_of_the_configuration_holds_where_a_call_gives_none(faulty):
    with Host([faulty("never-answers", call_timeout=0.3)]) as host:
        with pytest.raises(RequestTimeout):
            host.call("never", {})
        assert host.status()["faulty"].pending == 0


@pytest.mark.slow
@pytest.mark.fault("server stops reading, the pipe is full")
def test_the_deadline_fires_although_the_pipe_is_full_and_close_works(faulty):
    with Host([faulty("stops-reading", restart="never"), faulty("good", name="other")]) as host:
        with ThreadPoolExecutor(4) as pool:
            began = time.monotonic()
            waiting = [pool.submit(host.call, "echo", {"text": "z" * 1_000_000}, timeout=1) for _ in range(4)]
            for call in waiting:
                with pytest.raises((RequestTimeout, ServerDied)):
                    call.result()
            assert time.monotonic() - began < 10
        assert host.status()["faulty"].pending == 0
        assert host.call("other/echo", {"text": "well"}, timeout=10).text == "well"


@pytest.mark.slow
@pytest.mark.fault("server stops reading, the pipe is full")
def test_close_ends_a_call_that_waits_for_room_in_the_pipe(faulty, until):
    with Host([faulty("stops-reading")]) as host, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(host.call, "echo", {"text": "z" * 1_000_000}, timeout=60)
        until(lambda: host.status()["faulty"].pending)
        host.close()
        assert isinstance(waiting.exception(timeout=5), HostClosed)


@pytest.mark.fault("server stops reading, the pipe is full")
def test_small_calls_to_a_server_that_does_not_read_time_out_too(faulty, gate):
    door = gate()
    with Host([faulty("stops-reading", "--gate", door)]) as host:
        with pytest.raises(RequestTimeout):
            host.call("echo", {"text": "small"}, timeout=0.3)
        door.open()
        assert host.call("echo", {"text": "it reads on"}, timeout=10).text == "it reads on"


@pytest.mark.fault("server stops reading, the pipe is full")
def test_a_frame_that_was_half_written_never_corrupts_the_next(faulty, facts, gate, tmp_path):
    """The server reads on after a call was given up in the middle of its frame: no line is garbled."""
    door, record = gate(), tmp_path / "record"
    with Host([faulty("stops-reading", "--gate", door, "--record", record)]) as host:
        entered = door.arrive()
        with pytest.raises((RequestTimeout, ServerDied)):
            host.call("echo", {"text": "z" * 1_000_000}, timeout=0.5)
        entered.close()
        with contextlib.suppress(ServerDied):  # to end a server whose stream is broken is right as well
            assert host.call("echo", {"text": "next"}, timeout=5).text == "next"
    for line in record.read_bytes().splitlines(keepends=True):
        if line.startswith(b"{") and line.endswith(b"\n"):
            json.loads(line)


@pytest.mark.slow
@pytest.mark.fault("server stops reading, the pipe is full")
def test_a_server_that_asks_without_reading_the_answers_fills_nothing_up(faulty, memory):
    """50 000 pings whose answers fit no pipe: threads and answers in store stay few, the deadline still holds."""
    with Host([faulty("asks-and-never-reads", "--count", 50_000, restart="never")]) as host, memory() as grown:
        with pytest.raises((RequestTimeout, ServerDied)):
            host.call("pester", {}, timeout=1.5)
        assert threading.active_count() < 60
        assert grown() < 1_500_000


@pytest.mark.fault("`isError: true` taken for a protocol error")
@pytest.mark.both_eras
def test_an_error_of_the_tool_is_a_result_and_is_not_checked_against_its_schema(faulty):
    with Host([faulty("failing-tool")]) as host:
        result = host.call("fail", {}, timeout=10)
    assert result.is_error is True
    assert result.text == "the disk is full"
    assert result.structured == {"not": "promised"}
    assert result.server == "faulty"


@pytest.mark.fault("`isError: true` taken for a protocol error")
@pytest.mark.both_eras
def test_an_error_of_the_protocol_is_an_exception_with_code_message_and_data(faulty):
    error = '{"jsonrpc": "2.0", "id": $id, "error": {"code": -32602, "message": "no such thing", "data": {"a": 1}}}'
    with Host([faulty("good")]) as host, pytest.raises(RpcError) as caught:
        host.call("say", {"lines": [error], "last": True}, timeout=10)
    assert (caught.value.code, caught.value.message, caught.value.data) == (-32602, "no such thing", {"a": 1})
    assert "faulty" in str(caught.value)


@pytest.mark.fault("`isError: true` taken for a protocol error")
@pytest.mark.parametrize("timeout", [float("inf"), 1e12, 10**30])
def test_a_call_may_have_a_deadline_beyond_all_clocks(faulty, timeout):
    with Host([faulty("good")]) as host:
        assert host.call("echo", {"text": "x"}, timeout=timeout).text == "x"


@pytest.mark.fault("late reply after a deadline")
@pytest.mark.parametrize("timeout", [0, -1, float("-inf")])
@pytest.mark.both_eras
def test_a_deadline_in_the_past_is_a_timeout_and_leaves_nothing_pending(faulty, timeout):
    with Host([faulty("never-answers")]) as host:
        with pytest.raises(RequestTimeout):
            host.call("never", {}, timeout=timeout)
        assert host.status()["faulty"].pending == 0
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"


@pytest.mark.fault("`isError: true` taken for a protocol error")
@pytest.mark.both_eras
def test_a_reply_that_writes_out_every_field_is_a_result(faulty):
    """Some libraries write `"error": null` beside a result; it is no error."""
    line = '{"jsonrpc": "2.0", "id": $id, "error": null, "result": {"content": [{"type": "text", "text": "ok"}]}}'
    with Host([faulty("good")]) as host:
        assert host.call("say", {"lines": [line], "last": True}, timeout=5).text == "ok"


ODD_ERRORS = ["null", "{}", "5", '"text"', "[]", '{"code": "x", "message": 7}', '{"code": 1.5}', '{"message": null}']


@pytest.mark.fault("`isError: true` taken for a protocol error")
@pytest.mark.parametrize("error", ODD_ERRORS)
def test_an_error_without_code_or_message_ends_the_call_all_the_same(faulty, error):
    line = '{"jsonrpc": "2.0", "id": $id, "error": ' + error + "}"
    with Host([faulty("good")]) as host:
        with pytest.raises(HarnessError):
            host.call("say", {"lines": [line], "last": True}, timeout=5)
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"
        assert host.status()["faulty"].pending == 0


ODD_RESULTS = [None, 5, "text", [], {}, {"content": None}, {"content": "x"}, {"content": [1, None, []]}, True]
ODD_RESULTS += [
    {"content": [{"type": "text"}]},
    {"content": [{"type": "text", "text": 5}]},
    {"content": [{"type": []}]},
]
ODD_RESULTS += [{"content": [], "isError": "yes"}, {"content": [], "structuredContent": [1]}]


@pytest.mark.fault("`isError: true` taken for a protocol error")
@pytest.mark.parametrize("result", ODD_RESULTS, ids=json.dumps)
@pytest.mark.both_eras
def test_a_result_of_an_odd_shape_ends_the_call_and_its_text_is_a_string(faulty, result):
    line = '{"jsonrpc": "2.0", "id": $id, "result": ' + json.dumps(result) + "}"
    with Host([faulty("good")]) as host:
        try:
            assert isinstance(host.call("say", {"lines": [line], "last": True}, timeout=5).text, str)
        except RequestTimeout:
            raise
        except HarnessError:
            pass  # a clear error is fine too
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"
        assert host.status()["faulty"].pending == 0


@pytest.mark.fault("`isError: true` taken for a protocol error")
def test_arguments_that_are_no_json_are_our_own_mistake_and_nothing_is_sent(faulty, facts):
    with Host([faulty("good")]) as host:
        for arguments in ({"a": object()}, {"a": b"bytes"}, {"a": float("nan")}, {("a",): 1}):
            with pytest.raises((TypeError, ValueError)):
                host.call("echo", arguments, timeout=5)
        assert host.status()["faulty"].pending == 0
        received = facts(host)["received"]
    assert [m["params"]["name"] for m in received if m.get("method") == "tools/call"] == ["report"]
