"""A server dies: what its callers hear, when it comes back, and what its old self may still say."""

import contextlib
import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp_harness import HarnessError, Host, HostClosed, ServerDied, ServerError
from mcp_harness.clock import FakeClock

ENDS = [pytest.param(["--code", code], id=f"code {code}") for code in (0, 1, 137)]
ENDS += [
    pytest.param(["--signal", int(number)], id=number.name)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGABRT)
]


@pytest.mark.fault("server dies in the middle of a call")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.both_eras
def test_all_pending_calls_fail_at_once_with_the_reason(faulty, events, end):
    config = faulty("dies-mid-call", "--count", 5, *end, "--text", "out of memory", restart="never")
    with Host([config], on_event=events) as host, ThreadPoolExecutor(5) as pool:
        calls = [pool.submit(host.call, "wait", {}, timeout=25) for _ in range(5)]
        for call in calls:
            with pytest.raises(ServerDied) as caught:
                call.result(timeout=10)
            assert caught.value.server == "faulty"
            assert caught.value.retry_in is None
            assert "out of memory" in str(caught.value)
        events.wait("failed", "faulty")
        status = host.status()["faulty"]
        assert (status.state, status.pending) == ("failed", 0)
        assert "out of memory" in status.reason
        with pytest.raises(ServerDied):
            host.call("wait", {}, timeout=5)
        assert "wait" in host.tools(), "the tools of a dead server stay listed and answer with the reason"


@pytest.mark.fault("server dies in the middle of a call")
@pytest.mark.both_eras
def test_a_server_killed_from_outside_while_idle_is_noticed_without_a_call(faulty, events):
    with Host([faulty("good", restart="never")], on_event=events) as host:
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("failed", "faulty")
        assert "SIGKILL" in host.status()["faulty"].reason


@pytest.mark.fault("server dies in the middle of a call")
def test_the_calls_to_the_other_servers_go_on(faulty, events):
    configs = [faulty("dies-mid-call", name="weak", restart="never"), faulty("never-answers", name="strong")]
    with Host(configs, on_event=events) as host, ThreadPoolExecutor(2) as pool:
        strong = pool.submit(host.call, "never", {}, timeout=1)
        with pytest.raises(ServerDied):
            host.call("wait", {}, timeout=10)
        events.wait("failed", "weak")
        assert host.call("strong/echo", {"text": "on"}, timeout=10).text == "on"
        assert not isinstance(strong.exception(), ServerDied)


@pytest.mark.fault("server dies in the middle of a call")
@pytest.mark.both_eras
def test_a_reply_written_just_before_the_death_still_counts(faulty):
    """The bytes are in the pipe when the process is gone: they are read before the death is declared."""
    with Host([faulty("replies-then-dies", restart="never")]) as host:
        assert len(host.call("last_words", {}, timeout=10).text) == 60_000


@pytest.mark.fault("stdout closed, process alive")
@pytest.mark.parametrize("how", ["stdout", "both"])
@pytest.mark.both_eras
def test_a_server_that_closes_its_stdout_is_dead_and_reaped(faulty, events, tmp_path, running, until, how):
    record = tmp_path / "record"
    with Host([faulty("closes-pipes", "--how", how, "--record", record, restart="never")], on_event=events) as host:
        pid = host.status()["faulty"].pid
        with pytest.raises(ServerDied) as caught:
            host.call("close", {}, timeout=20)
        assert "stdout" in str(caught.value)
        events.wait("failed", "faulty")
        until(lambda: pid not in running())
        assert b"SIGTERM" in record.read_bytes(), "it was killed before it was asked"


@pytest.mark.slow
@pytest.mark.fault("stdout closed, process alive")
def test_the_next_process_starts_only_when_the_old_one_is_gone(faulty, events, tmp_path):
    """Two at once would fight for the same files and ports."""
    clock, starts = FakeClock(), tmp_path / "starts"
    with Host([faulty("closes-pipes", "--how", "stubborn", "--starts", starts)], on_event=events, clock=clock) as host:
        old = host.status()["faulty"].pid
        with pytest.raises(ServerDied):
            host.call("close", {}, timeout=20)
        events.wait("restarting")
        clock.advance(1.1)
        events.wait("ready", number=2)
        with pytest.raises(ProcessLookupError):
            os.kill(old, 0)


@pytest.mark.fault("stdout closed, process alive")
@pytest.mark.both_eras
def test_a_server_that_closes_its_stdin_is_dead_too_and_does_not_kill_the_host(faulty, events, gate):
    """Writing to it gives EPIPE: for us an exception in a call and not a signal."""
    door = gate()
    config = faulty("closes-pipes", "--how", "stdin", "--gate", door, restart="never")
    with Host([config], on_event=events) as host, ThreadPoolExecutor(1) as pool:
        first = pool.submit(host.call, "close", {}, timeout=20)
        door.open()  # stdin is closed now
        with pytest.raises(ServerDied) as caught:
            host.call("echo", {"text": "x"}, timeout=10)
        assert "stdin" in caught.value.reason
        assert isinstance(first.exception(), ServerDied)
        assert "stdin" in events.wait("failed").data["reason"]


