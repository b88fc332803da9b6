"""The exceptions of the client: your mistakes on one side, the server's failures on the other.

    HarnessError
    ├── UsageError               the caller or the configuration is at fault: repeating will not help
    │   ├── ConfigError          (also a ValueError)
    │   ├── ArgumentsError       (also a ValueError)  the arguments cannot be sent
    │   ├── UnknownServer        (also a LookupError)
    │   ├── UnknownTool          (also a LookupError)  .suggestions
    │   ├── AmbiguousTool        (also a LookupError)  .candidates
    │   ├── HandlerFailed        a handler for the server's questions raised, or answered nonsense
    │   └── HostClosed
    └── ServerError              a server is at fault: .server names it
        ├── SpawnError           no process could be started
        ├── HandshakeError       a process ran, but no session was opened
        ├── ServerDied           .reason, .retry_in
        ├── RequestTimeout       (also a TimeoutError)
        ├── RpcError             the server answered with a JSON-RPC error: .code, .message, .data
        └── BadReply             the server answered with something that is no valid reply

A tool that fails is none of these: it is a `ToolResult` with `is_error` true, for the model to read.
Each message says what happened, to whom, what the program did, and what you can do.
"""

from collections.abc import Sequence
from typing import Any


class HarnessError(Exception):
    """The root: everything that this package raises on purpose."""


class UsageError(HarnessError):
    """The caller or the configuration is at fault."""


class ConfigError(UsageError, ValueError):
    """The configuration cannot be used. The message names the server and the key."""


class ArgumentsError(UsageError, ValueError):
    """The arguments of a call are no JSON object. Nothing was sent."""


class UnknownServer(UsageError, LookupError):
    """No server of that name is configured."""


class UnknownTool(UsageError, LookupError):
    """No server offers a tool of that name. `suggestions` are the nearest names that exist."""

    def __init__(self, name: str, suggestions: Sequence[str] = (), detail: str = "") -> None:
        self.name = name
        self.suggestions = tuple(suggestions)
        self.detail = detail or "no server offers it; nothing was called"
        hint = f" Did you mean {' or '.join(map(repr, self.suggestions))}?" if self.suggestions else ""
        super().__init__(f"unknown tool {name!r}: {self.detail}.{hint}")


class AmbiguousTool(UsageError, LookupError):
    """Several servers offer a tool of that name. `candidates` are the names that say which."""

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        self.name = name
        self.candidates = tuple(candidates)
        choice = ", ".join(map(repr, self.candidates))
        super().__init__(f"tool name {name!r} is ambiguous; nothing was called. Use one of {choice}.")


class HandlerFailed(UsageError):
    """A handler (sampling, elicitation, roots) raised, or gave back something that cannot be sent.

    A call raises it in revision 2026-07-28, where the answer is part of the next request; in
    2025-11-25 the server is told with an error and decides.
    """


class HostClosed(UsageError):
    """The host is closed, or was never entered."""


class ServerError(HarnessError):
    """A server is at fault; `server` is its configured name."""

    def __init__(self, server: str, message: str) -> None:
        self.server = server
        super().__init__(message)


class SpawnError(ServerError):
    """The process could not be started. The message shows the command and the PATH that was searched."""


class HandshakeError(ServerError):
    """The process ran, but the session could not be opened or its tools could not be listed."""


class ServerDied(ServerError):
    """The server ended, or is not running. `retry_in` is in seconds, None when no restart is due.

    A call is never replayed: the server may have acted on it before it died.
    """

    def __init__(self, server: str, reason: str, retry_in: float | None = None) -> None:
        self.reason = reason
        self.retry_in = retry_in
        if retry_in is None:
            what_next = "no restart is due; host.restart() starts it again"
        else:
            what_next = f"next start in {retry_in:.1f} s, call again then"
        super().__init__(
            server, f"server {server!r} is not running: {reason.rstrip('.')}. The call was not repeated; {what_next}."
        )


class RequestTimeout(ServerError, TimeoutError):
    """No reply before the deadline. The request was given up and the server was told."""


class RpcError(ServerError):
    """The server answered with a JSON-RPC error; `code`, `message` and `data` are the server's own."""

    def __init__(self, server: str, code: int, message: str, data: Any = None, method: str = "request") -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(server, f"server {server!r} answered {method} with error {code}: {message}")


class BadReply(ServerError):
    """The server answered the request, but not with a valid reply."""
