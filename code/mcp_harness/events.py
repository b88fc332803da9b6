"""Telling the program what happens: Event, ServerStatus, and the one thread that calls back.

Guarantees: the callback is called from one thread, in order, never from a reader thread, so it
may take its time and call tools. An exception in it is caught and counted. The queue is bounded:
when the callback does not keep up, the newest events are dropped and counted.
"""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .latch import join, start

MAX_QUEUED = 10_000  # events: a callback that is this far behind will not catch up
LAST_CALLS = 2.0  # seconds for the callback to finish what is queued when the host closes

KINDS = (
    "ready", "failed", "died", "restarting", "notice", "recovered",
    "tools_changed", "noise", "late_reply", "collision", "tool_set_aside",
)  # fmt: skip


@dataclass(frozen=True)
class Event:
    """Something happened: one of KINDS, to which server, details by kind, when (seconds of the host's clock)."""

    kind: str
    server: str
    data: dict[str, Any]
    at: float


@dataclass(frozen=True)
class ServerStatus:
    """How a server is at this moment. Times are in seconds."""

    name: str
    state: str  # "starting" | "ready" | "restarting" | "failed" | "closed"
    reason: str | None  # why it is not ready
    pid: int | None
    era: str | None  # the revision that is spoken, None before the session is open
    tools: int  # how many of its tools the host offers
    restarts: int
    retry_in: float | None  # until the next start, None when none is due
    pending: int  # requests that wait for a reply
    noise_lines: int  # lines on stdout that were no message
    late_replies: int
    generation: int  # 1 for the first process, then counted up
    uptime: float | None  # since it became ready
    stderr_tail: tuple[str, ...]


class Dispatcher:
    """Calls `callback` with each event, from a thread of its own. Without a callback it does nothing."""

    def __init__(self, callback: Callable[[Event], object] | None) -> None:
        self._callback = callback
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()  # a Ctrl-C inside `put` cannot break it
        self._thread: threading.Thread | None = None
        self.errors = 0  # exceptions that the callback raised
        self.dropped = 0
        self.last_error: BaseException | None = None

    def start(self) -> None:
        """Start the thread, if there is somebody to call."""
        if self._callback is not None:
            self._thread = threading.Thread(target=self._run, name="mcp-events", daemon=True)
            if not start(self._thread):
                raise RuntimeError("the host needs a thread for events, and the system gives none")

    def tell(self, event: Event) -> None:
        """Queue one event. Never waits."""
        if self._callback is None:
            return
        if self._queue.qsize() >= MAX_QUEUED:
            self.dropped += 1
        else:
            self._queue.put(event)

    def close(self) -> None:
        """Let the callback finish what is queued, within a bound; then end the thread."""
        if self._thread is not None:
            self._queue.put(None)
            if self._thread is not threading.current_thread():
                join(self._thread, LAST_CALLS)

    def _run(self) -> None:
        assert self._callback is not None
        while (event := self._queue.get()) is not None:
            try:
                self._callback(event)
            except BaseException as error:  # SystemExit too: it would end only this thread
                self.errors += 1
                self.last_error = error
