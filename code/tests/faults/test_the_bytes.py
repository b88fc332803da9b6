"""Faults in the stream: what counts as a message, what is noise, and that the next good line always counts."""

import contextlib
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp_harness import BadReply, Host, wire

AWKWARD_TEXT = 'h\u00e9llo \u2713 \u6f22\u5b57 \U0001f600 \u2028 \u2029 \x85 \x0b \x1c \r\n \\n " \x00 end'


@pytest.mark.fault("two messages in one read, one in many, characters cut in half")
@pytest.mark.parametrize("how", ["bytes", "halves"])
@pytest.mark.both_eras
def test_a_message_in_pieces_is_put_together(faulty, how):
    with Host([faulty("odd-frames", "--how", how)]) as host:
        assert host.call("echo", {"text": AWKWARD_TEXT}, timeout=10).text == AWKWARD_TEXT
        assert host.status()["faulty"].noise_lines == 0


@pytest.mark.fault("two messages in one read, one in many, characters cut in half")
@pytest.mark.parametrize("offset", range(4))
@pytest.mark.both_eras
def test_a_character_cut_in_half_is_put_together(faulty, offset):
    """Four-byte characters, moved along by the offset: one of the cuts goes through one."""
    text = "a" * offset + "\U0001f600" * 41
    with Host([faulty("odd-frames", "--how", "halves")]) as host:
        assert host.call("echo", {"text": text}, timeout=10).text == text


@pytest.mark.fault("two messages in one read, one in many, characters cut in half")
@pytest.mark.both_eras
def test_many_messages_in_one_write_all_count(faulty):
    with Host([faulty("out-of-order", "--count", 30)]) as host, ThreadPoolExecutor(30) as pool:
        texts = [f"{number} {AWKWARD_TEXT}" for number in range(30)]
        results = pool.map(lambda text: host.call("together", {"text": text}, timeout=20).text, texts)
        assert list(results) == texts


@pytest.mark.fault("two messages in one read, one in many, characters cut in half")
@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_the_newline_byte_ends_a_line(faulty, character):
    """These end a line for `str.splitlines`, and may stand as they are inside a JSON string or beside it."""
    raw = json.dumps({"jsonrpc": "2.0", "id": "$id", "result": {"content": [{"type": "text", "text": "|"}]}})
    inside = character if ord(character) > 0x1F else json.dumps(character)[1:-1]
    line = raw.replace("|", inside).replace('"$id"', "$id")
    with Host([faulty("good")]) as host:
        assert host.call("say", {"lines": [line], "last": True}, timeout=10).text == character


@pytest.mark.fault("prints and banners on stdout")
def test_banners_are_skipped_and_counted_and_shown_once(faulty, events):
    with Host([faulty("banners", name="chatty")], on_event=events) as host:
        for number in range(5):
            assert host.call("echo", {"text": str(number)}, timeout=10).text == str(number)
        assert host.status()["chatty"].state == "ready"
        # 5 lines before each of 7 messages and 3 behind it; those behind the last one may still be in the pipe
        assert 7 * 8 - 3 <= host.status()["chatty"].noise_lines <= 7 * 8
        events.wait("noise", "chatty")
    shown = events.seen("noise")
    assert len(shown) == 1
    assert "Server running on stdio" in str(shown[0].data)


