"""When to list again: one job for many wishes, and age where nothing is announced."""

import pytest
from mcp_harness.refreshing import BACKSTOP, POLL_FLOOR, Coalescing, Freshness


def test_of_many_wishes_one_runs_and_one_more_follows():
    refreshes = Coalescing()
    assert [refreshes.wish() for _ in range(500)] == [True] + [False] * 499
    assert refreshes.more()
    assert not refreshes.more()
    assert refreshes.wish()
    assert not refreshes.more()


def test_a_job_that_could_not_be_started_may_be_wished_for_again():
    refreshes = Coalescing()
    assert refreshes.wish()
    refreshes.stop()
    assert refreshes.wish()


STALE = [(0, False, False, None), (0, True, False, 100 + POLL_FLOOR), (0, True, True, 100 + BACKSTOP)]
STALE += [
    (1, False, False, 100 + POLL_FLOOR),
    (300, False, False, 400),
    (300, True, False, 400),
    (300, True, True, 400),
]


@pytest.mark.parametrize(("ttl", "announces", "heard", "at"), STALE)
def test_a_listing_is_made_again_by_its_age_and_by_what_is_heard(ttl, announces, heard, at):
    freshness = Freshness()
    freshness.listed(100, ttl)
    assert freshness.stale_at(announces, heard) == at


def test_a_listing_that_failed_is_tried_again_after_the_floor():
    freshness = Freshness()
    freshness.listed(0, 1000)
    freshness.polled(1000)
    assert freshness.stale_at(True, False) == 1000 + POLL_FLOOR
