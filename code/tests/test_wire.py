"""Bytes, lines, messages: any bytes give messages and noise, in linear time and bounded memory."""

import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_harness import wire
from mcp_harness.wire import LineBuffer, Noise, Notification, Reply, Request, TooLong, encode, parse


def lines_of(data: bytes, *cuts: int) -> list[bytes | TooLong]:
    """The lines of `data`, fed in pieces."""
    buffer, lines, edges = LineBuffer(), [], [0, *sorted(cuts), len(data)]
    for begin, end in itertools.pairwise(edges):
        lines += buffer.feed(data[begin:end])
    return lines


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b""))), st.lists(st.integers(0, 200)))
def test_lines_come_out_the_same_however_the_bytes_are_cut(lines, cuts):
    data = b"".join(line + b"\n" for line in lines)
    assert lines_of(data, *(min(cut, len(data)) for cut in cuts)) == lines


def test_only_the_newline_byte_ends_a_line():
    assert lines_of("a\u2028b\u0085c\rd\fe\n".encode()) == ["a\u2028b\u0085c\rd\fe".encode()]


def test_a_line_that_is_not_finished_waits():
    buffer = LineBuffer()
    assert buffer.feed(b'{"a"') == []
    assert buffer.feed(b":1}\n{") == [b'{"a":1}']


def test_a_line_past_the_maximum_is_thrown_away_and_the_next_one_is_read():
    buffer = LineBuffer(max_bytes=1000)
    long = b"x" * 2000
    assert buffer.feed(long + b"\nnext\n") == [TooLong(2000, long[:512], long[-512:]), b"next"]
    assert buffer.feed(b"a\n" + long + b"\nb\n") == [b"a", TooLong(2000, long[:512], long[-512:]), b"b"]


def test_a_line_of_exactly_the_maximum_is_a_line():
    assert LineBuffer(max_bytes=5).feed(b"12345\n123456\n") == [b"12345", TooLong(6, b"123456", b"123456")]


def test_a_line_without_an_end_does_not_grow_in_memory():
    buffer = LineBuffer(max_bytes=10_000)
    for _ in range(1000):
        buffer.feed(b"y" * 5000)
    assert len(buffer._line) <= 10_000
    (line,) = buffer.feed(b"end\n")
    assert (line.size, line.tail[-3:]) == (5_000_003, b"end")


def test_a_long_line_in_small_pieces_costs_linear_time():
    """Quadratic cost would be a hundred times the double, not the double."""

    def cost(pieces: int) -> float:
        buffer, began = LineBuffer(), time.perf_counter()
        for _ in range(pieces):
            buffer.feed(b"z" * 64)
        buffer.feed(b"\n")
        return time.perf_counter() - began

    small = min(cost(20_000) for _ in range(3))
    assert min(cost(200_000) for _ in range(3)) < 40 * small


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"Server started on stdio", "not JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        ('{"jsonrpc":"2.0"}'.encode("utf-16"), "not UTF-8"),
        (b'[{"jsonrpc":"2.0","id":1,"result":{}}]', "no object"),
        (b"5", "no object"),
        (b"null", "no object"),
        (b"{}", "no JSON-RPC message"),
        (b'{"id":1}', "no JSON-RPC message"),
        (b'{"id":null,"result":{}}', "no JSON-RPC message"),
        (b'{"id":null,"error":{"code":-32700}}', "no JSON-RPC message"),
        (b'{"id":true,"result":{}}', "no JSON-RPC message"),
        (b'{"id":[],"method":"ping"}', "no JSON-RPC message"),
        (b'{"id":NaN,"method":"ping"}', "no JSON-RPC message"),
        (b'{"id":1e999,"method":"ping"}', "no JSON-RPC message"),
        (b'{"method":5}', "no JSON-RPC message"),
        (b'{"id":"' + b"x" * 2000 + b'","method":"ping"}', "no JSON-RPC message"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"id":' + b"9" * 10_000 + b',"result":{}}', "not JSON"),
    ],
)
def test_what_is_no_message_is_noise_and_says_why(line, why):
    noise = parse(line)
    assert isinstance(noise, Noise)
    assert why in noise.why
    assert len(noise.preview) <= wire.PREVIEW_CHARS + 1


