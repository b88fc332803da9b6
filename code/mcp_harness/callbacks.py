"""Requests of the server: sampling, elicitation, roots, ping.

Guarantees: every request is answered. A ping at once, from the reader thread and without
waiting; what a handler answers, from a thread of its own, so that the reader goes on reading
and a handler may itself call a tool of the same server. A handler that raises costs the
server an error, never the client its reader. What we did not declare, we refuse.

What it leaves out: asking a person. That is what a handler is for.

Source: revision 2025-11-25, client features; a capability is declared at `initialize`.
"""

import threading
from collections.abc import Callable

from . import wire
from .wire import Message

Handler = Callable[[str, Message], Message]

METHODS = {"sampling": "sampling/createMessage", "elicitation": "elicitation/create", "roots": "roots/list"}
DECLARED: dict[str, Message] = {"sampling": {}, "elicitation": {"form": {}}, "roots": {}}
MAX_RUNNING = 32  # handlers at once for one server: more is a loop, not a conversation


class Callbacks:
    """The handlers that a host was given, and what follows from them."""

    def __init__(self, sampling: Handler | None, elicitation: Handler | None, roots: Handler | None) -> None:
        given = {"sampling": sampling, "elicitation": elicitation, "roots": roots}
        self.handlers = {METHODS[name]: handler for name, handler in given.items() if handler is not None}
        self.capabilities = {name: DECLARED[name] for name, handler in given.items() if handler is not None}


class Answering:
    """Answers the requests of one server. `post` must not wait; `send` may."""

    def __init__(
        self, server: str, callbacks: Callbacks, post: Callable[[Message], None], send: Callable[[Message], None]
    ) -> None:
        self._server, self._handlers = server, callbacks.handlers
        self._post, self._send = post, send
        self._free = threading.BoundedSemaphore(MAX_RUNNING)

    def answer(self, request: wire.Request) -> None:
        """Answer now, or start the handler. Called on the reader thread: never waits."""
        handler = self._handlers.get(request.method)
        if request.method == "ping":
            self._post(wire.result(request.id, {}))
        elif handler is None:
            text = f"Method not found: {request.method[: wire.PREVIEW_CHARS]} (this client did not declare it)"
            self._post(wire.error(request.id, wire.METHOD_NOT_FOUND, text))
        elif not self._free.acquire(blocking=False):
            text = f"{MAX_RUNNING} requests of this server are being answered: this one was refused"
            self._post(wire.error(request.id, wire.INTERNAL_ERROR, text))
        else:
            self._start(handler, request)

    def _start(self, handler: Handler, request: wire.Request) -> None:
        name = f"mcp-handler-{self._server}"
        try:
            threading.Thread(target=self._run, args=(handler, request), name=name, daemon=True).start()
        except RuntimeError as error:  # no thread to be had
            self._free.release()
            self._post(wire.error(request.id, wire.INTERNAL_ERROR, f"the client could not start a handler: {error}"))

    def _run(self, handler: Handler, request: wire.Request) -> None:
        try:
            self._send(self._result(handler, request))
        finally:
            self._free.release()

    def _result(self, handler: Handler, request: wire.Request) -> Message:
        try:
            body = handler(self._server, request.params)
            if not isinstance(body, dict):
                raise TypeError(f"the handler returned {type(body).__name__}, not a dict")
            reply = wire.result(request.id, body)
            wire.encode(reply)
            return reply
        except BaseException as error:  # SystemExit too: in this thread it would end nothing but the answer
            text = f"the client's handler of {request.method} failed: {type(error).__name__}: {error}"
            return wire.error(request.id, wire.INTERNAL_ERROR, text)
