"""The requests that wait for a reply: id → a waiter that is filled once.

Guarantees: every waiter is filled exactly once, by its reply, or by the end of the session; a
request added after the end fails at once. Nothing stays in the map when its caller has gone.
An id is never given out twice, so none equals one that is still unanswered.

What it leaves out: timers. The waiting thread brings its own deadline; a request that stands
open as long as its process (`subscriptions/listen`) brings none and is never timed out.
"""

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from .wire import Message

Failure = Callable[[], Exception]


class Waiter(Protocol):
    """Who gets the reply. Filled or failed once, on the reader thread: must not wait."""

    standing: bool  # True: nobody waits for the reply, it comes when the server ends the request

    def fill(self, body: Message) -> None: ...

    def fail(self, failure: Failure) -> None: ...


class Slot:
    """Where one caller waits. A bare lock is the cheapest thing in Python that wakes one thread."""

    __slots__ = ("_body", "_failure", "_lock")
    standing = False

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


class Mailbox:
    """Where one caller waits for whichever of several replies comes first."""

    def __init__(self) -> None:
        self.standing = False
        self._queue: queue.SimpleQueue[Message | Failure] = queue.SimpleQueue()

    def fill(self, body: Message) -> None:
        """Give the caller one more reply."""
        self._queue.put(body)

    def fail(self, failure: Failure) -> None:
        """Let the caller raise `failure()`."""
        self._queue.put(failure)

    def wait(self, seconds: float) -> Message | None:
        """The next reply, or None after that many seconds. Raises what a request failed with."""
        try:
            item = self._queue.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None
        if isinstance(item, dict):
            return item
        raise item()


class Pending:
    """All waiters of one session."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._slots: dict[int, Waiter] = {}
        self._watchers: set[Waiter] = set()
        self._ended: Failure | None = None

    def __len__(self) -> int:
        """How many wait; a request that stands open is not waited for."""
        with self._lock:
            return sum(not waiter.standing for waiter in self._slots.values())

    @property
    def alone(self) -> bool:
        """True if exactly one waits."""
        return len(self._slots) == 1 or len(self) == 1

    def new_id(self) -> int:
        """An id that was never given out. Apart from `add`, so that a caller can take the entry back in any case."""
        with self._lock:
            self._last += 1  # never used again within a session
            return self._last

    def add(self, id: int, waiter: Waiter) -> None:
        """Let this waiter wait for the reply with that id. Raises what the session ended with."""
        with self._lock:
            if self._ended is not None:
                raise self._ended()
            self._slots[id] = waiter

    def take(self, id: int) -> Waiter | None:
        """Remove and return the waiter, None if nobody waits for that id."""
        with self._lock:
            return self._slots.pop(id, None)

    def issued(self, id: int) -> bool:
        """True if this id was once given out: its reply is late, not unknown."""
        return 0 < id <= self._last

    @contextlib.contextmanager
    def watched(self, waiter: Waiter) -> Iterator[None]:
        """Inside the block the end of the session fails this waiter too, although it has no request."""
        with self._lock:
            if self._ended is not None:
                raise self._ended()
            self._watchers.add(waiter)
        try:
            yield
        finally:
            with self._lock:
                self._watchers.discard(waiter)

    def end(self, failure: Failure) -> None:
        """Fail every waiter, and every request to come. Only the first end counts."""
        with self._lock:
            if self._ended is not None:
                return
            self._ended = failure
            slots = [*self._slots.values(), *self._watchers]
            self._slots.clear()
        for slot in slots:
            slot.fail(failure)
