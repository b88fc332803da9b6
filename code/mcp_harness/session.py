"""One conversation with one server process: requests and replies, paging, notifications.

Guarantees: a reply finds its caller by id, in any order, from any number of threads; a caller
waits no longer than its deadline, which covers the write too. When the process ends, every
waiting caller is told at once and why. Whatever else a server writes is counted, never fatal.

What it leaves out: starting again. A session lives as long as its process; the next process
gets a new session, so a reply of the old one can never answer a request of the new one.

Source: base protocol and tools. What differs by revision is in eras.py; how a revision is found
out, in probe.py; a call that comes back with questions, in rounds.py; listening.py and listing.py
are about the list of tools.
"""

import contextlib
import time
from collections.abc import Callable
from typing import Protocol

from . import listening, rounds, wire
from .callbacks import Answering, Callbacks
from .config import ServerConfig
from .eras import Era
from .errors import ArgumentsError, BadReply, RequestTimeout, RpcError, ServerDied
from .listening import Subscription, announces_changes
from .listing import Listing, list_tools
from .pending import Failure, Pending, Slot, Waiter
from .pipes import WriteTimeout
from .transport import Spawn, Transport
from .wire import Line, Message

ANSWER_TIMEOUT = 10.0  # seconds to write a handler's answer: a server that asked should be reading
DEAF = "it closed its stdin but kept running, so it was ended"
DEATH_NEWS = 1.0  # seconds after a broken pipe until the reader has found out why


class Listener(Protocol):
    """Who hears what a session notices. Called on the reader thread: must not wait."""

    def on_ended(self, session: "Session", reason: str) -> Failure: ...

    def on_list_changed(self, session: "Session") -> None: ...

    def on_stream_over(self, session: "Session") -> None: ...

    def on_noise(self, session: "Session", noise: wire.Noise) -> None: ...

    def on_late_reply(self, session: "Session", id: wire.Id) -> None: ...


WriteFrame = Callable[[bytes, float], None]
PostFrame = Callable[[bytes], bool]


class Tap(Protocol):
    """Who records the wire; each method puts a recorder in front of a function of ours. See trace.py."""

    def hear(self, server: str, generation: int, on_line: Callable[[Line], None]) -> Callable[[Line], None]: ...

    def speak(self, server: str, generation: int, write: WriteFrame) -> WriteFrame: ...

    def post(self, server: str, generation: int, post: PostFrame) -> PostFrame: ...

    def ended(self, server: str, generation: int, reason: str) -> None: ...


