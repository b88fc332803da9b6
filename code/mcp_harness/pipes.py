"""Writing frames to a pipe that may be full, whose reader may be gone, from many threads.

Guarantees: a frame is written whole and never between the halves of another. `write` waits
for room until its deadline and no longer; a frame that was begun and could not be finished
stays in the queue, so the stream stays intact for the next one. `post` never waits: the
reader thread answers pings with it, and must not stop because a server does not read. The
lock is held for moments only, and by `with`: a Ctrl-C cannot leave it locked.

What it leaves out: what a frame means. The pipe has to be non-blocking.
"""

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


class FrameWriter:
    """The writing end of one pipe. Raises OSError from `write` when the other end is closed."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream  # unbuffered; kept because it closes its descriptor when it is forgotten
        self.fd = stream.fileno()
        self._lock = threading.Lock()
        self._queue: deque[bytes | memoryview] = deque()  # rest of a frame, and posted frames
        self.closed = self._broken = False  # by us; by the other end

    @property
    def waiting(self) -> bool:
        """True when something lies in the queue until the pipe has room."""
        return bool(self._queue) and not self.closed

    def write(self, frame: bytes, deadline: float) -> None:
        """Write one frame before `deadline` (of time.monotonic). Raises WriteTimeout or OSError."""
        begun = False
        while True:
            with self._lock:
                if self._broken:
                    raise BrokenPipeError("the other end of the pipe is closed")
                if self._push():  # nothing is before us, nor is a rest of ours
                    if begun:
                        return
                    sent = self._write_some(frame)
                    if sent == len(frame):
                        return
                    if sent:
                        begun = True
                        self._queue.appendleft(memoryview(frame)[sent:])  # before what was posted meanwhile
            if not self._wait_for_room(deadline):
                raise WriteTimeout(begun)

    def post(self, frame: bytes) -> bool:
        """Write a small frame now or as soon as there is room; False when the queue is full or the pipe closed."""
        if self.closed or len(self._queue) >= MAX_POSTED:
            return False
        self._queue.append(frame)
        self.flush()
        return True

    def flush(self) -> None:
        """Write what the queue holds, as far as the pipe takes it now."""
        with self._lock:
            try:
                self._push()
            except OSError:
                self._broken = True
                self._queue.clear()

    def close(self) -> None:
        """Close the pipe: the server reads end of file. Writers that wait for room give up."""
        self.closed = True
        with self._lock:
            self.fd = -1
            self._stream.close()
            self._queue.clear()

    def _push(self) -> bool:
        """Write the queue, as far as there is room; True if nothing is left in it."""
        if self.closed:
            raise BrokenPipeError("the pipe is closed on our side")
        while self._queue:
            first = self._queue[0]
            sent = self._write_some(first)
            if sent < len(first):
                self._queue[0] = memoryview(first)[sent:]
                return False
            self._queue.popleft()
        return True

    def _write_some(self, data: bytes | memoryview) -> int:
        try:
            return os.write(self.fd, data)
        except BlockingIOError:
            return 0

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
