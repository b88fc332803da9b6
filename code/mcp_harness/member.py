"""One configured server through all its lives: start, ready, death, restart, refresh.

Guarantees: a server is ready only after its tools are listed. An exit that nobody asked for
leads to the next start as restart.py says, or to "failed". No process is started after close.
Refreshes are coalesced (refreshing.py). Which revision the process speaks is found out at each
start (probe.py); one that dies of the question is started once more and not asked.

What it leaves out: the other servers, and names. The host owns those and gives in `Home` what
a member needs of it.

States:  starting → ready → restarting → ready …;  starting → failed;  any → closed.
A server that was never ready is not tried again by itself: that is a mistake in the
configuration far more often than an accident. `Host.restart` tries it again.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from . import probe, wire
from .callbacks import Callbacks
from .clock import Clock
from .config import ServerConfig
from .eras import Era, Initialize
from .errors import HandshakeError, HarnessError, HostClosed, RequestTimeout, ServerDied, SpawnError
from .events import ServerStatus
from .latch import Latch
from .namespace import Changes
from .pending import Failure
from .probe import DiedOnProbe
from .refreshing import Coalescing, Freshness
from .restart import Backoff
from .session import Session, Tap
from .tools import SetAside, read_tools
from .transport import LAST_GRACE, Spawn, show_command, shut_down, space_hints, still_running
from .wire import Message

STDERR_SHOWN = 5  # lines of stderr in a reason: the last ones name the mistake
SPAWN_GRACE = 5.0  # seconds for a process that is being started when the host closes
EXIT_NEWS = 0.05  # seconds for a reader to notice that its process has ended


class Home(Protocol):
    """What a member needs of its host."""

    clock: Clock
    callbacks: Callbacks
    spawn: Spawn
    tap: Tap | None

    def tell(self, kind: str, server: str, data: dict[str, Any]) -> None: ...

    def install(self, server: str, tools: list[Message]) -> Changes: ...

    def count_tools(self, server: str) -> int: ...

    def run(self, job: Callable[[], object], name: str) -> bool: ...

    def wake(self) -> None: ...


class Member:
    """A server of the host. All public methods may be called from any thread."""

    def __init__(self, config: ServerConfig, home: Home) -> None:
        self.config, self.name, self._home = config, config.name, home
        self._lock = threading.RLock()  # guards everything below
        self._news = Latch()  # set, and replaced by another, when the state changes
        self.state, self.reason = "starting", config.problem
        self.error: HarnessError | None = None
        self.session: Session | None = None
        self.retry_at: float | None = None  # by the host's clock
        self._spawned = Latch()  # set unless a process is being started: close waits for it
        self._spawned.set()
        self._life = threading.Lock()  # held through one start: there is one at a time
        self._refreshing = Latch()  # of the refresh that runs, set at its end: there is one at a time
        self._refreshing.set()
        self._sessions: list[Session] = []  # also old ones whose process is still ending
        self._backoff = Backoff()
        self._closed = self._was_ready = self._noise_told = False
        self._list_dirty = False
        self._refreshes, self._freshness = Coalescing(), Freshness()
        self._ready_at = 0.0
        self._generation = self._restarts = self._noise = self._late = 0
        self._set_aside: set[SetAside] = set()

    # --- starting ------------------------------------------------------------------------

    def start(self) -> Changes:
        """Spawn, open, list. Returns the changed tools; raises SpawnError, HandshakeError, HostClosed."""
        session: Session | None = None
        try:
            session = self._spawn(probe.choose(self.config.era, self._home.callbacks.capabilities))
            deadline = time.monotonic() + self.config.start_timeout  # from its own spawn
            try:
                tools = self._open(session, deadline)
            except DiedOnProbe:
                if self._closed or self.session is not session:
                    raise
                session = self._spawn(Initialize())  # the old way; this start is no failure and no restart
                tools = self._open(session, deadline)
            return self._become_ready(session, tools)
        except Exception as error:
            failure = self._start_error(error, session)
            self._start_failed(failure, session)
            if session is not None:
                shut_down([session.transport])
            raise failure from error

    def _spawn(self, era: Era) -> Session:
        if self.config.problem:
            raise SpawnError(self.name, f"server {self.name!r} was not started: {self.config.problem}")
        still_running([old.transport for old in self._sessions], LAST_GRACE)  # two at once would fight for their files
        with self._lock:
            if self._closed:
                raise HostClosed(f"the host was closed before server {self.name!r} was started")
            self._generation += 1
            self._spawned = spawned = Latch()
        try:
            home = self._home
            session = Session(self.config, era, home.callbacks, self, home.spawn, self._generation, home.tap)
            with self._lock:
                self.session = session
                self.error = None
                self._sessions = [*self.live_sessions(), session]
        finally:
            spawned.set()
        session.transport.start()
        return session

    def _open(self, session: Session, deadline: float) -> list[Message]:
        if self._closed:
            raise HostClosed(f"the host was closed while server {self.name!r} was being started")
        session.open(deadline)
        self._list_dirty = False
        return self._list(session, deadline)

    def _become_ready(self, session: Session, tools: list[Message]) -> Changes:
        with self._lock:
            if self._closed:
                raise HostClosed(f"the host was closed before server {self.name!r} was ready")
            if self.session is not session or session.ended is not None:
                raise ServerDied(self.name, session.ended or "another start took its place")
            changes = self._home.install(self.name, tools)
            self.state, self.reason, self.error, self.retry_at = "ready", None, None, None
            self._ready_at = self._home.clock.now()
            self._was_ready = True
            self._tell("ready", tools=len(tools), pid=session.transport.pid, generation=session.generation)
            if self._backoff.recovered():
                self._tell("recovered", generation=session.generation)
            self._announce()
        if self._list_dirty:
            self.on_list_changed(session)
        return changes

    def _start_error(self, error: Exception, session: Session | None) -> HarnessError:
        """The same failure as an error of the start, with all that a person needs to mend it."""
        if isinstance(error, SpawnError | HostClosed):
            return error
        if self._closed:
            return HostClosed(f"the host was closed before server {self.name!r} was ready")
        if isinstance(error, RequestTimeout):
            what = f"it was not ready within its start_timeout of {self.config.start_timeout:g} s: {error}"
        else:
            what = (session and session.ended) or str(error) or type(error).__name__
        lines = [f"server {self.name!r} did not start: {what}", f"command: {show_command(self.config)}"]
        lines += space_hints(self.config)
        tail = session.transport.stderr_tail()[-STDERR_SHOWN:] if session else ()
        lines += [f"stderr: {line}" for line in tail] or ["stderr: (nothing)"]
        return HandshakeError(self.name, "\n  ".join(lines))

    def _start_failed(self, error: HarnessError, session: Session | None) -> None:
        with self._lock:
            if not self._closed and (session is None or self.session is session):
                self._fall(str(error), error, 0.0)
                self.session = None

    def _fall(self, reason: str, error: HarnessError, uptime: float) -> float | None:
        """Not ready any more (with the lock held): plan the next start, or give up. Seconds until then."""
        self.reason, self.error, self.retry_at = reason, error, None
        delay = None
        if self.config.restart == "never" or not self._was_ready:
            self.state = "failed"
            self._tell("failed", reason=reason)
        else:
            verdict = self._backoff.failed(uptime)
            delay = verdict.delay
            self.state, self.retry_at = "restarting", self._home.clock.now() + delay
            self._tell("restarting", reason=reason, delay=delay, failures=verdict.failures)
            if verdict.notice:
                text = f"it failed {verdict.failures} times in a row; it is tried again and again, ever more slowly"
                self._tell("notice", message=text, failures=verdict.failures, reason=reason)
        self._announce()
        return delay

    def _announce(self) -> None:
        """The state has changed (with the lock held): wake who waits for it, and the host."""
        self._news.set()
        self._news = Latch()
        self._home.wake()

    # --- starting again --------------------------------------------------------------------

    def take_due(self) -> bool:
        """True once, when the planned start is due."""
        with self._lock:
            if self.retry_at is None or self.retry_at > self._home.clock.now():
                return False
            self.retry_at = None
            return True

    def retry(self) -> None:
        """The planned start."""
        with self._life:
            if self.state == "restarting" and self.retry_at is None:  # else somebody was quicker
                self._restarts += 1
                with contextlib.suppress(HarnessError):  # _start_failed has said it
                    self.start()

    def first_start(self) -> None:
        """The start that the host makes when it opens."""
        with self._life, contextlib.suppress(HarnessError):
            self.start()

    def restart(self) -> Changes:
        """End the process, if there is one, and start a new one. Raises what `start` raises."""
        self._let_go()
        with self._life:
            self._let_go()  # what another start made meanwhile
            self._backoff.reset()
            self._restarts += 1
            return self.start()

    def refuse(self, reason: str) -> None:
        """The policy keeps this server out: end its process, in the background."""
        with self._lock:
            session = self.session
            if self.state != "ready" or session is None:
                return
            self.session, self.state, self.reason = None, "failed", reason
            self.error = HandshakeError(self.name, f"server {self.name!r} was {reason}")
            self._tell("failed", reason=reason)
            self._announce()
        session.abandon(lambda: ServerDied(self.name, reason))
        self._home.run(lambda: shut_down([session.transport]), f"mcp-refuse-{self.name}")

    def _let_go(self) -> None:
        reason = "it is being restarted on request"
        with self._lock:
            if self._closed:
                raise HostClosed(f"the host is closed: server {self.name!r} cannot be restarted")
            session, self.session = self.session, None
            self.state, self.reason, self.retry_at = "restarting", reason, None
            self._announce()
        if session is not None:
            session.abandon(lambda: ServerDied(self.name, reason, 0.0))
            shut_down([session.transport])

    # --- the tools -----------------------------------------------------------------------

    def ready_session(self) -> Session:
        """The session to call. Raises ServerDied when there is none now."""
        session = self.session
        if session is not None and self.state == "ready":
            return session
        with self._lock:
            if self.state == "closed":
                raise HostClosed(f"the host is closed: server {self.name!r} cannot be called")
            raise ServerDied(self.name, self.reason or f"it is {self.state}", self._retry_in())

    def refresh(self, deadline: float | None = None) -> Changes:
        """List the tools again and replace them in one step. `deadline` is of time.monotonic."""
        if deadline is None:
            deadline = time.monotonic() + self.config.call_timeout
        session = self.ready_session()
        mine = Latch()
        try:
            self._wait_for_turn(mine, deadline)
            tools = self._list(session, deadline)
            with self._lock:
                if self.session is not session or self.state != "ready":
                    raise ServerDied(self.name, self.reason or "it was restarted", self._retry_in())
                return self._home.install(self.name, tools)
        finally:
            mine.set()
            self._home.wake()  # the next listing may be due at another time

    def _wait_for_turn(self, mine: Latch, deadline: float) -> None:
        """Wait until no other refresh runs, and put ours in its place. Raises RequestTimeout."""
        while True:
            with self._lock:
                other = self._refreshing
                if other.is_set():
                    self._refreshing = mine
                    return
            if not other.wait(deadline - time.monotonic()):
                raise RequestTimeout(self.name, f"server {self.name!r}: another refresh did not end in time")

    def _list(self, session: Session, deadline: float) -> list[Message]:
        remarks: list[str] = []
        began = self._home.clock.now()
        session.listen(deadline)
        listing = session.list_tools(deadline, remarks.append)
        self._freshness.listed(began, listing.ttl)
        tools, aside = read_tools(listing.tools)
        for one in aside:
            if one not in self._set_aside:
                self._set_aside.add(one)
                self._tell("tool_set_aside", tool=one.tool, reason=one.reason)
        for remark in remarks:
            self._tell("notice", message=remark)
        return tools

    def poll_at(self) -> float | None:
        """When to list again although no change was announced (revision 2026-07-28); None where that is not needed."""
        session = self.session
        if self.state != "ready" or session is None or not session.era.listens:
            return None
        return self._freshness.stale_at(session.announces, session.hears_changes)

    def poll(self) -> None:
        """List again if that is due, and ask again for a stream that was ended. Does not wait."""
        when, now, session = self.poll_at(), self._home.clock.now(), self.session
        if when is not None and when <= now and session is not None:
            self._freshness.polled(now)
            self.on_list_changed(session)

    def _refresh_all(self) -> None:
        """Refresh until no change was announced meanwhile: one runs, at most one more waits."""
        while True:
            try:
                self.refresh()
            except (ServerDied, HostClosed):
                pass  # the next start lists the tools anyway
            except Exception as error:
                self._tell("notice", message=f"its tools could not be listed again: {error}")
            with self._lock:
                if self._closed or not self._refreshes.more():
                    return

    # --- what a session notices: called on its reader thread -----------------------------------

    def on_ended(self, session: Session, reason: str) -> Failure:
        """The process has ended. Returns what its waiting callers raise."""
        tail = session.transport.stderr_tail()[-1:]
        reason = "; its last words: ".join([reason, *tail])
        with self._lock:
            if self._closed:
                return lambda: HostClosed(f"the host was closed while server {self.name!r} was answering")
            if self.session is not session or self.state != "ready":
                return lambda: ServerDied(self.name, reason)
            self._tell("died", reason=reason, generation=session.generation)
            uptime = self._home.clock.now() - self._ready_at
            retry_in = self._fall(reason, ServerDied(self.name, reason), uptime)
        return lambda: ServerDied(self.name, reason, retry_in)

    def on_list_changed(self, session: Session) -> None:
        """The server announced other tools."""
        with self._lock:
            if self.session is not session or self._closed:
                return
            if self.state != "ready":
                self._list_dirty = True
                return
            if not self._refreshes.wish():
                return
        if not self._home.run(self._refresh_all, f"mcp-refresh-{self.name}"):
            self._refreshes.stop()
            self._tell("notice", message="its tools could not be listed again: there was no thread for it")

    def on_stream_over(self, session: Session) -> None:
        """No changes will be announced any more: from now on age counts."""
        self._home.wake()

    def on_noise(self, session: Session, noise: wire.Noise) -> None:
        """A line that was no message: counted always, told once."""
        self._noise += 1
        if not self._noise_told:
            self._noise_told = True
            self._tell("noise", why=noise.why, line=noise.preview)

    def on_late_reply(self, session: Session, id: wire.Id) -> None:
        """A reply whose caller had given up."""
        self._late += 1
        self._tell("late_reply", id=id)

    # --- looking, ending -------------------------------------------------------------------

    def status(self) -> ServerStatus:
        """A snapshot."""
        with self._lock:
            session = self._sessions[-1] if self._sessions else None
            live = session if session and session is self.session and session.ended is None else None
            return ServerStatus(
                name=self.name,
                state=self.state,
                reason=self.reason,
                pid=live.transport.pid if live else None,
                era=session.era.version if session and self._was_ready else None,
                tools=self._home.count_tools(self.name),
                restarts=self._restarts,
                retry_in=self._retry_in(),
                pending=session.pending if session else 0,
                noise_lines=self._noise,
                late_replies=self._late,
                generation=self._generation,
                uptime=self._home.clock.now() - self._ready_at if self.state == "ready" else None,
                stderr_tail=session.transport.stderr_tail() if session else (),
            )

    def wait_ready(self, timeout: float) -> None:
        """Wait until the server is ready. Raises RequestTimeout, or the error that made it fail."""
        deadline = time.monotonic() + timeout
        while True:
            with self._lock:
                if self._is_ready():
                    return
                if self.state == "failed":
                    raise self.error or ServerDied(self.name, self.reason or "it failed")
                if self.state == "closed":
                    raise HostClosed(f"the host was closed: server {self.name!r} will not become ready")
                news, seen = self._news, self.state
            left = deadline - time.monotonic()
            if left <= 0:
                why = f": {self.reason}" if self.reason else ""
                text = f"server {self.name!r} was not ready within {timeout:g} s; it is {seen}{why}"
                raise RequestTimeout(self.name, text)
            news.wait(min(left, EXIT_NEWS) if seen == "ready" else left)

    def begin_close(self) -> list[Session]:
        """No start from now on. Returns the sessions whose processes still have to be ended."""
        with self._lock:
            self._closed = True
            spawned = self._spawned
        spawned.wait(SPAWN_GRACE)
        with self._lock:
            self.state, self.retry_at = "closed", None
            self._announce()
            return self.live_sessions()

    def live_sessions(self) -> list[Session]:
        """The sessions whose processes have not ended, old ones too."""
        return [one for one in self._sessions if not one.transport.done.is_set()]

    def _is_ready(self) -> bool:
        """Ready, and not a process that has ended already without its reader having noticed."""
        return self.state == "ready" and self.session is not None and not self.session.transport.exited

    def _retry_in(self) -> float | None:
        if self.state != "restarting":
            return None
        return 0.0 if self.retry_at is None else max(0.0, self.retry_at - self._home.clock.now())

    def _tell(self, kind: str, **data: Any) -> None:
        self._home.tell(kind, self.name, data)
