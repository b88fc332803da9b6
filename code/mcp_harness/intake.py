"""The reading end of a server's stdout: from bytes to lines, and who does the reading.

Most of the time the reader thread does: it sleeps at the pipe, and a caller sleeps in its slot.
A call then wakes two threads, and where the cores are idle each wake takes longer than all the
work of the call (outputs/bench has the figures). So there is a short way for calls that come one after
the other and are answered at once: the reader thread steps aside, and the caller waits at the
pipe itself, awake, for at most AWAKE. Whoever stays awake keeps Python's own lock for himself, so
every FAIR a caller sleeps at the pipe, and the other threads of the program get their turn.

Guarantees: lines go to `on_line` one by one and in order, or, on the short way, to the caller
whose reply it is. What a caller finds and is not its own stays for the reader thread. A Ctrl-C
loses nothing of another caller's, wherever it strikes.

What it leaves out: when the reader thread reads (transport.py). The pipe has to be non-blocking.
"""

import contextlib
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable

from . import wire
from .wire import Line, LineBuffer, Message

CHUNK = 64 * 1024  # bytes: what a pipe holds. A larger buffer is mapped afresh by malloc for each read: 20 µs a call
AWAKE = 0.0005  # seconds that a caller waits awake: enough for a tool that only looks something up
FAIR = 0.002  # seconds without a sleep at the pipe: about so long other threads may have to wait (a busy thread: 0.005)
ASIDE = 0.005  # seconds that the reader thread stays aside for the next caller: so late it may hear other news


class Intake:
    """One pipe to read from, by turns."""

    def __init__(self, fd: int, on_line: Callable[[Line], None]) -> None:
        self._fd, self._on_line = fd, on_line
        self._lines = LineBuffer()
        self._chunks: deque[bytes] = deque()  # read and not yet dealt with; an empty one is the end of the stream
        self._turn = threading.Lock()  # held by whoever reads and deals with chunks
        self._visitor = 0  # the id for which a caller waits at the pipe; one at a time
        self._visits = 0
        self._slept = 0.0  # when a caller last slept there
        self._aside = False  # the reader thread is not at the pipe
        self._recall = threading.Lock()  # released to call it back
        self._recall.acquire()
        self._poller = select.poll()
        self._poller.register(fd, select.POLLIN)
        self.brisk = False  # the last call waited alone and was answered at once

    # --- the reader thread -------------------------------------------------------------------

    def read(self) -> bool:
        """Read what is there now, and deliver its lines; False at the end of the stream."""
        with self._turn:
            self._fetch()
            while self._chunks:
                data = self._chunks.popleft()
                if not data:
                    return False
                for line in self._lines.feed(data):
                    self._on_line(line)
        return True

    def step_aside(self) -> bool:
        """Leave the pipe to callers for a moment; False if one is there by then. Else something may be left to read."""
        visits = self._visits
        self._recall.acquire(blocking=False)  # an old call
        self._aside = True
        called = self._recall.acquire(timeout=ASIDE)
        with self._turn:
            if self._visitor and not called:
                return False
            self._aside = False  # from here on no caller reads
        if called or visits == self._visits:
            self.brisk = False
        return True

    @property
    def lent(self) -> bool:
        """True while callers read, so that the reader thread must not."""
        return self._aside

    @property
    def wanted(self) -> bool:
        """True while callers want to read, or still do: the reader thread has to step aside, again and again."""
        return self.brisk or self._aside

    # --- callers -----------------------------------------------------------------------------

    def visit(self, id: int, deadline: float) -> Message | None:
        """Wait at the pipe for the reply to a request; None: sleep, the reader thread will bring it."""
        if not self._aside:
            return None
        try:
            with self._turn:
                if self._visitor:
                    return None
                self._visitor = id
            self._visits += 1
            if not self._arrived(deadline):
                return None
            with self._turn:
                return self._take(id) if self._aside else None
        finally:
            if self._visitor == id:
                self._visitor = 0

    def _arrived(self, deadline: float) -> bool:
        """Wait for something to read: awake, or asleep if nobody has slept here for a while."""
        now = time.monotonic()
        if now - self._slept > FAIR:
            self._slept = now
            return bool(self._poller.poll(max(0.0, min(AWAKE, deadline - now)) * 1000))
        until = min(now + AWAKE, deadline)
        while not self._poller.poll(0):
            if not self._aside or time.monotonic() >= until:
                return False
        return True

    def judge(self, alone: bool, seconds: float) -> None:
        """A call has ended: if it waited alone and not for long, the next one may look for itself."""
        self.brisk = alone and seconds < AWAKE

    def call_back(self) -> None:
        """The reader thread has to be at the pipe: somebody sleeps until it has read."""
        if self._aside:
            with contextlib.suppress(RuntimeError):  # it is called already
                self._recall.release()

    def _take(self, id: int) -> Message | None:
        """The reply, if it is all that is there. It is taken away last, so a Ctrl-C leaves it there."""
        self._fetch()
        data = self._chunks[0] if self._chunks else b""
        if len(self._chunks) != 1 or self._lines.partial or data.find(b"\n") != len(data) - 1:
            return None
        reply = wire.reply_to(data, id)
        if reply is not None:
            self._chunks.popleft()
        return reply

    def _fetch(self) -> None:
        """Read once. To Python this is a single step: a Ctrl-C cannot come between the pipe and the queue."""
        try:
            self._chunks.extend(map(os.read, (self._fd,), (CHUNK,)))
        except BlockingIOError:
            return  # somebody else has just read it
