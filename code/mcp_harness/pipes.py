"""Writing frames to a pipe that may be full, whose reader may be gone, from many threads.

Guarantees: a frame is written whole and never between the halves of another. `write` waits
for room until its deadline and no longer; a frame that was begun and could not be finished
stays in the queue, so the stream stays intact for the next one. `post` never waits: the
reader thread answers pings with it, and must not stop because a server does not read. The
lock is held for moments only, and by `with`: a Ctrl-C cannot leave it locked.

What it leaves out: what a frame means. The pipe has to be non-blocking.
"""

import contextlib
import os
import select
import threading
import time
from collections import deque
from typing import IO

MAX_POSTED = 1000  # frames: a server that sends that many pings and reads no answer has lost interest in them
SLICE = 0.05  # seconds between two looks at `closed` while the pipe is full


class WriteTimeout(Exception):
    """The deadline passed. `begun` says whether a part of the frame went out, the rest of which will follow."""

    def __init__(self, begun: bool) -> None:
        self.begun = begun
        super().__init__()


class Frame:
    """The bytes of one message, and how many of them are out."""

    __slots__ = ("_data", "_written")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._written: list[int] = []  # by each write

    @property
    def begun(self) -> bool:
        """Some of it is out, so the rest has to follow."""
        return bool(self._written)

    @property
    def finished(self) -> bool:
        """All of it is out."""
        return sum(self._written) == len(self._data)

    def write(self, fd: int) -> bool:
        """Write as much as there is room for; True if all is out. Raises OSError when nobody reads any more.

        To Python a write is a single step: a Ctrl-C cannot come between it and the note of its bytes.
        """
        rest = memoryview(self._data)[sum(self._written) :] if self._written else self._data
        try:
            self._written.extend(map(os.write, (fd,), (rest,)))
        except BlockingIOError:
            return False
        return self.finished


class FrameWriter:
    """The writing end of one pipe. Raises OSError from `write` when the other end is closed."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream  # unbuffered; kept because it closes its descriptor when it is forgotten
        self.fd = stream.fileno()
        self._lock = threading.Lock()
        self._queue: deque[Frame] = deque()
        self.closed = self._broken = False  # by us; by the other end

    @property
    def waiting(self) -> bool:
        """True when something lies in the queue until the pipe has room."""
        return bool(self._queue) and not self.closed

    def write(self, data: bytes, deadline: float) -> None:
        """Write one frame before `deadline` (of time.monotonic). Raises WriteTimeout or OSError."""
        frame = Frame(data)
        try:
            self._queue.append(frame)
            while True:
                with self._lock:
                    if self._push() or frame.finished:
                        return
                if not self._wait_for_room(deadline):
                    raise WriteTimeout(frame.begun)
        except BaseException:  # Ctrl-C too
            if not frame.begun:  # its caller gives up, so it shall not go out later
                with self._lock, contextlib.suppress(ValueError):
                    self._queue.remove(frame)
            raise

    def post(self, data: bytes) -> bool:
        """Write a small frame now or as soon as there is room; False when the queue is full or the pipe closed."""
        if self.closed or len(self._queue) >= MAX_POSTED:
            return False
        self._queue.append(Frame(data))
        self.flush()
        return True

    def flush(self) -> None:
        """Write what the queue holds, as far as the pipe takes it now."""
        with self._lock, contextlib.suppress(OSError):
            self._push()

    def close(self) -> None:
        """Close the pipe: the server reads end of file. Writers that wait for room give up."""
        self.closed = True
        with self._lock:
            self.fd = -1
            self._stream.close()
            self._queue.clear()

    def _push(self) -> bool:
        """Write the queue, frame by frame, as far as there is room; True if nothing is left in it."""
        if self.closed or self._broken:
            raise BrokenPipeError(f"the pipe is closed {'on our side' if self.closed else 'at its other end'}")
        try:
            while self._queue:
                if not self._queue[0].write(self.fd):
                    return False
                self._queue.popleft()
        except OSError:
            self._broken = True
            self._queue.clear()
            raise
        return True

    def _wait_for_room(self, deadline: float) -> bool:
        """Wait without the lock, so that nobody else has to. False at the deadline."""
        poller, fd = select.poll(), self.fd
        if fd >= 0:
            poller.register(fd, select.POLLOUT)
        while not self.closed:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if poller.poll(min(left, SLICE) * 1000):
                return True  # room, or an error that the next write reports
        raise BrokenPipeError("the pipe is closed on our side")
