"""When to start a dead server again: pure arithmetic, no clock, no threads, no processes.

Any exit that nobody asked for is a failure, exit code 0 too. Failures are counted in a row;
a new process proves nothing, only sustained uptime ends the row. One notice goes out at the
third failure in a row and one when the server then works again, so that a server which dies
all night does not fill the screen.

What it leaves out: starting anything. The host waits and spawns.
"""

from dataclasses import dataclass

FIRST_DELAY = 1.0  # seconds: long enough for a port or a lock to be free again
MAX_DELAY = 30.0  # seconds: a person who mended the server does not wait longer than this
SUSTAINED_UPTIME = 60.0  # seconds: a server that lived this long has left its old trouble behind
NOTICE_AT = 3  # failures in a row: one is an accident, three are a pattern


@dataclass(frozen=True)
class Verdict:
    """What follows from a failure: wait `delay` seconds, and perhaps tell somebody."""

    delay: float
    failures: int  # in a row, this one included
    notice: bool


class Backoff:
    """The row of failures of one server."""

    def __init__(self) -> None:
        self._failures = 0
        self._noticed = False

    def failed(self, uptime: float) -> Verdict:
        """Count a failure after `uptime` seconds of being ready (0 if it never was ready)."""
        if uptime >= SUSTAINED_UPTIME:
            self.reset()
        self._failures += 1
        notice = self._failures == NOTICE_AT
        self._noticed = self._noticed or notice
        return Verdict(delay_after(self._failures), self._failures, notice)

    def recovered(self) -> bool:
        """The server is ready again: is this worth telling? Once, and only if there was a notice."""
        tell, self._noticed = self._noticed, False
        return tell

    def reset(self) -> None:
        """Forget the row: after sustained uptime, or when a person restarts the server."""
        self._failures, self._noticed = 0, False


def delay_after(failures: int) -> float:
    """Seconds to wait after that many failures in a row: 1, 2, 4, 8, 16, then 30."""
    doublings = min(failures - 1, 10)  # past the maximum anyway; keeps the number small
    return min(FIRST_DELAY * 2.0**doublings, MAX_DELAY)
