"""A Ctrl-C anywhere in a host's life: it closes, soon, and nothing of it is left."""

import random
import signal
import threading
import time
from pathlib import Path

import pytest
from mcp_harness import Host, Policy, ServerConfig
from mcp_harness.latch import Latch, join

SHELL_SERVER = Path(__file__).resolve().parents[1] / "bench" / "shell_server.sh"
STRIKES = 1000


@pytest.fixture
def strike():
    """`strike(seconds)`: a KeyboardInterrupt then, wherever the main thread is; `strike(None)`: none."""
    armed = []

    def interrupt(number, frame):
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    def set_alarm(seconds):
        armed[:] = [] if seconds is None else [seconds]
        signal.setitimer(signal.ITIMER_REAL, seconds or 0)

    before = signal.signal(signal.SIGALRM, interrupt)
    yield set_alarm
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
@pytest.mark.fault("start and stop 200 times")
@pytest.mark.timeout(90, method="thread")  # the timer of the usual method is ours here
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it struck in a callback of Python's
def test_a_ctrl_c_at_any_moment_leaves_nothing(strike, mark, leaks):
    moments, struck = random.Random(7), 0
    before = leaks()
    for number in range(STRIKES):
        began = time.monotonic()
        configs = [ServerConfig(f"s{n}", "sh", (str(SHELL_SERVER), "--name", f"{mark}{n}")) for n in range(2)]
        host = Host(configs, policy=Policy.PREFIX_ALL, on_event=lambda event: None)
        try:
            strike(moments.uniform(0.0001, 0.02))
            with host:
                for _ in range(20):
                    host.call("s0/echo", {"text": "x"})
            strike(None)
        except KeyboardInterrupt:
            struck += 1
        assert time.monotonic() - began < 5, f"number {number} took long to close"
        if not host._ended:  # it struck before the first step of `__exit__`, where no code of ours runs yet
            host.close()
    assert before.since(mark) == []
    assert struck > STRIKES / 10


@pytest.mark.slow
@pytest.mark.timeout(90, method="thread")  # the timer of the usual method is ours here
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_ctrl_c_in_a_restart_leaves_nothing_and_the_server_comes_up(strike, mark, leaks, until):
    moments, struck = random.Random(8), 0
    before = leaks()
    config = ServerConfig("one", "sh", (str(SHELL_SERVER), "--name", mark))
    with Host([config]) as host:
        for _ in range(200):
            try:
                strike(moments.uniform(0.0001, 0.01))
                host.restart("one")
                strike(None)
            except KeyboardInterrupt:
                struck += 1
            until(lambda: host.status()["one"].state == "ready")
        assert host.call("echo", {"text": "x"}, timeout=10).text == "here"
    assert before.since(mark) == []
    assert struck > 20


@pytest.mark.timeout(30, method="thread")  # the timer of the usual method is ours here
def test_a_ctrl_c_in_a_call_leaves_no_entry_and_does_not_close_the_short_way(strike, mark):
    moments, struck = random.Random(9), 0
    with Host([ServerConfig("one", "sh", (str(SHELL_SERVER), "--name", mark))]) as host:
        for _ in range(1000):
            try:
                strike(moments.uniform(0.00001, 0.0004))
                for _ in range(3):
                    host.call("echo", {"text": "x"}, timeout=10)
                strike(None)
            except KeyboardInterrupt:
                struck += 1
        assert host.status()["one"].pending == 0
        intake = host._members["one"].session.transport.intake
        before = intake._visits
        for _ in range(200):
            host.call("echo", {"text": "x"}, timeout=10)
        assert intake._visits > before
    assert struck > 100


def test_a_latch_lets_everybody_go_and_stays_open():
    latch, through = Latch(), []
    threads = [threading.Thread(target=lambda: through.append(latch.wait(10))) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert not latch.wait(0.01)
    latch.set()
    latch.set()
    for thread in threads:
        join(thread, 10)
    assert through == [True] * 5
    assert latch.is_set()
    assert latch.wait()


def test_a_thread_that_was_never_started_is_not_waited_for():
    join(threading.Thread(target=print), 10)


@pytest.mark.timeout(30, method="thread")  # the timer of the usual method is ours here
def test_a_ctrl_c_in_a_wait_leaves_a_latch_that_works(alarm):
    for number in range(2000):
        latch = Latch()
        try:
            alarm(Latch.wait, 1e-6 * (number % 20 + 1))
            for _ in range(3):
                latch.wait(1e-6)
        except KeyboardInterrupt:
            pass
        latch.set()
        assert latch.wait(1)
