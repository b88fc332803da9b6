"""A server of revision 2026-07-28 whose list of tools grows while it runs.

The tool `grow` adds a tool. Whoever has asked with `subscriptions/listen` is told so, with
`--lose` only in the log on stderr: a notification that never arrives. `--slow` plays a server
that is still starting when its client loses patience: it answers its first request together
with the second. `--ttl` says for how many milliseconds a list may be kept.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from main import make_server
from servers import stateless, stdio_loop
from servers.stateless import META, UNSUPPORTED_PROTOCOL_VERSION, VERSION

Message = dict[str, Any]
ACKNOWLEDGED, LIST_CHANGED = "notifications/subscriptions/acknowledged", "notifications/tools/list_changed"


class Changing:
    """The server; `serve` writes what is to be said, which may be several messages or none."""

    def __init__(self, lose: bool, slow: bool, ttl_ms: int) -> None:
        self.lose, self.slow, self.ttl_ms = lose, slow, ttl_ms
        self.grown, self.listening, self.held = 0, list[Any](), list[Message]()

    def serve(self, request: Message) -> Message | None:
        if request.get("method") == "notifications/cancelled":
            ended = request.get("params", {}).get("requestId")
            self.listening = [one for one in self.listening if one != ended]
        if "id" not in request:
            return None
        if self.slow:
            self.slow = False
            self.held.append(request)
            return None
        for late in self.held:
            send(self.answer(late))
        self.held = []
        return self.answer(request)

    def answer(self, request: Message) -> Message | None:
        if request["method"] == "initialize":
            asked = request.get("params", {}).get("protocolVersion")
            data = {"supported": [VERSION], "requested": asked}
            text = f"Unsupported protocol version: {asked}"
            return stateless.error(request, UNSUPPORTED_PROTOCOL_VERSION, text, data)
        if request["method"] == "subscriptions/listen":
            return self.listen(request)
        reply = stateless.stateless(make_server("changing", {"tools": {"listChanged": True}}, *self.tools()))(request)
        if reply and "ttlMs" in reply.get("result", {}):
            reply["result"]["ttlMs"] = self.ttl_ms
        return reply

    def tools(self) -> list[Callable[[], str]]:
        """The functions that are tools now."""

        def grow() -> str:
            "Add a tool to this server."
            self.grown += 1
            self.tell()
            return f"{self.grown} added"

        return [grow, *(added(f"tool_{number}") for number in range(1, self.grown + 1))]

    def tell(self) -> None:
        """Announce the change on each stream that stands open."""
        for request in self.listening:
            notice = {"jsonrpc": "2.0", "method": LIST_CHANGED, "params": {"_meta": {META + "subscriptionId": request}}}
            if self.lose:
                print(f"lost: {json.dumps(notice)}", file=sys.stderr, flush=True)
            else:
                send(notice)

    def listen(self, request: Message) -> Message:
        """Keep the request open: its first answer is a notification, and its result comes at the end, if ever."""
        self.listening.append(request["id"])
        honoured = {"toolsListChanged": True}
        params = {"_meta": {META + "subscriptionId": request["id"]}, "notifications": honoured}
        return {"jsonrpc": "2.0", "method": ACKNOWLEDGED, "params": params}


def added(name: str) -> Callable[[], str]:
    """A tool of this name."""

    def tool() -> str:
        "A tool that came later."
        return "here I am"

    tool.__name__ = name
    return tool


def send(message: Message | None) -> None:
    """Write one message."""
    if message is not None:
        sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A list of tools that grows.", epilog="Ends when stdin ends.")
    parser.add_argument("--lose", action="store_true", help="lose every notification")
    parser.add_argument("--slow", action="store_true", help="answer the first request together with the second")
    parser.add_argument("--ttl", type=int, default=60_000, help="milliseconds for which a list may be kept")
    options = parser.parse_args()
    stdio_loop.serve(Changing(options.lose, options.slow, options.ttl).serve)