@pytest.mark.fault("stdout closed, process alive")
def test_a_server_whose_grandchild_holds_its_stdout_is_dead_all_the_same(faulty, events, gate, tmp_path):
    """No end of file comes as long as the grandchild lives: the end of the process has to be noticed by itself."""
    door = gate()
    config = faulty("reply-of-the-dead", "--gate", door, "--starts", tmp_path / "starts", restart="never")
    with Host([config], on_event=events) as host:
        with pytest.raises(ServerDied):
            host.call("haunt", {}, timeout=20)
        events.wait("failed", "faulty")
        door.open()


@pytest.mark.fault("dies again and again")
@pytest.mark.both_eras
def test_the_wait_grows_with_one_notice_at_three_and_one_on_recovery(faulty, events, tmp_path):
    clock, starts = FakeClock(), tmp_path / "starts"
    config = faulty("crash-loop", "--count", 4, "--starts", starts, "--text", "disk full")
    with Host([config], on_event=events, clock=clock) as host:
        with pytest.raises(ServerDied):
            host.call("die", {}, timeout=20)
        for failures, delay in ((1, 1), (2, 2), (3, 4), (4, 8)):
            events.wait("restarting", number=failures)
            status = host.status()["faulty"]
            assert (status.state, status.retry_in) == ("restarting", pytest.approx(delay))
            assert "disk full" in status.reason
            clock.advance(delay - 0.01)
            assert host.status()["faulty"].retry_in == pytest.approx(0.01)
            assert len(starts.read_text().splitlines()) == failures, "it started before its time"
            assert len(events.seen("notice")) == (1 if failures >= 3 else 0)
            clock.advance(0.02)
        events.wait("recovered", "faulty")
        host.wait_ready("faulty", timeout=10)
        assert host.call("echo", {"text": "alive"}, timeout=10).text == "alive"
        status = host.status()["faulty"]
        assert (status.state, status.restarts, status.retry_in, status.generation) == ("ready", 4, None, 5)
        assert not status.reason
    assert len(events.seen("notice")) == 1
    assert len(events.seen("recovered")) == 1


@pytest.mark.fault("dies again and again")
def test_a_server_that_comes_up_and_dies_soon_waits_longer_each_time_too(faulty, events):
    """A new process proves nothing, nor does a listing: only time does."""
    clock = FakeClock()
    with Host([faulty("good")], on_event=events, clock=clock) as host:
        for failures, delay in ((1, 1), (2, 2), (3, 4)):
            with pytest.raises(ServerDied):
                host.call("die", {}, timeout=20)
            events.wait("restarting", number=failures)
            assert host.status()["faulty"].retry_in == pytest.approx(delay)
            clock.advance(delay + 0.1)
            events.wait("ready", number=failures + 1)


@pytest.mark.fault("dies again and again")
@pytest.mark.parametrize(("uptime", "delay"), [(59, 2), (61, 1)])
def test_the_wait_starts_again_only_after_sustained_uptime(faulty, events, uptime, delay):
    clock = FakeClock()
    with Host([faulty("good")], on_event=events, clock=clock) as host:
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("restarting")
        clock.advance(1.1)
        events.wait("ready", number=2)
        clock.advance(uptime)
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("restarting", number=2)
        assert host.status()["faulty"].retry_in == pytest.approx(delay)


@pytest.mark.fault("restarted with other tools, or with none")
@pytest.mark.parametrize(
    ("lists", "added", "removed"),
    [
        ('[["a", "b"], ["b", "c"]]', {"c"}, {"a"}),
        ('[["a", "b"], []]', set(), {"a", "b"}),
        ('[[], ["x"]]', {"x"}, set()),
    ],
    ids=["others", "none", "from none"],
)
@pytest.mark.both_eras
def test_other_tools_after_a_restart_replace_the_old_ones_and_are_reported(
    faulty, events, tmp_path, lists, added, removed
):
    clock = FakeClock()
    with Host([faulty("good", "--tools", lists, "--starts", tmp_path / "s")], on_event=events, clock=clock) as host:
        before = set(host.tools())
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("restarting")
        assert set(host.tools()) == before, "the tools stay listed while the server restarts"
        clock.advance(1.1)
        events.wait("ready", number=2)
        assert set(host.tools()) == (before | added) - removed
        event = events.wait("tools_changed")
        assert set(event.data["added"]) == added
        assert set(event.data["removed"]) == removed
        if added:
            assert host.call(min(added), {"text": "new"}, timeout=10).text == "new"


