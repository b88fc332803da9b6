"""Time as an argument, so that tests move it instead of sleeping.

The host reads uptime and restart delays from a Clock. Deadlines of requests are not here:
they belong to real pipes and always run on `time.monotonic`.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol

CALLABLE_POLL = 0.02  # seconds between two looks at a clock that is only a function and cannot wake us


class Clock(Protocol):
    """What the host asks of a clock: the time, and to wait until a time."""

    def now(self) -> float:
        """Seconds from a fixed point in the past; never goes backwards."""
        ...

    def wait_until(self, condition: threading.Condition, when: float | None) -> None:
        """With `condition` held: return when it is notified, or at `when` (None: only when notified)."""
        ...


class SystemClock:
    """The monotonic clock of the machine."""

    def now(self) -> float:
        return time.monotonic()

    def wait_until(self, condition: threading.Condition, when: float | None) -> None:
        condition.wait(None if when is None else max(0.0, when - time.monotonic()))


class FakeClock:
    """A clock that stands still until a test moves it with `advance`."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._lock = threading.Lock()
        self._waiting: list[threading.Condition] = []

    def now(self) -> float:
        return self._now

    def wait_until(self, condition: threading.Condition, when: float | None) -> None:
        with self._lock:
            if when is not None and self._now >= when:
                return
            self._waiting.append(condition)
        condition.wait()
        with self._lock:
            self._waiting.remove(condition)

    def advance(self, seconds: float) -> None:
        """Move the time forward and wake everyone who waits for it."""
        with self._lock:
            self._now += seconds
            waiting = list(self._waiting)
        for condition in waiting:
            with condition:
                condition.notify_all()


class FunctionClock:
    """A clock round a plain function such as `time.monotonic`; it has to be asked again and again."""

    def __init__(self, function: Callable[[], float]) -> None:
        self._function = function

    def now(self) -> float:
        return self._function()

    def wait_until(self, condition: threading.Condition, when: float | None) -> None:
        if when is None or self.now() < when:
            condition.wait(CALLABLE_POLL)


def as_clock(clock: "Clock | Callable[[], float]") -> Clock:
    """`clock` itself, or a Clock round a function that returns seconds."""
    return FunctionClock(clock) if callable(clock) else clock