NOISE = [
    "plain text",
    "{",
    '{"jsonrpc": "2.0"',
    "[]",
    "[1, 2]",
    '"text"',
    "3.14",
    "true",
    "NaN",
    "-Infinity",
    "[" * 100_000,
    '{"a":' * 100_000,
    "9" * 5000,
    '{"id": ' + "9" * 5000 + "}",
    "{}",
    '{"jsonrpc": "2.0"}',
    '{"jsonrpc": "2.0", "id": $id}',
    '{"jsonrpc": "2.0", "method": 5}',
    '{"jsonrpc": "2.0", "method": null, "id": 1}',
    '{"jsonrpc": "2.0", "method": {}, "id": {}}',
    '{"jsonrpc": "2.0", "id": [1], "result": {}}',
    '{"jsonrpc": "2.0", "id": {"a": 1}, "result": {}}',
    '{"jsonrpc": "2.0", "id": null, "result": {}}',
    '{"jsonrpc": "2.0", "id": true, "result": {}}',
    '{"jsonrpc": "2.0", "id": 1e999, "result": {}}',
    '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}',
    '{"jsonrpc": "2.0", "method": "notifications/unheard-of", "params": 7}',
    '{"jsonrpc": "2.0", "method": "notifications/progress", "params": []}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}}',
    '{"jsonrpc": "2.0", "method": "notifications/message", "params": null}',
    '{"jsonrpc": "2.0", "id": "$id$id", "result": {}}',
    "\ufeff",
    "\x00\x00\x00",
    "Content-Length: 52\r\n\r",
]


@pytest.mark.fault("prints and banners on stdout")
@pytest.mark.parametrize("line", NOISE, ids=lambda line: line[:40].encode("unicode_escape").decode())
def test_a_line_that_is_no_reply_leaves_the_good_reply_behind_it(faulty, line):
    with Host([faulty("good")]) as host:
        assert host.call("say", {"lines": [line]}, timeout=10).text == "said"
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"
        status = host.status()["faulty"]
        assert (status.state, status.pending) == ("ready", 0)


@pytest.mark.fault("prints and banners on stdout")
@pytest.mark.both_eras
def test_a_batch_is_noise_since_the_revision_has_none(faulty):
    batch = '[{"jsonrpc": "2.0", "id": $id, "result": {"content": [{"type": "text", "text": "batched"}]}}]'
    with Host([faulty("good")]) as host:
        assert host.call("say", {"lines": [batch]}, timeout=10).text == "said"
        assert host.status()["faulty"].noise_lines == 1


@pytest.mark.fault("prints and banners on stdout")
@pytest.mark.both_eras
def test_noise_without_end_is_bounded_in_memory_and_events(faulty, events):
    lines = [f"noise {number} " + "x" * 1000 for number in range(3000)]
    with Host([faulty("good")], on_event=events) as host:
        assert host.call("say", {"lines": lines}, timeout=20).text == "said"
        assert host.status()["faulty"].noise_lines == 3000
    assert len(events.seen("noise")) == 1
    assert len(str(events.seen("noise")[0].data)) < 3000


@pytest.mark.fault("long lines, lines without an end")
@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 1_000_000])
@pytest.mark.both_eras
def test_a_line_longer_than_any_buffer_is_one_message(faulty, size):
    with Host([faulty("good")]) as host:
        assert len(host.call("big", {"size": size}, timeout=20).text) == size
        assert len(host.call("echo", {"text": "y" * size}, timeout=20).text) == size


@pytest.mark.fault("long lines, lines without an end")
def test_a_line_in_many_small_pieces_takes_linear_time():
    """Copying or searching the whole line for each piece would touch 50 GB here, and take 10 s and more."""
    buffer, began = wire.LineBuffer(), time.monotonic()
    for _ in range(50_000):
        assert buffer.feed(b"x" * 40) == []
    (line,) = buffer.feed(b"\n")
    assert len(line) == 2_000_000
    assert time.monotonic() - began < 3


@pytest.mark.fault("long lines, lines without an end")
def test_a_line_past_the_maximum_is_thrown_away_and_the_line_behind_it_counts(faulty, events):
    size = wire.MAX_LINE_BYTES + 5_000_000
    with Host([faulty("endless-line")], on_event=events) as host:
        assert host.call("endless", {"size": size}, timeout=25).text == "at last"
        assert host.status()["faulty"].noise_lines == 1
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"
        noise = events.wait("noise", "faulty")
    assert str(wire.MAX_LINE_BYTES) in str(noise.data), "the maximum is not stated"
    assert len(str(noise.data)) < 2000


