"""The server that everybody is measured against: standard library, two tools, both revisions.

`echo_server.py [--era 2026-07-28] [--name NAME] [--big BYTES] [--ready]`: `echo` gives its text
back, `big` a text of that many bytes, made beforehand. With --ready it writes one byte when it is up.
The same work for every client: one loop, one line at a time, no check of anything.
"""

import argparse
import json
import sys
from typing import Any

META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
LINE = 'he said "yes", and then\twrote it down: a line as tools send them, number after number\n'
METHOD_NOT_FOUND = -32601


def tool(name: str, key: str, kind: str) -> dict[str, Any]:
    """The definition of a tool with one argument."""
    schema = {"type": "object", "properties": {key: {"type": kind}}, "required": [key]}
    return {"name": name, "description": f"The {name} tool", "inputSchema": schema}


TOOLS = [tool("echo", "text", "string"), tool("big", "text", "string")]


def text_of(size: int) -> str:
    """A text of that many bytes, with characters in it that JSON escapes."""
    return (LINE * (size // len(LINE) + 1))[:size]


def main() -> None:
    """Answer requests until stdin ends."""
    parser = argparse.ArgumentParser(description="The echo server of the benchmark.")
    parser.add_argument("--era", default="2025-11-25")
    parser.add_argument("--name", default="echo")
    parser.add_argument("--big", type=int, default=0)
    parser.add_argument("--ready", action="store_true")
    options = parser.parse_args()
    modern = options.era == MODERN
    info = {"name": options.name, "version": "1"}
    big = text_of(options.big)

    def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        if method == "tools/call":
            text = params["arguments"]["text"] if params["name"] == "echo" else big
            return {"content": [{"type": "text", "text": text}]}
        if method == "tools/list":
            return {"tools": TOOLS, "ttlMs": 300_000, "cacheScope": "public"} if modern else {"tools": TOOLS}
        if method == "server/discover" and modern:
            found = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}
            return {**found, "_meta": {META + "serverInfo": info}}
        if method == "initialize" and not modern:
            return {"protocolVersion": options.era, "capabilities": {"tools": {}}, "serverInfo": info}
        return None

    out = sys.stdout.buffer
    if options.ready:
        out.write(b"!")
        out.flush()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request["method"], request.get("params") or {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if result is None:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
        else:
            reply["result"] = {"resultType": "complete", **result} if modern else result
        out.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