@pytest.mark.parametrize("line", [b"", b"  ", b"\r", b"\t\r"])
def test_an_empty_line_is_nothing(line):
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"ping"}', Request(7, "ping", {})),
        (b'{"id":"a","method":"roots/list","params":{"x":1}}\r', Request("a", "roots/list", {"x": 1})),
        (b'{"method":"n","params":[1]}', Notification("n", {})),
        (b'\xef\xbb\xbf{"method":"n"}', Notification("n", {})),
        (b'{"id":1,"result":{}}', Reply(1, {"id": 1, "result": {}})),
        (b'{"id":1,"error":5}', Reply(1, {"id": 1, "error": 5})),
    ],
)
def test_a_message_is_told_by_its_method_first(line, message):
    assert parse(line) == message


def test_a_request_with_an_id_of_ours_is_a_request():
    """Both sides count from 1: the id alone says nothing."""
    assert isinstance(parse(b'{"id":1,"method":"ping","result":{}}'), Request)


@given(st.binary())
def test_any_bytes_give_messages_or_noise(data):
    assert all(isinstance(one, Request | Notification | Reply | Noise) for one in wire.messages(data + b"\n"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3),
)


@given(st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error", "jsonrpc"]), json_values))
def test_any_json_object_gives_a_message_or_noise(body):
    assert parse(json.dumps(body).encode()) is not None


@pytest.mark.parametrize(
    ("value", "id"),
    [(7, 7), ("7", 7), (7.0, 7), ("07", None), (" 7", None), ("x", None), ("", None), ("9" * 30, None), (7.5, None)],
)
def test_our_own_number_is_known_in_its_string_form_too(value, id):
    assert wire.own_id(value) == id


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"content":"', b""),
        (b'{ "id" : "7", "result":{"content":"', b""),
        (b'{"result":{"content":"', b'"},"jsonrpc":"2.0","id":7}'),
        (b'{"result":{"content":"', b'"},"id":"7","jsonrpc":"2.0"}\r'),
    ],
)
def test_the_id_of_a_reply_that_was_too_long_is_found_at_either_end(head, tail):
    buffer = LineBuffer(max_bytes=2000)
    (line,) = buffer.feed(head + b"x" * 3000 + tail + b"\n")
    noise = parse(line)
    assert isinstance(noise, Noise)
    assert wire.own_id(noise.reply_id) == 7
    assert "bytes" in noise.why


@pytest.mark.parametrize(
    "head", [b'{"jsonrpc":"2.0","id":7,"method":"x","params":"', b"banner ", b'{"x":{"id":7,"y":"']
)
def test_no_reply_id_is_made_up(head):
    (line,) = LineBuffer(max_bytes=2000).feed(head + b"x" * 3000 + b"\n")
    assert parse(line).reply_id is None


@given(
    st.dictionaries(st.text(), json_values.filter(lambda value: "nan" not in repr(value) and "inf" not in repr(value)))
)
def test_a_frame_is_one_line_of_ascii_and_comes_back_the_same(body):
    frame = encode({"jsonrpc": "2.0", "method": "m", "params": body})
    assert frame.isascii()
    assert frame.count(b"\n") == 1
    assert json.loads(frame)["params"] == body


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x", object()])
def test_what_json_cannot_carry_is_refused(value):
    with pytest.raises((ValueError, TypeError)):
        encode({"params": value})


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":7,"result":{}}', '{"id":"7","error":{"code":1}}', ' {"id":7.0,"result":null}\t',
        '\ufeff{"id":7,"result":{}}', '{"id":8,"result":{}}', '{"id":"07","result":{}}', '{"id":true,"result":{}}',
        '{"id":null,"result":{}}', '{"result":{}}', '{"id":7}', '{"id":7,"method":"ping"}',
        '{"id":7,"method":null,"result":{}}',
        "[7]", "7", "", " ", "a print", '{"id":7,"result":{}} {}', '{"id":7,"result":{}', "[" * 100_000,
    ],
)  # fmt: skip
def test_the_reply_to_a_request_is_what_parsing_calls_its_reply(line):
    incoming = parse(line.encode())
    own = isinstance(incoming, Reply) and wire.own_id(incoming.id) == 7
    assert wire.reply_to(line.encode(), 7) == (incoming.body if own else None)


def test_what_contains_itself_is_no_json():
    params = {}
    params["self"] = params
    with pytest.raises(ValueError, match="contains itself"):
        encode({"jsonrpc": "2.0", "id": 1, "method": "x", "params": params})
    with pytest.raises(ValueError, match="nested too deeply"):
        encode({"params": nested(100_000)})


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value