class Session:
    """The session with one process. Raises SpawnError when made, if the process cannot be started."""

    def __init__(
        self,
        config: ServerConfig,
        era: Era,
        callbacks: Callbacks,
        listener: Listener,
        spawn: Spawn,
        generation: int = 1,
        tap: Tap | None = None,
    ) -> None:
        self.server, self.era, self.generation = config.name, era, generation
        self.capabilities = callbacks.capabilities
        self.ended: str | None = None
        self._listener = listener
        self._pending = Pending()
        self.announces = self._listed = False
        self.subscription: Subscription | None = None
        self.answering = Answering(config.name, callbacks, self._pending, self._post, self._send_answer)
        self._tap, here = tap, (config.name, generation)
        on_line = self._on_line if tap is None else tap.hear(*here, self._on_line)
        self.transport = Transport(config, on_line, self._on_end, spawn)
        writer = self.transport.writer
        self._write_frame: WriteFrame = writer.write if tap is None else tap.speak(*here, writer.write)
        self._post_frame: PostFrame = writer.post if tap is None else tap.post(*here, writer.post)
        self._wait = self._look_and_sleep if tap is None else self._sleep  # a recorder hears only the reader thread

    @property
    def pending(self) -> int:
        """How many requests wait for a reply."""
        return len(self._pending)

    # --- what we say ---------------------------------------------------------------------

    def open(self, deadline: float) -> Message:
        """Open the session as its revision demands; returns what the server said of itself."""
        hello = self.era.open(self, deadline)
        self.announces = announces_changes(hello)
        self.listen(deadline)
        return hello

    def request(self, method: str, params: Message | None, deadline: float) -> Message:
        """Send a request and wait for its result until `deadline` (of time.monotonic).

        Raises RpcError, BadReply, RequestTimeout, ArgumentsError, or what the session ended with.
        """
        began = time.monotonic()
        slot = Slot()
        id = self._pending.new_id()
        begun, body = False, None
        try:
            self._pending.add(id, slot)
            frame = self._encode(id, method, params or {})
            self._write_frame(frame, deadline)
            begun = True
            body = self._wait(id, slot, deadline)
        except WriteTimeout as timeout:
            begun, body = timeout.begun, None
        except OSError:
            body = self._broken_pipe(slot, deadline)
        finally:
            unanswered = body is None and self._pending.take(id) is not None
            if unanswered and begun and method != "initialize":
                self._post(wire.notification("notifications/cancelled", {"requestId": id, "reason": "gave up waiting"}))
        if body is None and not unanswered:
            body = slot.wait(0)  # it came in the very last moment
        if body is None:
            raise self._timed_out(method, params, time.monotonic() - began, begun)
        return self.read(body, method)

    def send(self, method: str, params: Message, waiter: Waiter, deadline: float) -> int:
        """Send a request without waiting for its reply, which goes to `waiter`. Returns its id."""
        id = self._pending.new_id()
        self._pending.add(id, waiter)
        self._write_request(id, method, params, deadline)
        return id

    def notify(self, method: str, params: Message | None = None) -> None:
        """Send a notification, as soon as the pipe has room."""
        self._post(wire.notification(method, params))

    def call(self, method: str, params: Message, deadline: float) -> Message:
        """A request that the server may give back with questions; returns its complete result."""
        result = self.request(method, params, deadline)
        if self.era.asks_in_results and result.get("resultType") == "input_required":
            return rounds.finish(self, method, params, result, deadline)
        return result

    def list_tools(self, deadline: float, warn: Callable[[str], None]) -> Listing:
        """All pages of tools/list, unchecked."""
        listing = list_tools(self, deadline, warn)
        self._listed = True
        return listing

    def listen(self, deadline: float) -> None:
        """Ask to be told of changes, where the server tells only those who ask; also again, after it has ended that."""
        old = self.subscription
        if not (self.announces and self.era.listens) or (old is not None and (old.refused or not old.over)):
            return
        if old is not None and old.id is not None:
            self._pending.take(old.id)
        self._listed = False
        self.subscription = stream = Subscription(lambda: self._listener.on_stream_over(self))
        stream.id = self._pending.new_id()
        self._pending.add(stream.id, stream)
        self._write_request(stream.id, listening.METHOD, self.era.dress(listening.WANTED), deadline)

    @property
    def hears_changes(self) -> bool:
        """True if a stream stands open on which changes are announced (revision 2026-07-28)."""
        return self.subscription is not None and self.subscription.open

    def wait_for_end(self, seconds: float) -> None:
        """Wait, but not beyond the end of the process."""
        self.transport.done.wait(max(0.0, seconds))

    def abandon(self, failure: Failure) -> None:
        """Fail every waiting caller; the session is about to be closed."""
        self._pending.end(failure)

    # --- waiting for a reply -------------------------------------------------------------

    def _sleep(self, id: int, slot: Slot, deadline: float) -> Message | None:
        """Until the reader thread has brought the reply."""
        return slot.wait(deadline - time.monotonic())

    def _look_and_sleep(self, id: int, slot: Slot, deadline: float) -> Message | None:
        """First at the pipe itself, if the last caller was answered at once and nobody else waits; see intake.py."""
        began, intake, alone = time.monotonic(), self.transport.intake, self._pending.alone
        body = intake.visit(id, deadline) if alone else None
        if body is not None:
            self._pending.take(id)
            return body
        intake.call_back()
        body = self._sleep(id, slot, deadline)
        intake.judge(alone and body is not None, time.monotonic() - began)
        return body

    # --- writing -------------------------------------------------------------------------

    def _encode(self, id: int, method: str, params: Message) -> bytes:
        try:
            return self.era.encode(id, method, params)
        except (ValueError, TypeError) as error:
            text = f"server {self.server!r}: the parameters are no JSON: {error}; nothing was sent"
            raise ArgumentsError(text) from error

    def _write_request(self, id: int, method: str, params: Message, deadline: float) -> None:
        try:
            self._write_frame(wire.encode(wire.request(id, method, params)), deadline)
        except WriteTimeout as timeout:
            self._pending.take(id)
            raise self._timed_out(method, None, 0.0, timeout.begun) from None
        except OSError:  # the waiter will be failed with the reason
            if not self.transport.done.wait(DEATH_NEWS):
                self.transport.condemn(DEAF)

    def _broken_pipe(self, slot: Slot, deadline: float) -> Message | None:
        """The server does not read any more: most likely it is dying, and the slot soon fails with the reason."""
        if slot.wait(min(deadline - time.monotonic(), DEATH_NEWS)) is None:
            self.transport.condemn(DEAF)
        return slot.wait(min(deadline - time.monotonic(), DEATH_NEWS))

    def _post(self, message: Message) -> None:
        with contextlib.suppress(ValueError, TypeError):
            self._post_frame(wire.encode(message))

    def _send_answer(self, message: Message) -> None:
        with contextlib.suppress(OSError, WriteTimeout):
            self._write_frame(wire.encode(message), time.monotonic() + ANSWER_TIMEOUT)

    # --- what we hear: the reader thread ---------------------------------------------------

    def _on_line(self, line: Line) -> None:
        try:
            self._dispatch(wire.parse(line))
        except Exception as error:  # no line may stop the reader, whatever is wrong with it or with us
            self._listener.on_noise(self, wire.Noise(f"not handled: {type(error).__name__}: {error}", "(one line)"))

    def _dispatch(self, incoming: wire.Incoming | None) -> None:
        """Whose is it? A message with a method is the server's own; the rest can only be a reply."""
        if isinstance(incoming, wire.Reply):
            self._on_reply(incoming)
        elif isinstance(incoming, wire.Noise):
            self._on_noise(incoming)
        elif isinstance(incoming, wire.Request) and self.era.server_may_ask:
            self.answering.answer(incoming)
        elif isinstance(incoming, wire.Request):
            why = f"a request, which a server must not send in revision {self.era.version}"
            self._on_noise(wire.Noise(why, incoming.method[: wire.PREVIEW_CHARS]))
        elif isinstance(incoming, wire.Notification):
            self._on_notification(incoming.method, incoming.params)

    def _on_notification(self, method: str, params: Message) -> None:
        """The tools may have changed; or it is about the stream on which such changes are announced."""
        stream = self.subscription
        if method == "notifications/tools/list_changed":
            self._listener.on_list_changed(self)
        elif stream is None:
            pass
        elif method == listening.ACKNOWLEDGED:
            if stream.acknowledge(params) and self._listed:  # a change between listing and this moment is unheard
                self._listener.on_list_changed(self)
        elif method == "notifications/cancelled" and wire.own_id(params.get("requestId")) == stream.id:
            stream.cancel()

    def _on_reply(self, reply: wire.Reply) -> None:
        id = wire.own_id(reply.id)
        slot = None if id is None else self._pending.take(id)
        if slot is not None:
            slot.fill(reply.body)
        elif id is not None and self._pending.issued(id):
            self._listener.on_late_reply(self, reply.id)
        else:
            why = "a reply to a request that was never sent"
            self._listener.on_noise(self, wire.Noise(why, f"id {str(reply.id)[: wire.PREVIEW_CHARS]}"))

    def _on_noise(self, noise: wire.Noise) -> None:
        id = wire.own_id(noise.reply_id)
        slot = None if id is None else self._pending.take(id)
        if slot is not None:
            text = f"server {self.server!r} sent its reply as {noise.why}; it was thrown away: ask for less at once"
            slot.fail(lambda: BadReply(self.server, text))
        self._listener.on_noise(self, noise)

    def _on_end(self, reason: str) -> None:
        self.ended = reason
        if self._tap is not None and not self.transport.closing:
            self._tap.ended(self.server, self.generation, reason)
        self._pending.end(self._listener.on_ended(self, reason))

    # --- replies to results --------------------------------------------------------------

    def read(self, body: Message, method: str) -> Message:
        """The result in a reply. Raises RpcError for an error, BadReply for what is neither."""
        error = body.get("error")
        if error is not None:
            code = error.get("code") if isinstance(error, dict) else None
            if not isinstance(code, int):
                raise BadReply(self.server, f"server {self.server!r} answered {method} with a malformed error: {error}")
            raise RpcError(self.server, code, str(error.get("message", "")), error.get("data"), method)
        result = body.get("result")
        if not isinstance(result, dict):
            kind = type(result).__name__
            raise BadReply(self.server, f"server {self.server!r} answered {method} with a {kind}, not with an object")
        return self.era.judge(self.server, method, result)

    def _timed_out(self, method: str, params: Message | None, seconds: float, begun: bool) -> Exception:
        if self.ended is not None:
            return ServerDied(self.server, self.ended)
        did = "gave no reply to" if begun else "does not read its stdin, which is full, so it did not take"
        told = "; the request was cancelled" if begun and method != "initialize" else ""
        what = f"{method} {params['name']!r}" if params and "name" in params else method
        text = f"server {self.server!r} {did} {what} within {seconds:.1f} s{told}. Raise the timeout, or look at"
        return RequestTimeout(self.server, f"{text} what the server does (host.status() has its stderr)")
