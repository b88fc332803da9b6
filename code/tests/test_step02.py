"""The small client after lesson 2: bytes, a process in a stub's place, an end that leaves nothing."""

import json
import sys
from pathlib import Path

import main
import pytest
from steps import step01_namespace, step02_subprocess
from steps.step02_subprocess import Process, connect, decode, encode, shut_down, spawn, split_lines

SERVERS = Path(main.__file__).parent / "servers"
STUBBORN = """
import signal, sys
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    signal.pause()
"""


def server(name):
    """The command of one of the course's servers."""
    return [sys.executable, str(SERVERS / f"{name}.py")]


def python(code, *words):
    """The command of a small server."""
    return [sys.executable, "-S", "-c", code, *words]


@pytest.fixture
def notes():
    session = connect("notes", server("notes"))
    yield session
    session.server_fn.close()


def test_a_message_is_one_line_of_ascii_whatever_is_in_it():
    message = {"id": 1, "text": "two\nlines \u2028 é"}
    assert encode(message).isascii()
    assert encode(message).index(b"\n") == len(encode(message)) - 1
    assert decode(encode(message)) == message


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_come_out_the_same_however_the_bytes_are_cut(size):
    sent = [{"id": 1, "text": "é\u2028語"}, {"id": 2}]
    written = b"".join(json.dumps(message, ensure_ascii=False).encode() + b"\n" for message in sent)
    lines, rest = [], b""
    for start in range(0, len(written), size):
        more, rest = split_lines(rest + written[start : start + size])
        lines += more
    assert [decode(line) for line in lines] == sent
    assert rest == b""


@pytest.mark.parametrize("line", [b"Server ready!\n", b"[1, 2]\n", b"\n", b'{"id": "caf\xe9"}\n'])
def test_a_line_that_is_no_message_is_none(line):
    assert decode(line) is None


def test_a_process_answers_like_the_stub_whose_place_it_takes(notes):
    stub = main.connect("notes", main.make_notes_server())
    assert (notes.capabilities, notes.tools) == (stub.capabilities, stub.tools)
    for session in (notes, stub):
        result = step01_namespace.call(
            step01_namespace.merge({"notes": session}), {"notes": session}, "search", {"query": "plan"}
        )
        assert result == main.text_result("plan")


def test_a_notification_is_not_waited_for(notes):
    assert notes.server_fn({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None


def test_a_death_is_noticed_by_the_next_call_which_marks_the_session(notes):
    notes.server_fn.popen.terminate()
    notes.server_fn.popen.wait()
    assert notes.alive
    sessions, registry = {"notes": notes}, step01_namespace.merge({"notes": notes})
    first, second = [
        step01_namespace.call(registry, sessions, "search", {"query": "x"})["content"][0]["text"] for _ in range(2)
    ]
    assert first == "server 'notes' has ended with exit code -15"
    assert second == "server 'notes' is dead: 'search' was not called"
    assert not notes.alive


def test_a_log_of_many_kibibytes_never_stops_the_server():
    code = """
import json, sys
for line in sys.stdin:
    print("x" * 200_000, file=sys.stderr, flush=True)
    print("no message", flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {}}), flush=True)
"""
    with Process(python(code)) as process:
        for number in range(3):
            assert process({"jsonrpc": "2.0", "id": number, "method": "ping"})["id"] == number
    assert len(process.log) <= 50


@pytest.mark.parametrize(("words", "code"), [([], -15), (["deaf"], -9)])
def test_a_stubborn_process_is_ended_by_a_signal(words, code):
    with spawn(python(STUBBORN, *words)) as popen:
        popen.stdout.readline()
        assert shut_down(popen, grace=0.1) == code


def test_a_server_that_obeys_ends_by_itself_and_closing_twice_does_no_harm():
    process = Process(server("files"))
    main.connect("files", process)
    assert [process.close(), process.close()] == [0, 0]


def test_a_handshake_that_fails_leaves_no_process(monkeypatch):
    started = []
    monkeypatch.setattr(step02_subprocess, "spawn", lambda command: started.append(spawn(command)) or started[-1])
    with pytest.raises(RuntimeError, match="exit code 3"):
        connect("x", python("import sys; sys.exit(3)"))
    assert started[0].returncode == 3