@pytest.mark.fault("restarted with other tools, or with none")
@pytest.mark.both_eras
def test_a_restarted_server_is_ready_only_when_its_tools_are_listed(faulty, events, gate, tmp_path):
    clock, door = FakeClock(), gate()
    config = faulty("slow-restart", "--gate", door, "--starts", tmp_path / "starts")
    with Host([config], on_event=events, clock=clock) as host:
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("restarting")
        clock.advance(1.1)
        listing = door.arrive()
        assert host.status()["faulty"].state != "ready"
        with pytest.raises(ServerDied):
            host.call("echo", {"text": "x"}, timeout=5)
        listing.close()
        events.wait("ready", number=2)
        assert host.call("echo", {"text": "x"}, timeout=10).text == "x"


@pytest.mark.fault("call while restarting")
@pytest.mark.both_eras
def test_a_call_while_restarting_says_so_and_when_and_is_never_replayed(faulty, facts, events):
    clock = FakeClock()
    with Host([faulty("good")], on_event=events, clock=clock) as host:
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("restarting")
        clock.advance(0.25)
        with pytest.raises(ServerDied) as caught:
            host.call("echo", {"text": "lost"}, timeout=5)
        assert caught.value.retry_in == pytest.approx(0.75)
        assert "SIGKILL" in caught.value.reason
        clock.advance(1)
        events.wait("ready", number=2)
        received = facts(host)["received"]
    assert [m["params"]["name"] for m in received if m.get("method") == "tools/call"] == ["report"]


@pytest.mark.fault("call while restarting")
def test_a_person_can_restart_at_once_and_the_names_that_changed_come_back(faulty, events, tmp_path):
    config = faulty("good", "--tools", '[["a"], ["b"]]', "--starts", tmp_path / "starts")
    with Host([config], on_event=events, clock=FakeClock()) as host:
        first = host.status()["faulty"]
        assert set(host.restart("faulty")) == {"a", "b"}
        second = host.status()["faulty"]
        assert second.state == "ready"
        assert second.pid != first.pid
        assert second.generation > first.generation
        assert host.call("b", {"text": "new"}, timeout=10).text == "new"


@pytest.mark.slow
@pytest.mark.fault("reply of the old process after a restart")
@pytest.mark.both_eras
def test_what_the_old_process_says_after_a_restart_is_dropped(faulty, events, gate, tmp_path):
    """A grandchild out of reach holds the old pipe and answers every id from 0 to 99 while a new call waits."""
    clock, door = FakeClock(), gate()
    config = faulty("reply-of-the-dead", "--gate", door, "--starts", tmp_path / "starts")
    with Host([config], on_event=events, clock=clock) as host, ThreadPoolExecutor(1) as pool:
        with pytest.raises(ServerDied):
            host.call("haunt", {}, timeout=20)
        events.wait("restarting")
        clock.advance(1.1)
        events.wait("ready", number=2)
        waiting = pool.submit(host.call, "never", {}, timeout=1.5)
        door.open()
        with contextlib.suppress(HarnessError):
            assert waiting.result().text != "from the grave"
        assert host.call("haunt", {}, timeout=10).text == "alive"
        assert host.status()["faulty"].state == "ready"


@pytest.mark.fault("close during backoff")
@pytest.mark.both_eras
def test_nothing_is_started_after_close(faulty, events, tmp_path):
    clock, starts = FakeClock(), tmp_path / "starts"
    with Host([faulty("good", "--starts", starts)], on_event=events, clock=clock) as host:
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("restarting")
    clock.advance(100)
    assert len(starts.read_text().splitlines()) == 1


def is_closed(host):
    """True as soon as the host takes no more orders."""
    try:
        host.wait_ready("faulty", timeout=0)
    except HostClosed:
        return True
    except ServerError:
        return False


@pytest.mark.slow
@pytest.mark.fault("close during backoff")
def test_a_process_that_is_being_started_while_the_host_closes_is_ended_too(faulty, events, until):
    """`spawn` is held until the host is closed, so the process comes to life after that."""
    clock, starts = FakeClock(), iter(range(10))
    entered, release = threading.Event(), threading.Event()

    def held_spawn(*args, **kwargs):
        if next(starts) > 0:
            entered.set()
            assert release.wait(20)
        return subprocess.Popen(*args, **kwargs)

    with Host([faulty("ignores-eof")], on_event=events, clock=clock, spawn=held_spawn) as host:
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("restarting")
        clock.advance(1.1)
        assert entered.wait(10)
        closer = threading.Thread(target=host.close)
        closer.start()
        until(lambda: is_closed(host))
        release.set()
        closer.join()


@pytest.mark.slow
@pytest.mark.fault("close during backoff")
@pytest.mark.both_eras
def test_close_during_a_restart_that_is_under_way_leaves_nothing(faulty, events, gate, tmp_path):
    clock, door = FakeClock(), gate()
    config = faulty("slow-restart", "--gate", door, "--starts", tmp_path / "starts")
    with Host([config], on_event=events, clock=clock) as host:
        os.kill(host.status()["faulty"].pid, signal.SIGKILL)
        events.wait("restarting")
        clock.advance(1.1)
        held = door.arrive()
    held.close()
    assert len((tmp_path / "starts").read_text().splitlines()) == 2
