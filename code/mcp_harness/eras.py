"""What differs between protocol revisions, one object each; session.py knows no version.

An era opens a session, dresses the parameters of each request, judges each result, and says
whether the server may send requests. To add a revision, add an Era here and a line in `choose`.

2025-11-25  `initialize` and `notifications/initialized` first; then plain parameters.
2026-07-28  no handshake: each request carries in `_meta` what the handshake used to fix, and
            each result says what kind it is (`resultType`). We ask `server/discover` first all
            the same: it is the one question that tells what the server can do.

What it leaves out: which of the two a server speaks. That is found out in probe.py.

Sources: 2025-11-25, lifecycle; 2026-07-28, base protocol, versioning, `server/discover`.
"""

from collections.abc import Sequence
from typing import Protocol

from . import wire
from .errors import BadReply, HandshakeError, RpcError
from .pending import Waiter
from .wire import Message

CLIENT_INFO = {"name": "mcp_harness", "version": "0.1.0"}
META = "io.modelcontextprotocol/"  # the keys in `_meta` that the protocol itself defines
MODERN = ("2026-07-28",)  # without a handshake; the newest first
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # with `initialize`; alike in all that we use
UNSUPPORTED_VERSION, MISSING_CAPABILITY = -32022, -32021  # codes that only a server of 2026-07-28 has
MAY_ASK_BACK = ("tools/call", "prompts/get", "resources/read")  # whose result may be `input_required`
MAX_REFUSALS = 3  # of a version that the server says it supports: then it contradicts itself for ever


class Peer(Protocol):
    """What an era needs of a session while it opens it."""

    server: str
    capabilities: Message  # ours, by the handlers that were given
    era: "Era"

    def request(self, method: str, params: Message | None, deadline: float) -> Message: ...

    def send(self, method: str, params: Message, waiter: Waiter, deadline: float) -> int: ...

    def notify(self, method: str, params: Message | None = None) -> None: ...

    def read(self, body: Message, method: str) -> Message: ...


class Era(Protocol):
    """One protocol revision."""

    version: str
    server_may_ask: bool  # the server may send requests of its own
    asks_in_results: bool  # a result may be a question (`input_required`)
    listens: bool  # changes are announced only inside `subscriptions/listen`

    def open(self, peer: Peer, deadline: float) -> Message:
        """Do what has to come first. Returns the server's side of it; raises HandshakeError or a ServerError."""
        ...

    def dress(self, params: Message) -> Message:
        """The parameters of a request as this revision wants them."""
        ...

    def encode(self, id: int, method: str, params: Message) -> bytes:
        """A request with the parameters dressed, as one frame. Raises ValueError or TypeError for what is no JSON."""
        ...

    def judge(self, server: str, method: str, result: Message) -> Message:
        """The result, if this revision allows it; raises BadReply."""
        ...


class Initialize:
    """2025-11-25: `initialize`, its result, `notifications/initialized`; older servers answer with their revision."""

    version = LEGACY[0]
    server_may_ask = True
    asks_in_results = listens = False

    def hello(self, capabilities: Message) -> Message:
        """The parameters of `initialize`."""
        return {"protocolVersion": self.version, "capabilities": capabilities, "clientInfo": CLIENT_INFO}

    def open(self, peer: Peer, deadline: float) -> Message:
        try:
            result = peer.request("initialize", self.hello(peer.capabilities), deadline)
        except RpcError as error:
            raise self.refused(peer, error) from error
        return self.accept(peer, result)

    def accept(self, peer: Peer, result: Message) -> Message:
        """The server has answered `initialize`: say that we are ready, or that we cannot go on."""
        answered = result.get("protocolVersion")
        if answered not in LEGACY:
            message = (
                f"server {peer.server!r} answered initialize with protocol version {answered!r}; this client "
                f"speaks {', '.join(LEGACY)}, so the session was given up: use a version of the server that "
                "speaks one of them"
            )
            raise HandshakeError(peer.server, message)
        peer.notify("notifications/initialized")
        return result

    def refused(self, peer: Peer, error: RpcError) -> HandshakeError:
        return HandshakeError(peer.server, f"server {peer.server!r} refused initialize: {error}")

    def dress(self, params: Message) -> Message:
        return params

    def encode(self, id: int, method: str, params: Message) -> bytes:
        return wire.encode_request(id, method, params)

    def judge(self, server: str, method: str, result: Message) -> Message:
        return result


