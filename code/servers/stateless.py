"""The revision of 2026-07-28 round a server function of 2025-11-25.

There is no handshake: `initialize` and `ping` are gone, and each request carries in
`_meta` what the handshake used to fix. Each result says what kind it is (`resultType`),
and a list says how long it may be kept (`ttlMs`, `cacheScope`). A client that wants to
hear of changes asks with `subscriptions/listen`; that request stands open, and the first
thing on it is an acknowledgement.
"""

from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
Server = Callable[[Message], Message | None]

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
METHOD_NOT_FOUND, INVALID_PARAMS, UNSUPPORTED_PROTOCOL_VERSION = -32601, -32602, -32022
LIST_TTL_MS = 300_000  # these servers never change their tools, so five minutes are safe


def stateless(server: Server) -> Server:
    """The same tools, spoken in the revision of 2026-07-28."""
    request = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    hello = (server(request) or {})["result"]  # only we shake hands, once, to learn what the server can do

    def serve(request: Message) -> Message | None:
        if "id" not in request:
            return None
        method, meta = request["method"], request.get("params", {}).get("_meta", {})
        if method in ("initialize", "ping"):
            return error(request, METHOD_NOT_FOUND, f"Method not found: {method} (this server speaks {VERSION})")
        for key in ("protocolVersion", "clientCapabilities"):
            if META + key not in meta:
                return error(request, INVALID_PARAMS, f"Missing _meta key: {META}{key}")
        asked = meta[META + "protocolVersion"]
        if asked != VERSION:
            data = {"supported": [VERSION], "requested": asked}
            return error(request, UNSUPPORTED_PROTOCOL_VERSION, f"Unsupported protocol version: {asked}", data)
        if method == "server/discover":
            return result(request, {"supportedVersions": [VERSION], "capabilities": hello["capabilities"],
                                    "_meta": {META + "serverInfo": hello["serverInfo"]}})  # fmt: skip
        if method == "subscriptions/listen" and hello["capabilities"].get("tools", {}).get("listChanged"):
            return acknowledged(request)
        reply = server(request)
        if reply is None or "error" in reply:
            return reply
        return result(request, reply["result"])

    return serve


def acknowledged(request: Message) -> Message:
    """The stream stands open, for the changes that we announce; ours never come, so nothing follows."""
    asked = request["params"].get("notifications", {})
    honoured = {"toolsListChanged": True} if asked.get("toolsListChanged") else {}
    params = {"_meta": {META + "subscriptionId": request["id"]}, "notifications": honoured}
    return {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}


def result(request: Message, body: Message) -> Message:
    """A complete result; what may be cached also says for how long and for whom."""
    kept = {"ttlMs": LIST_TTL_MS, "cacheScope": "public"} if request["method"] != "tools/call" else {}
    return {"jsonrpc": "2.0", "id": request["id"], "result": {"resultType": "complete", **body, **kept}}


def error(request: Message, code: int, message: str, data: Message | None = None) -> Message:
    """A JSON-RPC error reply."""
    body: Message = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return {"jsonrpc": "2.0", "id": request["id"], "error": body}
