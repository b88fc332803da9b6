"""The small client after lesson 4: rows of failures, and a supervisor that is moved by a clock."""

import sys
import time
from itertools import islice
from pathlib import Path

import main
import pytest
from mcp_harness import restart
from steps import step04_restart as step

SERVERS = Path(main.__file__).parent / "servers"


class Clock:
    """Time as an object: it stands still until somebody moves it."""

    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def supervise(clock):
    """Supervise a server; it is closed in the end. `heard` keeps the events that were told."""
    supervisors = []

    def start(server, **settings):
        heard = []
        command = [sys.executable, str(SERVERS / f"{server}.py")]
        supervisor = step.Supervisor(server, command, clock, tell=lambda event, text: heard.append(event), **settings)
        supervisors.append(supervisor)
        return supervisor.start(), heard

    yield start
    for supervisor in supervisors:
        supervisor.close()


def kill(supervisor):
    """End the process and wait until its connection knows."""
    connection, limit = supervisor.connection, time.monotonic() + 10
    connection.popen.kill()
    while connection.alive and time.monotonic() < limit:
        time.sleep(0.001)
    assert not connection.alive


def test_its_delays_are_those_of_the_real_client():
    assert list(islice(step.delays(), 9)) == [restart.delay_after(failures) for failures in range(1, 10)]


def test_a_row_ends_by_sustained_uptime_as_in_the_real_client(clock):
    small, real = step.Backoff(clock), restart.Backoff()
    for uptime in (0.0, 3.0, 59.9, 60.0, 1.0, 500.0, 0.0):
        small.ready()
        clock.time += uptime
        assert small.failed() == real.failed(uptime).delay


def test_a_server_without_memory_comes_back_when_its_delay_is_over(supervise, clock):
    supervisor, heard = supervise("files")
    kill(supervisor)
    assert not supervisor.alive
    clock.time += 0.9
    assert not supervisor.alive
    clock.time += 0.1
    assert supervisor.alive
    assert (supervisor.starts, heard) == (2, ["died", "ready"])


def test_a_stateful_server_stays_down_until_somebody_restarts_it(supervise, clock):
    supervisor, heard = supervise("notes", stateful=True)
    kill(supervisor)
    clock.time += 1000
    assert (supervisor.alive, supervisor.state, heard) == (False, "failed", ["failed"])
    supervisor.restart()
    assert supervisor.alive


def test_one_notice_at_the_third_failure_and_one_recovery(supervise, clock):
    supervisor, heard = supervise("files")
    for _ in range(5):
        kill(supervisor)
        supervisor.look()
        clock.time = supervisor.retry_at
        supervisor.look()
    assert heard.count("notice") == heard.count("recovered") == 1
    assert heard.index("notice") == 5  # died, ready, died, ready, died


def test_nothing_is_started_after_close(supervise, clock):
    supervisor, _ = supervise("files")
    kill(supervisor)
    supervisor.look()
    supervisor.close()
    clock.time += 1000
    supervisor.look()
    assert (supervisor.starts, supervisor.alive) == (1, False)


def test_a_call_while_the_server_is_down_fails_at_once_and_is_not_kept(supervise, clock):
    supervisor, _ = supervise("files")
    kill(supervisor)
    with pytest.raises(step.ServerDied, match="exit code -9"):
        supervisor.request("tools/list")
    clock.time += 1
    assert supervisor.alive
    assert [m["method"] for _, arrow, m in supervisor.connection.record if arrow == "→"][-1] == "tools/list"
    assert len([m for _, arrow, m in supervisor.connection.record if arrow == "→"]) == 3  # the start, nothing else