@pytest.mark.fault("long lines, lines without an end")
def test_a_reply_past_the_maximum_fails_its_call_at_once_and_only_this_one(faulty):
    with Host([faulty("good")]) as host:
        with pytest.raises(BadReply) as caught:
            host.call("big", {"size": wire.MAX_LINE_BYTES + 1000}, timeout=28)
        assert str(wire.MAX_LINE_BYTES) in str(caught.value)
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"


@pytest.mark.fault("a result of 31 MB")
def test_a_result_of_31_megabytes_arrives_whole(faulty):
    with Host([faulty("good")]) as host:
        result = host.call("big", {"size": 31_000_000}, timeout=30)
        assert len(result.text) == 31_000_000
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"


@pytest.mark.fault("bytes that are not UTF-8")
@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe\xfd",
        b'{"jsonrpc": "2.0", "id": 1, "result": {"a": "\xe9"}}',
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98",
        b"\xc0\xaf",
    ],
)
@pytest.mark.both_eras
def test_bytes_that_are_not_utf8_are_noise_and_the_next_line_counts(faulty, tmp_path, data):
    (tmp_path / "bytes").write_bytes(data)
    with Host([faulty("good")]) as host:
        assert host.call("replay", {"path": str(tmp_path / "bytes")}, timeout=10).text == "replayed"
        assert host.status()["faulty"].noise_lines == 1


@pytest.mark.fault("bytes that are not UTF-8")
def test_text_with_a_lone_surrogate_neither_breaks_the_call_nor_the_client(faulty):
    """JSON can escape half a character; UTF-8 cannot carry it. It is sent escaped, or the call is refused."""
    with Host([faulty("good")]) as host:
        with contextlib.suppress(ValueError, TypeError):
            assert host.call("echo", {"text": "\ud800"}, timeout=10).text in ("\ud800", "\ufffd", "?")
        assert host.call("echo", {"text": "after"}, timeout=10).text == "after"
        assert host.status()["faulty"].pending == 0


@pytest.mark.fault("CRLF at the end of a line")
@pytest.mark.both_eras
def test_carriage_returns_are_accepted(faulty):
    with Host([faulty("odd-frames", "--how", "crlf")]) as host:
        assert host.call("echo", {"text": "a\r\nb"}, timeout=10).text == "a\r\nb"
        assert host.status()["faulty"].noise_lines == 0


@pytest.mark.fault("stderr flood")
@pytest.mark.parametrize("how", ["lines", "line"])
def test_a_flood_on_stderr_is_drained_and_only_its_end_is_kept(faulty, memory, how):
    with memory() as grown, Host([faulty("stderr-flood", "--count", 8, "--how", how, start_timeout=25)]) as host:
        assert grown() < 3_000_000
        assert host.call("echo", {"text": "dry"}, timeout=10).text == "dry"
        tail = host.status()["faulty"].stderr_tail
        assert sum(map(len, tail)) < 100_000
    assert tail[-1] == "the last line"
    assert len(tail) < 500


@pytest.mark.fault("stderr flood")
@pytest.mark.both_eras
def test_the_last_words_are_kept_even_without_a_newline_at_the_end(faulty):
    with Host([faulty("exits-at-once", "--text", "line 1\nline 2", restart="never")]) as host:
        assert host.status()["faulty"].stderr_tail[-2:] == ("line 1", "line 2")


class NoDescriptor:
    """Like the streams of a notebook: text goes in, there is no file behind it."""

    encoding = "utf-8"

    def write(self, text):
        return len(text)

    def flush(self):
        pass

    def fileno(self):
        raise OSError("fileno")


@pytest.mark.fault("`fileno` in Colab and Jupyter")
@pytest.mark.parametrize("stream", [NoDescriptor(), None], ids=["no fileno", "None"])
def test_streams_without_a_descriptor_are_no_trouble(faulty, monkeypatch, stream):
    for name in ("stdin", "stdout", "stderr", "__stderr__", "__stdout__"):
        monkeypatch.setattr(f"sys.{name}", stream)
    with Host([faulty("stderr-flood")]) as host:
        assert host.call("echo", {"text": "here"}, timeout=10).text == "here"
