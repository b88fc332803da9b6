"""Start and stop 200 times, good servers and failing ones, of both revisions: nothing is left of them."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp_harness import HarnessError, Host, ServerConfig

KINDS = [("good",), ("exits-at-once",), ("refuses-initialize",), ("banners",), ("odd-tools", "--text", "7")]


ERAS = ("2025-11-25", "2026-07-28")


def start_and_stop(faulty, number):
    """Five servers in one host, of every kind, and one call to a good one that is not always there.

    Every other server speaks the newer revision; every third time the client has to find out.
    """
    configs = []
    for index, mode in enumerate(KINDS):
        era = ERAS[(number + index) % 2]
        told = "auto" if number % 3 == 0 else era
        configs.append(faulty(*mode, name=f"{mode[0]}-{index}", start_timeout=20, era=era, client_era=told))
    configs = [*configs[number % 5 :], *configs[: number % 5], ServerConfig("missing", "no-such-command-anywhere")]
    with Host(configs, wait=number % 7 != 0) as host:
        if number % 7 != 0:
            assert host.call("echo", {"text": "x"}, timeout=15).text == "x"
        if number % 3 == 0:
            with contextlib.suppress(HarnessError):
                host.call("die", {}, timeout=15)


@pytest.mark.slow
@pytest.mark.fault("start and stop 200 times")
def test_two_hundred_servers_started_and_stopped_leave_nothing(faulty, leaks):
    start_and_stop(faulty, 1)  # what is loaded once is loaded now
    before = leaks()
    for number in range(34):  # six servers each: more than 200
        start_and_stop(faulty, number)
    assert before.since() == []


@pytest.mark.slow
@pytest.mark.fault("start and stop 200 times")
@pytest.mark.both_eras
def test_one_server_restarted_many_times_leaves_nothing(faulty, leaks):
    with Host([faulty("good")]) as host:
        host.restart("faulty")
        before = leaks()
        pids = {host.status()["faulty"].pid}
        for _ in range(20):
            host.restart("faulty")
            pids.add(host.status()["faulty"].pid)
        assert len(pids) == 21
        assert len(before.since()) <= 2  # the child that runs now, and its reader


@pytest.mark.slow
@pytest.mark.fault("start and stop 200 times")
def test_hosts_in_many_threads_leave_nothing_and_share_no_descriptor(faulty, leaks):
    """A pipe of one server that another one inherits would keep the first from its end of file."""
    before = leaks()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: start_and_stop(faulty, number), range(16)))
    assert before.since() == []
