"""Many servers behind one table of tools: start, route, restart, report, close.

Guarantees: one failing server never stops the others. Calls do not wait for each other. Every
wait is bounded. After `close`, or when the `with` block is left in any way, Ctrl-C while it
starts or closes included, no process, thread or descriptor of a server is left.

What it leaves out: the model. It offers tools and results; what is done with them is yours.

A call: namespace (canonical name → server, local name) → session (id, waiting caller) → wire
(bytes) → transport … reader → wire → session → ToolResult.
"""

import contextlib
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from types import TracebackType
from typing import Any

from .callbacks import Callbacks, Handler
from .clock import Clock, SystemClock, as_clock
from .config import LONGEST_TIMEOUT, ServerConfig, check_configs
from .errors import ConfigError, HostClosed, RpcError
from .events import Dispatcher, Event, ServerStatus
from .latch import Latch, join, start
from .member import Member
from .namespace import Changes, Collision, MergedTool, Namespace, Policy, names_in
from .routing import NO_SUCH_TOOL, find_server, find_tool, gone, read_arguments, read_result, says_unknown
from .session import Tap
from .tools import ToolResult
from .transport import Spawn, Transport, kill, shut_down
from .wire import Message

LAST_JOBS = 2.0  # seconds for refreshes and starts to notice that the host is closed
NOT_OPEN = "the host is not open: use `with Host(configs) as host:`"


