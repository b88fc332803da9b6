"""Questions of the server: sampling, elicitation, roots; and its ping.

Revision 2025-11-25: they are requests (`answer`). Revision 2026-07-28: they come in the result
of a call (`gather`, used by rounds.py). The handlers are the same.

Guarantees: every request is answered. A ping at once, from the reader thread and without
waiting; what a handler answers, from a thread of its own, so that the reader goes on reading
and a handler may itself call a tool of the same server. A handler that raises costs the
server an error (2025) or the caller a HandlerFailed (2026), never the client its reader. What
we did not declare, we refuse.

What it leaves out: asking a person. That is what a handler is for.

Sources: client features, both revisions; a capability is declared at `initialize` (2025) or
with each request (2026).
"""

import functools
import threading
import time
from collections.abc import Callable, Mapping

from . import wire
from .errors import BadReply, HandlerFailed, RequestTimeout
from .latch import start
from .pending import Mailbox, Pending
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
    """Answers the questions of one server. `post` must not wait; `send` may."""

    def __init__(
        self,
        server: str,
        callbacks: Callbacks,
        pending: Pending,
        post: Callable[[Message], None],
        send: Callable[[Message], None],
    ) -> None:
        self._server, self._handlers, self._pending = server, callbacks.handlers, pending
        self._post, self._send = post, send
        self._running = 0  # handlers
        self._counting = threading.Lock()

    # --- 2025-11-25: a request, answered by a message ----------------------------------------

    def answer(self, request: wire.Request) -> None:
        """Answer now, or start the handler. Called on the reader thread: never waits."""
        handler = self._handlers.get(request.method)
        if request.method == "ping":
            self._post(wire.result(request.id, {}))
        elif handler is None:
            text = f"Method not found: {request.method[: wire.PREVIEW_CHARS]} (this client did not declare it)"
            self._post(wire.error(request.id, wire.METHOD_NOT_FOUND, text))
        elif undeclared_mode(request.method, request.params):
            text = f"Invalid params: {undeclared_mode(request.method, request.params)}"
            self._post(wire.error(request.id, wire.INVALID_PARAMS, text))
        else:
            problem = self._start(lambda: self._send(self._reply(handler, request)))
            if problem:
                self._post(wire.error(request.id, wire.INTERNAL_ERROR, problem))

    def _reply(self, handler: Handler, request: wire.Request) -> Message:
        try:
            return wire.result(request.id, run_handler(handler, self._server, request.method, request.params))
        except HandlerFailed as error:
            return wire.error(request.id, wire.INTERNAL_ERROR, str(error))

    # --- 2026-07-28: questions in a result, answered by the next call ------------------------

    def gather(self, questions: Mapping[str, Message], deadline: float) -> dict[str, Message]:
        """The answers to all questions, asked at the same time. `deadline` is of time.monotonic.

        Raises BadReply for what we did not declare, HandlerFailed, RequestTimeout, or what the session ended with.
        """
        for question in questions.values():
            self._check_declared(question["method"], question.get("params", {}))
        answers: dict[str, Message] = {}
        mailbox = Mailbox()
        with self._pending.watched(mailbox):  # so that the end of the session ends the waiting
            for key, question in questions.items():
                problem = self._start(functools.partial(self._ask, key, question, mailbox))
                if problem:
                    raise HandlerFailed(problem)
            while len(answers) < len(questions):
                answer = mailbox.wait(deadline - time.monotonic())
                if answer is None:
                    missing = ", ".join(questions[key]["method"] for key in questions if key not in answers)
                    text = f"server {self._server!r} asked for {missing}, and the handler did not answer in time"
                    raise RequestTimeout(self._server, f"{text}. Raise the timeout of the call")
                answers[answer["key"]] = answer["answer"]
        return {key: answers[key] for key in questions}

    def _check_declared(self, method: str, params: Message) -> None:
        why = undeclared_mode(method, params)
        if method not in self._handlers:
            why = "this client did not declare it: give the host a handler, or do without this tool"
        if why:
            text = f"server {self._server!r} asked for {method[: wire.PREVIEW_CHARS]!r} in the result of a call: {why}"
            raise BadReply(self._server, f"{text}. Nothing was answered; the call was given up")

    def _ask(self, key: str, question: Message, mailbox: Mailbox) -> None:
        method = question["method"]
        try:
            answer = run_handler(self._handlers[method], self._server, method, question.get("params", {}))
        except HandlerFailed as error:
            failure = error
            mailbox.fail(lambda: failure)
        else:
            mailbox.fill({"key": key, "answer": answer})

    # --- both ----------------------------------------------------------------------------------

    def _start(self, job: Callable[[], None]) -> str | None:
        """Run a job in a thread of its own; returns why that cannot be."""
        with self._counting:
            if self._running >= MAX_RUNNING:
                return f"{MAX_RUNNING} requests of this server are being answered: this one was refused"
            self._running += 1

        def work() -> None:
            try:
                job()
            finally:
                self._one_less()

        started = False
        try:
            started = start(threading.Thread(target=work, name=f"mcp-handler-{self._server}", daemon=True))
        finally:
            if not started:
                self._one_less()
        return None if started else "the client could not start a handler: the system gives no thread"

    def _one_less(self) -> None:
        with self._counting:
            self._running -= 1


def run_handler(handler: Handler, server: str, method: str, params: Message) -> Message:
    """What the handler answers. Raises HandlerFailed, whatever went wrong in it."""
    try:
        body = handler(server, params)
        if not isinstance(body, dict):
            raise TypeError(f"the handler returned {type(body).__name__}, not a dict")
        wire.encode(body)
        return body
    except BaseException as error:  # SystemExit too: in this thread it would end nothing but the answer
        text = f"the client's handler of {method} failed: {type(error).__name__}: {error}"
        raise HandlerFailed(text) from error


def undeclared_mode(method: str, params: Message) -> str | None:
    """Why this elicitation is refused, None if it is not: of its modes we declare `form` only."""
    mode = params.get("mode", "form")
    if method != METHODS["elicitation"] or mode in DECLARED["elicitation"]:
        return None
    return f"this client did not declare the mode {str(mode)[: wire.PREVIEW_CHARS]!r} of elicitation"
