"""When to start again: arithmetic without a clock."""

import pytest
from mcp_harness.restart import SUSTAINED_UPTIME, Backoff, delay_after


def test_delays_double_from_one_second_up_to_thirty():
    assert [delay_after(failures) for failures in range(1, 9)] == [1, 2, 4, 8, 16, 30, 30, 30]


def test_a_thousand_failures_are_still_thirty_seconds():
    assert delay_after(100_000) == 30


def test_failures_are_counted_in_a_row():
    backoff = Backoff()
    assert [backoff.failed(0).failures for _ in range(4)] == [1, 2, 3, 4]


def test_one_notice_at_the_third_failure_and_no_more():
    backoff = Backoff()
    assert [backoff.failed(0).notice for _ in range(10)] == [False, False, True] + 7 * [False]


def test_being_ready_for_a_while_does_not_end_the_row():
    backoff = Backoff()
    assert [backoff.failed(SUSTAINED_UPTIME - 1).delay for _ in range(3)] == [1, 2, 4]


def test_sustained_uptime_ends_the_row():
    backoff = Backoff()
    for _ in range(5):
        backoff.failed(0)
    assert backoff.failed(SUSTAINED_UPTIME).delay == 1
    assert backoff.failed(0).delay == 2


def test_recovery_is_told_once_and_only_after_a_notice():
    backoff = Backoff()
    backoff.failed(0)
    assert not backoff.recovered()
    backoff.failed(0)
    backoff.failed(0)
    assert [backoff.recovered(), backoff.recovered()] == [True, False]
    backoff.failed(0)
    assert not backoff.recovered()


@pytest.mark.parametrize("ends", ["uptime", "reset"])
def test_a_new_row_gets_a_notice_and_a_recovery_of_its_own(ends):
    backoff = Backoff()
    for _ in range(3):
        backoff.failed(0)
    backoff.recovered()
    if ends == "reset":
        backoff.reset()
    uptimes = [SUSTAINED_UPTIME if ends == "uptime" else 0, 0, 0]
    assert [backoff.failed(uptime).notice for uptime in uptimes] == [False, False, True]
    assert backoff.recovered()
