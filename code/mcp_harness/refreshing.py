"""When to list a server's tools again: pure arithmetic, no threads, no messages.

Guarantees: of a burst of announcements one listing runs and at most one more follows. A listing
that grew old is made again: after its `ttlMs`, or where changes are announced but would not
reach us. Not more often than POLL_FLOOR, however short the `ttlMs`. Where they would reach us,
a listing at times all the same finds what the server forgot to announce.

What it leaves out: listing. The member does it, and guards these values with its lock.

Source: revision 2026-07-28, caching: fresh for `ttlMs` from its arrival, which is no interval to
poll at; and subscriptions: after the end of a stream, listen and list again.
"""

POLL_FLOOR = 60.0  # seconds between two listings that nothing but age asked for
BACKSTOP = 600.0  # seconds, where a stream stands open and the server gave no `ttlMs`: it may forget to announce


class Coalescing:
    """Many wishes, one job at a time."""

    def __init__(self) -> None:
        self._runs = self._again = False

    def wish(self) -> bool:
        """True if the caller has to start the job; False if the one that runs will be run again."""
        self._again = self._runs
        self._runs = True
        return not self._again

    def more(self) -> bool:
        """After the job: True if it has to be done once more; else it has ended."""
        self._runs, self._again = self._again, False
        return self._runs

    def stop(self) -> None:
        """The job could not be started, or is not wanted any more."""
        self._runs = self._again = False


class Freshness:
    """How long the last listing may be kept. Times are in seconds of the host's clock."""

    def __init__(self) -> None:
        self._ttl = self._asked = 0.0

    def listed(self, now: float, ttl: float) -> None:
        """A listing was asked for at `now` and says that it is fresh for `ttl`."""
        self._ttl, self._asked = ttl, now

    def polled(self, now: float) -> None:
        """A new listing is under way; if it fails, the next try is a floor away."""
        self._ttl, self._asked = min(self._ttl, POLL_FLOOR), now

    def stale_at(self, announces: bool, heard: bool) -> float | None:
        """When to list again; None where the server gives no reason to ask.

        `announces`: it has said that its tools change. `heard`: a change would reach us.
        """
        if self._ttl > 0:
            return self._asked + max(self._ttl, POLL_FLOOR)
        return self._asked + (BACKSTOP if heard else POLL_FLOOR) if announces else None
