"""Writing frames to a pipe that may be full, whose reader may be gone, from many threads.

Guarantees: a frame is written whole and never between the halves of another. `write` waits
for room until its deadline and no longer; a frame that was begun and could not be finished
stays in the queue, so the stream stays intact for the next one. `post` never waits: the
reader thread answers pings with it, and must not stop because a server does not read.

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
        self.closed = False

    @property
    def waiting(self) -> bool:
        """True when something lies in the queue until the pipe has room."""
        return bool(self._queue) and not self.closed

    def write(self, frame: bytes, deadline: float) -> None:
        """Write one frame before `deadline` (of time.monotonic). Raises WriteTimeout or OSError."""
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise WriteTimeout(begun=False)
        try:
            while self._queue and not self._push():
                if not self._wait_for_room(deadline):
                    raise WriteTimeout(begun=False)
            self._write_whole(frame, deadline)
        finally:
            self._lock.release()
        if self._queue:
            self.flush()  # posted while we held the lock

    def post(self, frame: bytes) -> bool:
        """Write a small frame now or as soon as there is room; False when the queue is full or the pipe closed."""
        if self.closed or len(self._queue) >= MAX_POSTED:
            return False
        self._queue.append(frame)
        self.flush()
        return True

    def flush(self) -> None:
        """Write what the queue holds, as far as the pipe takes it now."""
        while self._queue and self._lock.acquire(blocking=False):
            try:
                if not self._push():
                    return
            except OSError:
                self._queue.clear()
            finally:
                self._lock.release()

    def close(self) -> None:
        """Close the pipe: the server reads end of file. Writers that wait for room give up."""
        self.closed = True
        with self._lock:
            self.fd = -1
            self._stream.close()
            self._queue.clear()

    def _write_whole(self, frame: bytes, deadline: float) -> None:
        sent = self._write_some(frame)
        try:
            while sent < len(frame):
                if not self._wait_for_room(deadline):
                    raise WriteTimeout(begun=sent > 0)
                sent += self._write_some(memoryview(frame)[sent:])
        except BaseException:  # Ctrl-C too
            if sent:
                self._queue.appendleft(memoryview(frame)[sent:])
            raise

    def _push(self) -> bool:
        while self._queue:
            first = self._queue[0]
            sent = self._write_some(first)
            if sent < len(first):
                self._queue[0] = memoryview(first)[sent:]
                return False
            self._queue.popleft()
        return True

    def _write_some(self, data: bytes | memoryview) -> int:
        if self.closed:
            raise BrokenPipeError("the pipe is closed on our side")
        try:
            return os.write(self.fd, data)
        except BlockingIOError:
            return 0

    def _wait_for_room(self, deadline: float) -> bool:
        poller = select.poll()
        poller.register(self.fd, select.POLLOUT)
        while not self.closed:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if poller.poll(min(left, SLICE) * 1000):
                return True  # room, or an error that the next write reports
        raise BrokenPipeError("the pipe is closed on our side")
