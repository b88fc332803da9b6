"""The requests that wait for a reply: id → a slot that is filled once.

Guarantees: every slot is filled exactly once, by its reply, or by the end of the session; a
request added after the end fails at once. Nothing stays in the map when its caller has gone.

What it leaves out: timers. The waiting thread brings its own deadline.
"""

import itertools
import threading
from collections.abc import Callable

from .wire import Message

Failure = Callable[[], Exception]


class Slot:
    """Where one caller waits. A bare lock is the cheapest thing in Python that wakes one thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._body: Message | None = None
        self._failure: Failure | None = None

    def fill(self, body: Message) -> None:
        """Give the caller its reply."""
        self._body = body
        self._lock.release()

    def fail(self, failure: Failure) -> None:
        """Let the caller raise `failure()`; each caller gets an exception of its own."""
        self._failure = failure
        self._lock.release()

    def wait(self, seconds: float) -> Message | None:
        """The reply, or None after that many seconds. Raises what the slot failed with."""
        if not self._lock.acquire(timeout=max(0.0, seconds)):
            return None
        if self._failure is not None:
            raise self._failure()
        return self._body


class Pending:
    """All slots of one session."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids = itertools.count(1)  # never used again within a session
        self._last = 0
        self._slots: dict[int, Slot] = {}
        self._ended: Failure | None = None

    def __len__(self) -> int:
        return len(self._slots)

    def add(self) -> tuple[int, Slot]:
        """A new id and its slot. Raises what the session ended with."""
        slot = Slot()
        with self._lock:
            if self._ended is not None:
                raise self._ended()
            id = self._last = next(self._ids)
            self._slots[id] = slot
        return id, slot

    def take(self, id: int) -> Slot | None:
        """Remove and return the slot, None if nobody waits for that id."""
        with self._lock:
            return self._slots.pop(id, None)

    def issued(self, id: int) -> bool:
        """True if this id was once given out: its reply is late, not unknown."""
        return 0 < id <= self._last

    def end(self, failure: Failure) -> None:
        """Fail every slot, and every request to come. Only the first end counts."""
        with self._lock:
            if self._ended is not None:
                return
            self._ended = failure
            slots = list(self._slots.values())
            self._slots.clear()
        for slot in slots:
            slot.fail(failure)
