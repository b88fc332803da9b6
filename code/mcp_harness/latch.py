"""A flag to wait for that no Ctrl-C can break, and why the package has one of its own.

Python runs the handler of a signal between two steps of the main thread, wherever that is. So
a KeyboardInterrupt can come out of the middle of `threading.Event.wait` or `Condition.__enter__`,
which are written in Python and then leave their inner lock locked: whoever needs it next waits
for ever. Hence two rules here. What the main thread may wait for is a Latch, a plain lock with a
timeout, or a SimpleQueue. And a lock is taken by `with` on the lock itself, never on a Condition
around it, and never by `acquire` and a `try` behind it: between those two is a gap.

What it leaves out: being reset; a latch is set once. And Python's own `Thread.start`, which waits for an
Event: a Ctrl-C in there can leave a thread that never begins. It holds nothing of ours.
"""

import contextlib
import threading


class Latch:
    """Set once, waited for by any number of threads."""

    def __init__(self) -> None:
        self._set = False
        self._waiting: list[threading.Lock] = []  # one for each who waits, so that none depends on another

    def is_set(self) -> bool:
        """True from the moment it is set."""
        return self._set

    def set(self) -> None:
        """Let go who waits, now and from now on."""
        self._set = True
        with contextlib.suppress(IndexError):
            while True:
                self._waiting.pop().release()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is set, for that many seconds at most if they are given. True if it is set."""
        mine = threading.Lock()
        mine.acquire()
        self._waiting.append(mine)
        if not self._set:  # asked behind the line above: from there on `set` finds us
            mine.acquire(timeout=-1 if seconds is None else max(0.0, seconds))
        with contextlib.suppress(ValueError):
            self._waiting.remove(mine)
        return self._set


def start(thread: threading.Thread) -> bool:
    """Start a thread; False if the system gives none. A Ctrl-C in the middle of it comes out as what it is."""
    try:
        thread.start()
    except RuntimeError as error:
        if error.__context__ is not None:  # Python's own Condition, left between two of its steps, complains too
            raise error.__context__ from None
        return False
    return True


def join(thread: threading.Thread, seconds: float) -> None:
    """Wait for the end of a thread. One that a Ctrl-C has kept from being started is not waited for."""
    with contextlib.suppress(RuntimeError):
        thread.join(max(0.0, seconds))
