"""A pipe that is read by turns: each line arrives once, in order, whoever read it and whatever interrupts him."""

import contextlib
import json
import os
import signal
import threading
import time

import pytest
from mcp_harness import Host, ServerDied, intake
from mcp_harness.intake import CHUNK, Intake


def reply(id, text="x"):
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": {"text": text}}).encode() + b"\n"


NOTICE = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'


class Pipe:
    """An intake with a pipe of our own and a reader thread that is out; `heard` are the lines it delivered."""

    def __init__(self):
        read, self.end = os.pipe()
        os.set_blocking(read, False)
        self.heard = []
        self.intake = Intake(read, lambda line: self.heard.append(bytes(line) + b"\n"))
        self.intake._aside = True
        self._read = read

    def close(self):
        for fd in (self._read, self.end):
            with contextlib.suppress(OSError):
                os.close(fd)


@pytest.fixture
def pipe():
    one = Pipe()
    yield one
    one.close()


# --- one visit


def test_a_caller_takes_its_own_reply(pipe):
    os.write(pipe.end, reply(7))
    assert pipe.intake.visit(7, time.monotonic() + 5)["result"] == {"text": "x"}
    assert pipe.intake.read()
    assert pipe.heard == []


def test_an_id_that_comes_back_as_a_string_is_its_own_too(pipe):
    os.write(pipe.end, reply("7"))
    assert pipe.intake.visit(7, time.monotonic() + 5) is not None


@pytest.mark.parametrize(
    "data",
    [
        reply(8),
        NOTICE,
        b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n',
        b"a print\n",
        b"\n",
        b"\xff\n",
        NOTICE + reply(7),
        reply(7) + NOTICE,
        reply(7) + reply(7),
    ],
)
def test_whatever_else_is_there_stays_for_the_reader_thread(pipe, data):
    os.write(pipe.end, data)
    assert pipe.intake.visit(7, time.monotonic() + 5) is None
    assert pipe.intake.read()
    assert b"".join(pipe.heard) == data


def test_half_a_line_stays_and_its_other_half_is_no_line_of_its_own(pipe):
    """Noise, then a reply behind it on the same line: the line as a whole is noise."""
    os.write(pipe.end, b"noise ")
    assert pipe.intake.visit(7, time.monotonic() + 5) is None
    assert pipe.intake.read()
    os.write(pipe.end, reply(7))
    assert pipe.intake.visit(7, time.monotonic() + 5) is None
    assert pipe.intake.read()
    assert pipe.heard == [b"noise " + reply(7)]


def test_a_reply_larger_than_one_read_stays(pipe):
    big = reply(7, "x" * 2 * CHUNK)
    writer = threading.Thread(target=os.write, args=(pipe.end, big))
    writer.start()
    assert pipe.intake.visit(7, time.monotonic() + 5) is None
    while not pipe.heard:
        assert pipe.intake.read()
    writer.join()
    assert pipe.heard == [big]


def test_the_end_of_the_stream_stays(pipe):
    os.close(pipe.end)
    assert pipe.intake.visit(7, time.monotonic() + 5) is None
    assert not pipe.intake.read()


def test_a_visit_ends_soon_when_nothing_comes(pipe):
    began = time.monotonic()
    assert pipe.intake.visit(7, time.monotonic() + 5) is None
    assert time.monotonic() - began < 100 * intake.AWAKE


def test_no_visit_while_the_reader_thread_is_at_the_pipe_or_another_caller_is(pipe):
    os.write(pipe.end, reply(7))
    pipe.intake._aside = False
    assert pipe.intake.visit(7, time.monotonic() + 5) is None
    pipe.intake._aside = True
    pipe.intake._visitor = 6
    assert pipe.intake.visit(7, time.monotonic() + 5) is None
    pipe.intake._visitor = 0
    assert pipe.intake.visit(7, time.monotonic() + 5) is not None


class RecordingPoller:
    """A poller that notes how long it may sleep, in milliseconds."""

    def __init__(self, poller):
        self._poller, self.sleeps = poller, []

    def poll(self, milliseconds):
        self.sleeps.append(milliseconds)
        return self._poller.poll(milliseconds)


def test_a_caller_sleeps_now_and_then_so_that_other_threads_get_their_turn(pipe):
    pipe.intake._poller = poller = RecordingPoller(pipe.intake._poller)

    def visit():
        poller.sleeps.clear()
        os.write(pipe.end, reply(7))
        assert pipe.intake.visit(7, time.monotonic() + 5) is not None
        return [sleep for sleep in poller.sleeps if sleep]

    pipe.intake._slept = time.monotonic() + 5  # somebody has slept a moment ago
    assert visit() == []
    pipe.intake._slept = time.monotonic() - intake.FAIR
    assert visit() == [intake.AWAKE * 1000]


