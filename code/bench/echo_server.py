"""The server that everybody is measured against: standard library, two tools, both revisions.

`echo_server.py [--era 2026-07-28] [--name NAME] [--big BYTES] [--ready]`: `echo` gives its text
back, `big` a text of that many bytes, made beforehand. With --ready it writes one byte when it is up.
The same work for every client: one loop, one line at a time, no check of anything. It imports
as little as it can: what a process needs to start hides what its client needs.
"""

import json
import sys

Message = dict[str, object]

META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
LINE = 'he said "yes", and then\twrote it down: a line as tools send them, number after number\n'
METHOD_NOT_FOUND = -32601


def tool(name: str, key: str, kind: str) -> Message:
    """The definition of a tool with one argument."""
    schema = {"type": "object", "properties": {key: {"type": kind}}, "required": [key]}
    return {"name": name, "description": f"The {name} tool", "inputSchema": schema}


TOOLS = [tool("echo", "text", "string"), tool("big", "text", "string")]


def text_of(size: int) -> str:
    """A text of that many bytes, with characters in it that JSON escapes."""
    return (LINE * (size // len(LINE) + 1))[:size]


def main() -> None:
    """Answer requests until stdin ends."""
    words = iter(sys.argv[1:])
    options = {word: "" if word == "--ready" else next(words) for word in words}
    era, name = options.get("--era", "2025-11-25"), options.get("--name", "echo")
    modern = era == MODERN
    info = {"name": name, "version": "1"}
    big = text_of(int(options.get("--big", "0")))

    def answer(method: str, params: Message) -> Message | None:
        if method == "tools/call":
            text = params["arguments"]["text"] if params["name"] == "echo" else big  # type: ignore[index]
            return {"content": [{"type": "text", "text": text}]}
        if method == "tools/list":
            return {"tools": TOOLS, "ttlMs": 300_000, "cacheScope": "public"} if modern else {"tools": TOOLS}
        if method == "server/discover" and modern:
            found = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}
            return {**found, "_meta": {META + "serverInfo": info}}
        if method == "initialize" and not modern:
            return {"protocolVersion": era, "capabilities": {"tools": {}}, "serverInfo": info}
        return None

    out = sys.stdout.buffer
    if "--ready" in options:
        out.write(b"!")
        out.flush()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request["method"], request.get("params") or {})
        reply: Message = {"jsonrpc": "2.0", "id": request["id"]}
        if result is None:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
        else:
            reply["result"] = {"resultType": "complete", **result} if modern else result
        out.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
