"""A stdio MCP server that passes each line on to a Streamable HTTP server: `bridge.py URL`.

The official conformance suite speaks HTTP only. With this in between, a client that speaks
stdio only can be judged by it: what the client writes is posted unchanged, what the server
answers, as JSON or as a stream of events, is written to stdout line by line.

Guarantees: lines in and messages out are the same JSON values. A post that fails becomes a
JSON-RPC error for the request it carried, so that the client never waits in vain. Every wait
is bounded, and the process ends soon after its stdin does.

What it leaves out: resuming a stream, authorisation, `x-mcp-header` parameters. Those are
rules for HTTP clients; a stdio client has no say in them.

Source: revisions 2025-11-25 and 2026-07-28, transports, "Streamable HTTP".
"""

import base64
import contextlib
import http.client
import json
import sys
import threading
import urllib.parse
from collections.abc import Iterable, Iterator
from typing import Any

Message = dict[str, Any]

META_VERSION = "io.modelcontextprotocol/protocolVersion"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}  # method → parameter for Mcp-Name
INTERNAL_ERROR = -32603
SILENCE = 30.0  # seconds without a byte from the server: longer than any scenario waits
LAST_POSTS = 1.5  # seconds for posts under way when stdin ends: the client gives us two


class Bridge:
    """One HTTP server and the state of the conversation with it."""

    def __init__(self, url: str, out: Any) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"{url!r} is no http:// address")
        self._host, self._port = parts.hostname, parts.port or 80
        self._path = parts.path or "/"
        self._out, self._writing = out, threading.Lock()
        self.session: str | None = None
        self.version: str | None = None

    def take(self, message: Message) -> threading.Thread | None:
        """Pass on one message of the client: the handshake in order, everything else side by side."""
        if message.get("method") == "initialize":
            self.post(message)
            return None
        if message.get("method") == "notifications/initialized":
            self.post(message)
            return in_thread(self.listen) if self.session else None
        return in_thread(self.post, message)

    def post(self, message: Message) -> None:
        """Post one message and write what comes back. A failure is answered with an error."""
        connection = self._connect()
        try:
            headers = headers_for(message, self.session, self.version)
            connection.request("POST", self._path, json.dumps(message).encode(), headers)
            response = connection.getresponse()
            if message.get("method") == "initialize":
                self.session = response.getheader("Mcp-Session-Id")
            if not self._pass_on(response, message):
                self._fail(message, f"the server answered HTTP {response.status} without a message")
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._fail(message, f"the post failed: {type(error).__name__}: {error}")
        finally:
            connection.close()

    def listen(self) -> None:
        """The stream of 2025-11-25 on which a server sends what no request asked for; a server may have none."""
        connection = self._connect()
        headers = headers_for({}, self.session, self.version) | {"Accept": "text/event-stream"}
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            connection.request("GET", self._path, headers=headers)
            response = connection.getresponse()
            if response.status == http.client.OK:
                self._pass_on(response, {})
        connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._host, self._port, timeout=SILENCE)

    def _pass_on(self, response: http.client.HTTPResponse, message: Message) -> bool:
        """Write the messages of a response; False if a request got no reply from it."""
        answered = not is_request(message)
        for body in messages_in(response):
            if "method" not in body and is_request(message):
                answered = True
                if body.get("id") is None:  # an error about a request whose id the server did not read
                    body["id"] = message["id"]
            self._emit(body)
        return answered

    def _emit(self, body: Message) -> None:
        result = body.get("result")
        if isinstance(result, dict) and isinstance(result.get("protocolVersion"), str):
            self.version = result["protocolVersion"]  # of an InitializeResult, whichever way it came
        with self._writing:
            self._out.write(json.dumps(body).encode() + b"\n")
            self._out.flush()

    def _fail(self, message: Message, why: str) -> None:
        print(why, file=sys.stderr, flush=True)
        if is_request(message):
            self._emit({"jsonrpc": "2.0", "id": message["id"], "error": {"code": INTERNAL_ERROR, "message": why}})


def is_request(message: Message) -> bool:
    """True for what has to be answered."""
    return "method" in message and "id" in message


def headers_for(message: Message, session: str | None, version: str | None) -> dict[str, str]:
    """The HTTP headers that say again what the message says; only 2026-07-28 repeats method and name."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    asked = meta.get(META_VERSION) if isinstance(meta, dict) else None
    if isinstance(asked, str):
        headers["MCP-Protocol-Version"] = asked
        headers["Mcp-Method"] = str(message.get("method"))
        name = params.get(NAMED.get(headers["Mcp-Method"], ""))
        if isinstance(name, str):
            headers["Mcp-Name"] = header_value(name)
    elif version and message.get("method") != "initialize":
        headers["MCP-Protocol-Version"] = version
    if session:
        headers["Mcp-Session-Id"] = session
    return headers


def header_value(text: str) -> str:
    """A text as a header can carry it: as it is, or as base64 between marks."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode('ascii')}?="


def messages_in(response: http.client.HTTPResponse) -> Iterator[Message]:
    """The JSON-RPC messages in a response, whichever of its two forms it has."""
    if (response.getheader("Content-Type") or "").startswith("text/event-stream"):
        texts: Iterable[str] = events(response)
    else:
        texts = [response.read().decode("utf-8", "replace")]
    for text in texts:
        body = read_json(text)
        if isinstance(body, dict) and body.get("jsonrpc") == "2.0":
            yield body


def read_json(text: str) -> object:
    """The value in a text, None where there is none: an HTTP error page, an empty event."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def events(lines: Iterable[bytes]) -> Iterator[str]:
    """The data of each server-sent event: its `data:` lines, joined; an event ends at an empty line."""
    data: list[str] = []
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def in_thread(job: Any, *args: Any) -> threading.Thread:
    """A job in a thread that does not keep the process alive."""
    thread = threading.Thread(target=job, args=args, daemon=True)
    thread.start()
    return thread


def main() -> int:
    """Read lines until stdin ends. Returns the exit code."""
    if len(sys.argv) != 2:
        print("usage: bridge.py URL", file=sys.stderr)
        return 2
    bridge = Bridge(sys.argv[1], sys.stdout.buffer)
    posts: list[threading.Thread] = []
    for line in sys.stdin.buffer:
        message = read_json(line.decode("utf-8", "replace"))
        if not isinstance(message, dict):
            print(f"not passed on, no message: {line[:200]!r}", file=sys.stderr, flush=True)
            continue
        thread = bridge.take(message)
        posts = [post for post in posts if post.is_alive()] + ([thread] if thread else [])
    for post in posts:
        post.join(LAST_POSTS / len(posts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