class Host:
    """A client of many servers. Use it as a context manager; see the package for an example.

    `on_event(event)` is called from one thread. `sampling`, `elicitation` and `roots` are
    handlers `(server, params) -> dict`; a capability is declared only if its handler is given.
    `clock` is a Clock or a function like time.monotonic; `spawn` is called like subprocess.Popen.
    At most `max_starting` servers start at once. With `wait=False` the servers start in the
    background. Raises ConfigError for configurations or a policy that cannot be used.
    """

    def __init__(
        self,
        configs: Iterable[ServerConfig],
        *,
        policy: Policy = Policy.PREFIX,
        on_event: Callable[[Event], object] | None = None,
        sampling: Handler | None = None,
        elicitation: Handler | None = None,
        roots: Handler | None = None,
        clock: Clock | Callable[[], float] | None = None,
        spawn: Spawn = subprocess.Popen,
        max_starting: int = 8,
        wait: bool = True,
    ) -> None:
        self.configs = list(configs)
        check_configs(self.configs)
        if max_starting < 1:
            raise ConfigError(f"max_starting is {max_starting!r}, but at least one server has to start at a time")
        self.clock = as_clock(clock) if clock is not None else SystemClock()
        self.callbacks = Callbacks(sampling, elicitation, roots)
        self.spawn = spawn
        self.tap: Tap | None = None  # a recorder of the wire, see trace.py
        self.namespace = Namespace([config.name for config in self.configs], policy)
        self.events = Dispatcher(on_event)
        self._members = {config.name: Member(config, self) for config in self.configs}
        self._max_starting, self._wait = max_starting, wait
        self._naming = threading.Lock()  # guards the namespace
        self._lock = threading.RLock()
        self._due = threading.Condition(self._lock)  # notified when a server's state has changed, and on close
        self._all_tried = Latch()  # each server has been started once, with or without success
        self._starting: deque[Member] = deque()
        self._jobs: set[threading.Thread] = set()
        self._open = self._closed = self._ended = False

    # --- opening and closing -----------------------------------------------------------------

    def __enter__(self) -> "Host":
        if self._open or self._closed:
            raise HostClosed("a host can be entered once: make a new one")
        self._open = True
        try:
            self.events.start()
            if not self.run(self._supervise, "mcp-restarts"):
                raise RuntimeError("the host needs a thread for restarts, and the system gives none")
            self._starting.extend(self._members.values())
            for _ in range(min(self._max_starting, len(self._members))):
                if not self.run(self._start_some, "mcp-start"):
                    self._start_some()
            if self._wait:
                if self._members:
                    self._all_tried.wait()
                self._settle()
                self._enforce_policy()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all servers and threads. Waiting calls raise HostClosed. May be called twice."""
        try:
            self._end(shut_down)
        except BaseException:  # a Ctrl-C: no more asking, but all of it once more
            self._end(kill)
            raise

    def _end(self, stop: Callable[[Iterable[Transport]], None]) -> None:
        """The steps of closing; each may be taken again, if the first time was interrupted."""
        if self._ended:
            return
        with self._lock:
            self._closed = True
            self._starting.clear()
            self._due.notify_all()
        self._all_tried.set()
        sessions = [session for member in self._members.values() for session in member.begin_close()]
        for session in sessions:
            session.abandon(lambda: HostClosed("the host was closed while the call was waiting"))
        stop(session.transport for session in sessions)
        self._join_jobs()
        self.events.close()
        self._ended = True

    def _any_starting(self) -> bool:
        return any(member.state == "starting" for member in self._members.values())

    def _start_some(self) -> None:
        """Start one server after the other, until none is left; several threads do this."""
        while True:
            try:
                member = self._starting.popleft()
            except IndexError:
                return
            member.first_start()
            if not self._any_starting():
                self._settle()
                self._all_tried.set()
            self._enforce_policy()

    def _supervise(self) -> None:
        """Sleep until a restart or a listing is due, let a thread of its own do it, and so on until close."""
        while True:
            with self._lock:
                if self._closed:
                    return
                times = [when for member in self._members.values() for when in (member.retry_at, member.poll_at())]
                due = min((when for when in times if when is not None), default=None)
                if due is None or due > self.clock.now():
                    self.clock.wait_until(self._due, due)
                    continue
            for member in self._members.values():
                member.poll()
                if member.take_due() and not self.run(member.retry, f"mcp-restart-{member.name}"):
                    member.retry()

    def _join_jobs(self) -> None:
        deadline = time.monotonic() + LAST_JOBS
        for job in list(self._jobs):
            if job is not threading.current_thread():
                join(job, deadline - time.monotonic())

    # --- calling -----------------------------------------------------------------------------

    def tools(self) -> dict[str, MergedTool]:
        """All tools, canonical name → MergedTool; also those of servers that are down at the moment."""
        return dict(self._settle().table)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, timeout: float | None = None) -> ToolResult:
        """Call a tool by its canonical name; `timeout` in seconds replaces the server's call_timeout.

        A tool's own failure is a ToolResult with `is_error`. Raises UnknownTool, AmbiguousTool,
        ArgumentsError, HandlerFailed, RpcError, BadReply, RequestTimeout, ServerDied, HostClosed. Never sent twice.
        """
        self._check_open()
        given = read_arguments(name, arguments)
        tool = find_tool(self._settle(), name, self._members)
        member = self._members[tool.server_name]
        seconds = member.config.call_timeout if timeout is None else min(timeout, LONGEST_TIMEOUT)
        deadline = time.monotonic() + seconds
        session = member.ready_session()
        params = {"name": tool.local_name, "arguments": given}
        try:
            raw = session.call("tools/call", params, deadline)
        except RpcError as error:
            if error.code in NO_SUCH_TOOL and self._is_gone(tool, deadline):
                raise gone(self.namespace, tool) from error
            raise
        result = read_result(tool, raw)
        if result.is_error and says_unknown(result.text, tool.local_name) and self._is_gone(tool, deadline):
            raise gone(self.namespace, tool)
        return result

    def request(self, server: str, method: str, params: Message | None = None, timeout: float | None = None) -> Message:
        """Send a server one request that no tool is for, such as prompts/list; returns its result as it came.

        Of a list that is one page, and in 2026-07-28 it may be a question. Raises what `call` raises, or UnknownServer.
        """
        member = self._member(server)
        seconds = member.config.call_timeout if timeout is None else min(timeout, LONGEST_TIMEOUT)
        return member.ready_session().request(method, params, time.monotonic() + seconds)

    def _is_gone(self, tool: MergedTool, deadline: float) -> bool:
        """After an answer that may mean "no such tool": one refresh, then the table tells."""
        with contextlib.suppress(Exception):
            self._members[tool.server_name].refresh(deadline)
            return tool.canonical_name not in self._settle().table
        return False

    # --- servers -----------------------------------------------------------------------------

    def status(self) -> dict[str, ServerStatus]:
        """How each server is, in configuration order. Also after close."""
        return {name: member.status() for name, member in self._members.items()}

    def refresh(self, server: str) -> list[str]:
        """List a server's tools again. Blocks; returns the names that were added, removed or changed."""
        member = self._member(server)
        self._settle()
        return names_in(member.refresh())

    def restart(self, server: str) -> list[str]:
        """End a server and start it again, also a failed one. Blocks; returns the changed names.

        Raises SpawnError or HandshakeError if it does not come up.
        """
        member = self._member(server)
        self._settle()
        outcome: queue.SimpleQueue[list[str] | BaseException] = queue.SimpleQueue()

        def job() -> None:  # not on the caller's thread: a Ctrl-C in the middle of a start would lose a process
            try:
                names = names_in(member.restart())
                self._enforce_policy()
                outcome.put(names)
            except BaseException as error:
                outcome.put(error)

        if not self.run(job, f"mcp-restart-{server}"):
            job()
        found = outcome.get()
        if isinstance(found, BaseException):
            raise found
        return found

    def wait_ready(self, server: str, timeout: float | None = None) -> None:
        """Wait until a server is ready; `timeout` in seconds, by default its start_timeout.

        Raises RequestTimeout, or the error that made the server fail.
        """
        member = self._member(server)
        member.wait_ready(member.config.start_timeout if timeout is None else min(timeout, LONGEST_TIMEOUT))

    @property
    def is_open(self) -> bool:
        """True from the moment it is entered, also after it was closed."""
        return self._open

    def _member(self, server: str) -> Member:
        self._check_open()
        return find_server(self._members, server)

    def _check_open(self) -> None:
        if self._closed:
            raise HostClosed("the host is closed: make a new one")
        if not self._open:
            raise HostClosed(NOT_OPEN)

    # --- what members need: see member.Home ----------------------------------------------------

    def tell(self, kind: str, server: str, data: dict[str, Any]) -> None:
        """Send an event."""
        self.events.tell(Event(kind, server, data, self.clock.now()))

    def install(self, server: str, tools: list[Message]) -> Changes:
        """Replace a server's tools in one step. Until somebody has looked at the names, none are given."""
        with self._naming:
            difference, collisions = self.namespace.replace(server, tools)
        self._report(collisions)
        if names_in(difference):
            self.tell("tools_changed", server, dict(difference))
        return difference

    def count_tools(self, server: str) -> int:
        """How many tools of a server are offered."""
        return self.namespace.counts()[server]

    def run(self, job: Callable[[], object], name: str) -> bool:
        """Run a job in a thread that close waits for; False when the system gives no thread."""

        def work() -> None:
            try:
                job()
            finally:
                self._jobs.discard(threading.current_thread())

        thread = threading.Thread(target=work, name=name, daemon=True)
        self._jobs.add(thread)
        if not start(thread):
            self._jobs.discard(thread)
            return False
        return True

    def wake(self) -> None:
        """A server's state has changed."""
        with self._lock:
            self._due.notify_all()

    def _settle(self) -> Namespace:
        """The namespace with a name for everything that is known."""
        if self.namespace.stale or not self.namespace.looked_at:
            with self._naming:
                collisions = self.namespace.settle()
            self._report(collisions)
            self._enforce_policy()
        return self.namespace

    def _report(self, collisions: Iterable[Collision]) -> None:
        for hit in collisions:
            self.tell("collision", hit.server, asdict(hit))

    def _enforce_policy(self) -> None:
        """End the servers that the policy keeps out. Never called with a member's lock held."""
        for server, reason in self.namespace.refused().items():
            self._members[server].refuse(reason)
