"""The bridge from stdio to HTTP, between a client and the conformance suite."""

import http.server
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conformance import bridge

BRIDGE = Path(bridge.__file__)
MODERN = {"_meta": {bridge.META_VERSION: "2026-07-28"}}


class Recorder(http.server.BaseHTTPRequestHandler):
    """An HTTP server that notes what is posted and answers as `replies[method]` says: (status, type, body)."""

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((message, dict(self.headers)))
        status, kind, body = self.server.replies.get(message.get("method"), (202, "text/plain", b""))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if message.get("method") == "initialize":
            self.send_header("Mcp-Session-Id", "session-7")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.server.seen.append(({"method": "GET"}, dict(self.headers)))
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def server(http_server):
    server = http_server(Recorder)
    server.replies = {}
    return server


def bridged(server, *messages):
    """What the bridge writes for these lines, by id."""
    command = [sys.executable, str(BRIDGE), f"http://127.0.0.1:{server.server_port}/mcp"]
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=True)
    return {reply.get("id"): reply for reply in map(json.loads, done.stdout.splitlines())}


def reply(id, **body):
    return json.dumps({"jsonrpc": "2.0", "id": id, **body}).encode()


def request(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


# --- whole lines ---------------------------------------------------------------------------


def test_a_json_reply_comes_back_on_one_line(server):
    server.replies["ping"] = (200, "application/json", b'{"jsonrpc": "2.0",\n "id": 1, "result": {}}')
    assert bridged(server, request(1, "ping")) == {1: {"jsonrpc": "2.0", "id": 1, "result": {}}}


def test_a_stream_gives_the_servers_request_and_then_the_reply(server):
    asked = b'event: message\ndata: {"jsonrpc":"2.0","id":"ask","method":"elicitation/create"}\n\n'
    answer = b"id: 9\ndata: " + reply(1, result={"content": []}) + b"\n\n"
    server.replies["tools/call"] = (200, "text/event-stream", asked + answer)
    assert list(bridged(server, request(1, "tools/call", name="ask"))) == ["ask", 1]


def test_the_session_and_the_version_of_the_handshake_are_sent_from_then_on(server):
    result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    server.replies["initialize"] = (200, "application/json", reply(1, result=result))
    bridged(server, request(1, "initialize"), {"jsonrpc": "2.0", "method": "notifications/initialized"})
    (_, first), (_, second) = [one for one in server.seen if one[0]["method"] != "GET"]
    assert "Mcp-Session-Id" not in first
    assert (second["Mcp-Session-Id"], second["MCP-Protocol-Version"]) == ("session-7", "2025-11-25")


def test_an_error_without_an_id_is_given_the_id_of_its_request(server):
    error = {"code": -32022, "message": "Unsupported", "data": {"supported": ["2026-07-28"]}}
    server.replies["server/discover"] = (400, "application/json", reply(None, error=error))
    assert bridged(server, request(4, "server/discover", **MODERN))[4]["error"] == error


@pytest.mark.parametrize("answer", [(500, "text/html", b"<h1>broken</h1>"), (202, "text/plain", b"")])
def test_a_request_that_the_server_does_not_answer_gets_an_error(server, answer):
    server.replies["tools/list"] = answer
    assert str(answer[0]) in bridged(server, request(2, "tools/list"))[2]["error"]["message"]


def test_a_server_that_is_not_there_is_an_error_and_not_a_wait():
    command = [sys.executable, str(BRIDGE), "http://127.0.0.1:9/mcp"]  # the discard port: nobody listens
    done = subprocess.run(
        command, input=json.dumps(request(3, "ping")) + "\n", capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["error"]["code"] == bridge.INTERNAL_ERROR


def test_a_notification_is_posted_and_nothing_is_written(server):
    assert bridged(server, {"jsonrpc": "2.0", "method": "notifications/cancelled"}) == {}
    assert [message["method"] for message, _ in server.seen] == ["notifications/cancelled"]


# --- headers and events ----------------------------------------------------------------------


def test_the_new_revision_says_method_and_name_again_in_headers():
    headers = bridge.headers_for(request(1, "tools/call", name="add", **MODERN), None, None)
    assert (headers["MCP-Protocol-Version"], headers["Mcp-Method"]) == ("2026-07-28", "tools/call")
    assert headers["Mcp-Name"] == "add"


def test_a_resource_is_named_by_its_uri():
    headers = bridge.headers_for(request(1, "resources/read", uri="file:///a", **MODERN), None, None)
    assert headers["Mcp-Name"] == "file:///a"


def test_the_old_revision_has_none_of_that():
    headers = bridge.headers_for(request(1, "tools/call", name="add"), "s", "2025-11-25")
    assert "Mcp-Method" not in headers
    assert "Mcp-Name" not in headers


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("plain name", "plain name"),
        ("tür", "=?base64?dMO8cg==?="),
        (" edge", "=?base64?IGVkZ2U=?="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
    ],
)
def test_a_text_that_no_header_can_carry_is_sent_as_base64(text, header):
    assert bridge.header_value(text) == header


def test_an_event_may_have_several_data_lines_and_others_are_passed_over():
    lines = [b": hello\n", b"event: message\n", b"data: a\r\n", b"data:b\n", b"\n", b"data: c\n", b"\n", b"data: cut"]
    assert list(bridge.events(lines)) == ["a\nb", "c"]