class Stateless:
    """2026-07-28: no handshake. A request to this process says all that the server has to know."""

    server_may_ask = False
    asks_in_results = listens = True

    def __init__(self, capabilities: Message, version: str = MODERN[0]) -> None:
        self.version = version
        self._capabilities = capabilities
        self._set_meta()

    def _set_meta(self) -> None:
        self._meta = {
            META + "protocolVersion": self.version,
            META + "clientInfo": CLIENT_INFO,
            META + "clientCapabilities": self._capabilities,
        }
        self._ready = f'"_meta":{wire.to_json(self._meta)}'

    def open(self, peer: Peer, deadline: float) -> Message:
        """Ask `server/discover`; at -32022 again, at a version that the server lists. Never `initialize`."""
        for _ in range(MAX_REFUSALS):
            try:
                return self.accept(peer, peer.request("server/discover", None, deadline))
            except RpcError as error:
                version = mutual(supported(error.data), MODERN)
                if error.code != UNSUPPORTED_VERSION or version is None:
                    raise self.refused(peer, error) from error
                self.version = version
                self._set_meta()
        text = f"server {peer.server!r} refused {self.version} {MAX_REFUSALS} times and says that it supports it"
        raise HandshakeError(peer.server, text)

    def accept(self, peer: Peer, result: Message) -> Message:
        """The server has answered `server/discover`: go on at a version that both speak."""
        offered = result.get("supportedVersions")
        version = mutual(offered, MODERN)
        if version is None:
            text = f"server {peer.server!r} answered server/discover with the versions {offered!r}; this client speaks"
            raise HandshakeError(peer.server, f"{text} {', '.join(MODERN)}, so it was given up")
        self.version = version
        self._set_meta()
        return result

    def refused(self, peer: Peer, error: RpcError) -> HandshakeError:
        hint = ""
        if error.code == MISSING_CAPABILITY:
            hint = f" (it needs {named_capabilities(error.data)}: give the host a handler for it)"
        text = f"server {peer.server!r} refused server/discover in revision {self.version}: {error}{hint}"
        return HandshakeError(peer.server, text)

    def dress(self, params: Message) -> Message:
        return {**params, "_meta": self._meta}

    def encode(self, id: int, method: str, params: Message) -> bytes:
        """`_meta` is encoded once: it is longer than most parameters."""
        if "_meta" in params:  # ours takes its place
            return wire.encode(wire.request(id, method, self.dress(params)))
        return wire.encode_request(id, method, params, self._ready)

    def judge(self, server: str, method: str, result: Message) -> Message:
        """An absent `resultType` means "complete"; one that nobody knows makes the result invalid."""
        kind = result.get("resultType", "complete")
        if kind == "complete" or (kind == "input_required" and method in MAY_ASK_BACK):
            return result
        text = f"server {server!r} answered {method} with resultType {kind!r}, which means nothing in {self.version}"
        raise BadReply(server, f"{text}; the result was thrown away")


def mutual(offered: object, spoken: Sequence[str]) -> str | None:
    """The first of our versions that is in the server's list, if that is a list."""
    return next((version for version in spoken if isinstance(offered, list) and version in offered), None)


def supported(data: object) -> list[str] | None:
    """`data.supported` of an error -32022, None where there is no such list."""
    versions = data.get("supported") if isinstance(data, dict) else None
    return versions if isinstance(versions, list) and all(isinstance(one, str) for one in versions) else None


def named_capabilities(data: object) -> str:
    """The capabilities that an error -32021 asks for, as words."""
    required = data.get("requiredCapabilities") if isinstance(data, dict) else None
    return ", ".join(map(str, required)) if isinstance(required, dict) else "a capability that it does not name"