# --- the reader thread


def test_the_reader_thread_comes_back_when_it_is_called(pipe, monkeypatch):
    monkeypatch.setattr(intake, "ASIDE", 20.0)
    pipe.intake.brisk = True
    thread = threading.Thread(target=pipe.intake.step_aside)
    thread.start()
    while thread.is_alive():
        pipe.intake.call_back()
    assert not pipe.intake.brisk


def test_it_leaves_the_pipe_to_a_caller_who_is_there(pipe):
    pipe.intake.brisk, pipe.intake._visitor = True, 7
    assert not pipe.intake.step_aside()
    assert pipe.intake.lent
    pipe.intake.brisk = False  # the call was slow in the end
    assert pipe.intake.wanted  # it has to ask again, until it has the pipe
    pipe.intake._visitor = 0
    assert pipe.intake.step_aside()
    assert not pipe.intake.wanted


def test_it_comes_back_when_no_caller_has_come(pipe):
    pipe.intake.brisk = True
    pipe.intake.step_aside()
    assert not pipe.intake.brisk
    assert pipe.intake.visit(7, time.monotonic() + 5) is None


# --- Ctrl-C


@pytest.mark.timeout(30, method="thread")  # the timer of the usual method is ours here
@pytest.mark.parametrize("data", [reply(7), reply(8), NOTICE, NOTICE + reply(8)], ids=["own", "other", "notice", "two"])
def test_a_ctrl_c_loses_nothing_wherever_it_strikes(pipe, alarm, data):
    """Three thousand visits, each with a signal some microseconds after its start; a caller may lose its own reply."""
    strikes = 0
    for number in range(3000):
        os.write(pipe.end, data)
        found = None
        try:
            alarm(Intake.visit, 1e-6 * (number % 60 + 1))
            found = pipe.intake.visit(7, time.monotonic() + 5)
        except KeyboardInterrupt:
            strikes += 1
        assert pipe.intake.read()
        heard, own = b"".join(pipe.heard), data == reply(7)
        pipe.heard.clear()
        assert heard == data or (own and heard == b""), number
        assert found is None or (own and heard == b""), number
    assert strikes > 100


# --- in a host


always = pytest.mark.parametrize("way", ["awake"], indirect=True)


def visits(host):
    return host._members["faulty"].session.transport.intake._visits


@pytest.mark.both_eras
def test_calls_in_a_row_take_the_short_way(faulty):
    with Host([faulty("good")]) as host:
        for number in range(200):
            assert host.call("echo", {"text": str(number)}, timeout=10).text == str(number)
        assert visits(host) > 0
        assert host.status()["faulty"].pending == 0


def test_a_slow_tool_closes_it_again(faulty, until, monkeypatch):
    monkeypatch.setattr(intake, "AWAKE", 1e-9)  # no tool is that fast
    with Host([faulty("good")]) as host:
        for _ in range(20):
            host.call("echo", {"text": "x"}, timeout=10)
        assert visits(host) == 0


@always
@pytest.mark.both_eras
def test_a_server_that_dies_under_a_visitor_fails_the_call_at_once(faulty):
    with Host([faulty("good", restart="never")]) as host:
        host.call("echo", {"text": "x"}, timeout=10)
        began = time.monotonic()
        with pytest.raises(ServerDied):
            host.call("die", {}, timeout=10)
        assert time.monotonic() - began < 5


@always
def test_callers_of_many_threads_and_a_lone_one_by_turns(faulty):
    with Host([faulty("good")]) as host:

        def many(name):
            for number in range(50):
                assert host.call("echo", {"text": f"{name} {number}"}, timeout=10).text == f"{name} {number}"

        threads = [threading.Thread(target=many, args=(name,)) for name in "abcd"]
        for thread in threads:
            many("alone")
            thread.start()
        for thread in threads:
            thread.join()
        assert host.status()["faulty"].late_replies == 0


@always
def test_an_interrupted_caller_leaves_a_session_that_goes_on(faulty):
    with Host([faulty("never-answers")]) as host:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            host.call("never", {}, timeout=20)
        timer.join()
        assert host.call("echo", {"text": "x"}, timeout=10).text == "x"
        assert host.status()["faulty"].pending == 0
