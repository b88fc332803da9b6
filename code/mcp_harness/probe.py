"""Which revision does this server speak? One question and the specification's rules for the answer.

    server/discover →   a DiscoverResult                      2026-07-28
                        error -32022 with a list of versions  2026-07-28, asked again at one of them
                        any other error, nonsense, silence    `initialize`, 2025-11-25 or older
                        the process ends                      DiedOnProbe: start it again, never probe it

No single error code means "old": servers of 2025-11-25 answer -32601, -32602, anything, or nothing.
Silence costs PROBE_TIMEOUT; then `initialize` goes out while the probe still waits, and the first
answer that settles it wins. So a slow server of 2026-07-28 is recognised too: by its late
DiscoverResult, or by the -32022 with which it refuses `initialize`.

What it leaves out: remembering. The answer holds for one process; the next one is asked again.

Source: revision 2026-07-28, versioning, "Backward compatibility": stdio.
"""

import contextlib
import time
from dataclasses import dataclass

from . import eras, wire
from .eras import Era, Initialize, Peer, Stateless
from .errors import BadReply, HandshakeError, RequestTimeout, RpcError, ServerDied
from .pending import Mailbox
from .wire import Message

PROBE_TIMEOUT = 5.0  # seconds: enough for most servers to start; one that is slower may answer later
PROBE_SHARE = 0.5  # of what start_timeout leaves: a silent old server needs the rest for `initialize`


class DiedOnProbe(ServerDied):
    """The process ended before it was known which revision it speaks.

    Some servers end at any first message but `initialize`, with or without an error: it may live
    if it is not probed.
    """


@dataclass(frozen=True)
class Verdict:
    """What an answer to the probe says: a version of the new kind, or None: the server is of the old kind."""

    version: str | None
    result: Message | None = None  # the DiscoverResult, if it was one


OLD = Verdict(None)


class Probe:
    """The era of a session of which nobody knows yet which it is; it ends with `peer.era` set to another."""

    version = eras.MODERN[0]
    server_may_ask = True  # a server that asks at this point is of the old kind, and must be answered
    asks_in_results = listens = False

    def __init__(self, timeout: float = PROBE_TIMEOUT) -> None:
        self._timeout = timeout
        self._answers = Mailbox()
        self._answered = False  # the probe
        self._settled = False  # which revision it is

    def open(self, peer: Peer, deadline: float) -> Message:
        """Find out, and open the session as that revision demands. Raises DiedOnProbe and what `Era.open` raises."""
        try:
            hello = self._find_out(peer, deadline)
            self._answers.standing = True  # an answer that still comes is heard by nobody
            return hello
        except ServerDied as error:
            if self._settled:
                raise
            raise DiedOnProbe(error.server, error.reason, error.retry_in) from error

    def _find_out(self, peer: Peer, deadline: float) -> Message:
        now = time.monotonic()
        until = now + min(self._timeout, (deadline - now) * PROBE_SHARE)
        peer.send("server/discover", Stateless(peer.capabilities).dress({}), self._answers, until)
        verdict = OLD
        with contextlib.suppress(BadReply):  # an answer that nobody could read
            body = self._answers.wait(until - time.monotonic())
            if body is not None:
                verdict = self._judge(peer, body)
        if verdict.version is not None:
            return self._go_on(peer, verdict, deadline)
        peer.era = Initialize()
        initialize = peer.send("initialize", peer.era.hello(peer.capabilities), self._answers, deadline)
        while (body := self._answers.wait(deadline - time.monotonic())) is not None:
            if wire.own_id(body.get("id")) == initialize:
                return self._initialized(peer, peer.era, body, deadline)
            verdict = self._judge(peer, body)  # the probe's answer, late
            if verdict.version is not None:
                return self._go_on(peer, verdict, deadline)
        asked = "initialize" if self._answered else "server/discover nor to initialize"
        raise RequestTimeout(peer.server, f"server {peer.server!r} gave no reply to {asked}")

    def _judge(self, peer: Peer, body: Message) -> Verdict:
        self._answered = True
        return judge(peer.server, body)

    def _go_on(self, peer: Peer, verdict: Verdict, deadline: float) -> Message:
        """The server is of the new kind, and from here on nothing leads back."""
        self._settled = True
        peer.era = modern = Stateless(peer.capabilities, verdict.version or eras.MODERN[0])
        return modern.open(peer, deadline) if verdict.result is None else modern.accept(peer, verdict.result)

    def _initialized(self, peer: Peer, old: Initialize, body: Message, deadline: float) -> Message:
        self._settled = True
        try:
            return old.accept(peer, peer.read(body, "initialize"))
        except RpcError as error:
            if error.code == eras.UNSUPPORTED_VERSION:  # only a server of the new kind says so
                return self._go_on(peer, Verdict(eras.MODERN[0]), deadline)
            raise old.refused(peer, error) from error

    def dress(self, params: Message) -> Message:
        return params

    def encode(self, id: int, method: str, params: Message) -> bytes:
        return wire.encode_request(id, method, params)

    def judge(self, server: str, method: str, result: Message) -> Message:
        return result


def judge(server: str, body: Message) -> Verdict:
    """What the answer to the probe says. Raises HandshakeError where no revision is left to speak."""
    error, result = body.get("error"), body.get("result")
    if isinstance(error, dict):
        code, data = error.get("code"), error.get("data")
        if code == eras.UNSUPPORTED_VERSION:
            return choose_from(server, eras.supported(data), None)
        if code == eras.MISSING_CAPABILITY and isinstance(data, dict) and "requiredCapabilities" in data:
            text = f"server {server!r} needs {eras.named_capabilities(data)} and was given up: give the host a handler"
            raise HandshakeError(server, f"{text} for it")
        return OLD
    return choose_from(server, result.get("supportedVersions"), result) if isinstance(result, dict) else OLD


def choose_from(server: str, offered: object, result: Message | None) -> Verdict:
    """The newest revision that the server lists and we speak. A list that is none says nothing at all."""
    version = eras.mutual(offered, eras.MODERN)
    if version is not None:
        return Verdict(version, result)
    if not isinstance(offered, list) or not offered or eras.mutual(offered, eras.LEGACY):
        return OLD
    spoken = ", ".join(eras.MODERN + eras.LEGACY)
    text = f"server {server!r} speaks {', '.join(map(str, offered))}; this client speaks {spoken}, so it was given up"
    raise HandshakeError(server, text)


def choose(era: str, capabilities: Message) -> Era:
    """The era of a new session, for a configured value: only "auto" is probed."""
    if era in eras.MODERN:
        return Stateless(capabilities, era)
    return Initialize() if era in eras.LEGACY else Probe()
