"""The server whose tools change; this file plays the client, line by line."""

import json
import subprocess
import sys
from pathlib import Path

import main
import pytest
from servers.stateless import META

SCRIPT = Path(main.__file__).parent / "servers" / "changing.py"
OURS = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}


class Talk:
    """A pair of pipes: one message out, one message in."""

    def __init__(self, *options):
        pipe = subprocess.PIPE
        self.popen = subprocess.Popen([sys.executable, SCRIPT, *options], stdin=pipe, stdout=pipe, stderr=pipe)

    def send(self, method, id=None, **params):
        body = {} if id is None else {"id": id}
        message = {"jsonrpc": "2.0", "method": method, "params": {**params, "_meta": OURS}, **body}
        self.popen.stdin.write(json.dumps(message).encode() + b"\n")
        self.popen.stdin.flush()

    def hear(self):
        return json.loads(self.popen.stdout.readline())

    def ask(self, method, id=1, **params):
        self.send(method, id, **params)
        return self.hear()

    def grow(self, id):
        self.send("tools/call", id, name="grow", arguments={})

    def names(self, id=9):
        return [tool["name"] for tool in self.ask("tools/list", id)["result"]["tools"]]


@pytest.fixture
def talk():
    """Starts the server; at the end it exits by itself when its input ends."""
    started = []

    def start(*options):
        started.append(Talk(*options))
        return started[-1]

    yield start
    for one in started:
        one.popen.communicate(timeout=10)
        assert one.popen.returncode == 0


def test_a_call_adds_a_tool_that_can_be_called(talk):
    server = talk()
    assert server.names() == ["grow"]
    server.grow(2)
    assert server.hear()["result"]["content"][0]["text"] == "1 added"
    assert server.names() == ["grow", "tool_1"]
    reply = server.ask("tools/call", 3, name="tool_1", arguments={})
    assert reply["result"]["content"][0]["text"] == "here I am"


def test_who_listens_is_told_on_its_own_stream_until_it_cancels(talk):
    server = talk()
    acknowledged = server.ask("subscriptions/listen", "a", notifications={"toolsListChanged": True})
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["_meta"] == {META + "subscriptionId": "a"}
    server.grow(2)
    notice = server.hear()
    assert (notice["method"], "id" in notice) == ("notifications/tools/list_changed", False)
    assert notice["params"]["_meta"] == {META + "subscriptionId": "a"}
    assert server.hear()["id"] == 2
    server.send("notifications/cancelled", requestId="a")
    server.grow(3)
    assert server.hear()["id"] == 3


def test_nobody_is_told_who_did_not_ask(talk):
    server = talk()
    server.grow(1)
    assert server.hear()["id"] == 1


def test_a_lost_notification_stands_in_the_log_only(talk):
    server = talk("--lose")
    server.ask("subscriptions/listen", "a", notifications={"toolsListChanged": True})
    server.grow(2)
    assert server.hear()["id"] == 2
    assert server.popen.stderr.readline().startswith(b'lost: {"jsonrpc": "2.0", "method": "notifications/tools')


def test_a_slow_server_answers_its_first_request_with_the_second(talk):
    server = talk("--slow")
    server.send("server/discover", 1)
    server.send("notifications/cancelled", requestId=1)
    server.send("initialize", 2, protocolVersion="2025-11-25")
    first, second = server.hear(), server.hear()
    assert first["id"] == 1
    assert first["result"]["supportedVersions"] == ["2026-07-28"]
    assert second["id"] == 2
    assert second["error"]["code"] == -32022
    assert second["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


def test_the_list_says_how_long_it_may_be_kept(talk):
    assert talk("--ttl", "5").ask("tools/list")["result"]["ttlMs"] == 5
    assert talk().ask("server/discover")["result"]["ttlMs"] == 60_000
