"""What differs between protocol revisions, one object each; session.py knows no version.

An era opens a session, dresses the parameters of each request, and says whether the server
may send requests. To add a revision, add an Era here and a line in `choose`.

Today: 2025-11-25, with `initialize`. What it leaves out: 2026-07-28 (no handshake, `_meta`
on each request).
"""

from typing import Protocol

from .errors import ConfigError, HandshakeError, RpcError
from .wire import Message

CLIENT_INFO = {"name": "mcp_harness", "version": "0.1.0"}


class Peer(Protocol):
    """What an era needs of a session while it opens it."""

    server: str
    capabilities: Message  # ours, by the handlers that were given

    def request(self, method: str, params: Message | None, deadline: float) -> Message: ...

    def notify(self, method: str, params: Message | None = None) -> None: ...


class Era(Protocol):
    """One protocol revision."""

    version: str
    server_may_ask: bool  # the server may send requests of its own

    def open(self, peer: Peer, deadline: float) -> Message:
        """Do what has to come first. Returns the server's side of it; raises HandshakeError or a ServerError."""
        ...

    def dress(self, params: Message) -> Message:
        """The parameters of a request as this revision wants them."""
        ...


class Initialize:
    """2025-11-25: `initialize`, its result, `notifications/initialized`; older servers answer with their revision."""

    version = "2025-11-25"
    server_may_ask = True
    spoken = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # alike in everything that we use

    def open(self, peer: Peer, deadline: float) -> Message:
        params = {
            "protocolVersion": self.version,
            "capabilities": peer.capabilities,
            "clientInfo": CLIENT_INFO,
        }
        try:
            result = peer.request("initialize", params, deadline)
        except RpcError as error:
            raise HandshakeError(peer.server, f"server {peer.server!r} refused initialize: {error}") from error
        answered = result.get("protocolVersion")
        if answered not in self.spoken:
            spoken = ", ".join(self.spoken)
            message = (
                f"server {peer.server!r} answered initialize with protocol version {answered!r}; this client "
                f"speaks {spoken}, so the session was given up: use a version of the server that speaks one of them"
            )
            raise HandshakeError(peer.server, message)
        peer.notify("notifications/initialized")
        return result

    def dress(self, params: Message) -> Message:
        return params


def choose(server: str, era: str) -> Era:
    """The era for a configured value. Raises ConfigError for a revision that is not built yet."""
    if era in ("auto", Initialize.version):
        return Initialize()
    raise ConfigError(f"server {server!r}: era {era!r} is not supported yet: use 'auto' or '{Initialize.version}'")
