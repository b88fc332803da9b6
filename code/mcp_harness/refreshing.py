"""When to list a server's tools again: pure arithmetic, no threads, no messages.

Guarantees: of a burst of announcements one listing runs and at most one more follows. A listing
that grew old is made again only where no change would be announced, and not more often than
POLL_FLOOR, however short the server's `ttlMs`.

What it leaves out: listing. The member does it, and guards these values with its lock.

Source: revision 2026-07-28, caching: fresh for `ttlMs` from its arrival, which is no interval to
poll at; and subscriptions: after the end of a stream, listen and list again.
"""

POLL_FLOOR = 60.0  # seconds between two listings that nothing but age asked for


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
        self._ttl = self._next = 0.0

    def listed(self, now: float, ttl: float) -> None:
        """A listing was asked for at `now` and says that it is fresh for `ttl`."""
        self._ttl, self._next = ttl, now + max(ttl, POLL_FLOOR)

    def polled(self, now: float) -> None:
        """A new listing is under way; if it fails, the next try is a floor away."""
        self._next = now + POLL_FLOOR

    def stale_at(self, announces: bool, heard: bool) -> float | None:
        """When to list again; None where the server announces its changes and is heard, or gives no reason to ask.

        `announces`: it has said that its tools change. `heard`: a change would reach us.
        """
        if heard or not (announces or self._ttl > 0):
            return None
        return self._next
