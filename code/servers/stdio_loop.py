"""Put a server function behind stdin and stdout: one JSON message a line, UTF-8.

The function is one of `main.py`: a request dict goes in, a reply dict or None comes out.
Nothing but messages is ever written to stdout. The loop ends when stdin ends.
"""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
Server = Callable[[Message], Message | None]

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603  # error codes of JSON-RPC 2.0


def answer_line(server: Server, line: bytes) -> Message | None:
    """The reply to one line, or None where none is due (a notification, an empty line)."""
    if not line.strip():
        return None
    try:
        request = json.loads(line)
    except ValueError:
        return failure(PARSE_ERROR, "Parse error: one JSON object a line, please")
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        return failure(INVALID_REQUEST, "Invalid request: an object with a method was expected")
    try:
        return server(request)
    except Exception as error:  # such as params that are no object: the next line is served all the same
        return failure(INTERNAL_ERROR, f"Internal error: {type(error).__name__}", request.get("id"))


def failure(code: int, message: str, request_id: Any = None) -> Message:
    """An error reply; without an id it answers something whose id could not be read."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def serve(server: Server) -> None:
    """Read requests from stdin and write replies to stdout, until stdin ends."""
    try:
        for line in sys.stdin.buffer:
            reply = answer_line(server, line)
            if reply is not None:
                sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
                sys.stdout.buffer.flush()
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the client has gone: there is nobody left to answer


def run(server: Server, description: str) -> None:
    """The command line of a server script: `NAME.py [--era 2026-07-28]`."""
    parser = argparse.ArgumentParser(description=description, epilog="Ends when stdin ends.")
    parser.add_argument("--era", choices=["2025-11-25", "2026-07-28"], default="2025-11-25", help="protocol revision")
    if parser.parse_args().era == "2026-07-28":
        from servers.stateless import stateless

        server = stateless(server)
    serve(server)
