"""The server that asks back, in both revisions; this file plays the client, line by line."""

import json
import subprocess
import sys
from pathlib import Path

import main
import pytest
from servers.stateless import META

SCRIPT = Path(main.__file__).parent / "servers" / "asker.py"
TEXT = {"role": "assistant", "content": {"type": "text", "text": "short"}, "model": "m", "stopReason": "endTurn"}


class Talk:
    """A pair of pipes: one message out, one message in."""

    def __init__(self, *options):
        pipe = subprocess.PIPE
        self.popen = subprocess.Popen([sys.executable, SCRIPT, *options], stdin=pipe, stdout=pipe, stderr=pipe)

    def send(self, **message):
        self.popen.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.popen.stdin.flush()

    def hear(self):
        return json.loads(self.popen.stdout.readline())

    def call(self, id, tool, **arguments):
        self.send(id=id, method="tools/call", params={"name": tool, "arguments": arguments})

    def close(self):
        _, errors = self.popen.communicate(timeout=10)
        assert errors == b""
        assert self.popen.returncode == 0


@pytest.fixture
def talk():
    """Starts the server; at the end it must exit by itself, with a clean stderr."""
    started = []

    def start(*options, capabilities=None):
        started.append(Talk(*options))
        if capabilities is not None:
            started[-1].send(id=1, method="initialize", params={"capabilities": capabilities})
            assert started[-1].hear()["result"]["protocolVersion"] == "2025-11-25"
        return started[-1]

    yield start
    for one in started:
        one.close()


def text_of(reply):
    return reply["result"]["content"][0]["text"]


# --- revision 2025-11-25


def test_a_tool_asks_the_model_while_its_call_is_in_flight(talk):
    server = talk(capabilities={"sampling": {}})
    server.call(2, "summarize", text="a long text")
    question = server.hear()
    assert (question["id"], question["method"]) == (1, "sampling/createMessage")
    assert question["params"]["messages"][0]["content"]["text"] == "Summarize: a long text"
    server.send(id=1, result=TEXT)
    assert text_of(server.hear()) == "short"


def test_it_serves_other_calls_while_one_waits_for_the_client(talk):
    server = talk(capabilities={"sampling": {}})
    server.call(2, "summarize", text="a long text")
    question = server.hear()
    server.call(3, "count", text="one two three")
    assert text_of(server.hear()) == "3 words"
    server.send(id=question["id"], result=TEXT)
    assert server.hear()["id"] == 2


def test_a_careless_one_takes_the_next_line_for_the_reply(talk):
    server = talk("--careless", capabilities={"sampling": {}})
    server.call(2, "summarize", text="a long text")
    server.hear()
    server.call(3, "count", text="one two three")
    assert server.hear()["result"]["isError"]  # of call 2: a request is no reply
    server.send(id=1, result=TEXT)  # too late; and call 3 has been eaten
    server.send(id=4, method="ping")
    assert server.hear()["id"] == 4


def test_a_careless_one_works_with_one_request_at_a_time(talk):
    server = talk("--careless", capabilities={"sampling": {}})
    server.call(2, "summarize", text="a long text")
    server.send(id=server.hear()["id"], result=TEXT)
    assert text_of(server.hear()) == "short"


@pytest.mark.parametrize(
    ("tool", "arguments", "capability"),
    [("summarize", {"text": "x"}, "sampling"), ("invite", {"topic": "x"}, "elicitation"), ("folders", {}, "roots")],
)
def test_what_the_client_did_not_declare_is_not_asked(talk, tool, arguments, capability):
    server = talk(capabilities={})
    server.call(2, tool, **arguments)
    reply = server.hear()
    assert reply["result"]["isError"]
    assert text_of(reply).endswith(f"this client did not declare {capability}")


def test_an_error_of_the_client_is_an_error_of_the_tool(talk):
    server = talk(capabilities={"sampling": {}})
    server.call(2, "summarize", text="x")
    server.send(id=server.hear()["id"], error={"code": -1, "message": "User rejected sampling request"})
    assert "with -1: User rejected" in text_of(server.hear())


def test_a_form_that_the_user_declined_asks_no_model(talk):
    server = talk(capabilities={"elicitation": {}, "sampling": {}})
    server.call(2, "invite", topic="tea")
    server.send(id=server.hear()["id"], result={"action": "decline"})
    assert text_of(server.hear()) == "no invitation: the user chose decline"


def test_folders_asks_for_the_roots(talk):
    server = talk(capabilities={"roots": {}})
    server.call(2, "folders")
    server.send(id=server.hear()["id"], result={"roots": [{"uri": "file:///p"}, {"uri": "file:///q"}]})
    assert text_of(server.hear()) == "file:///p, file:///q"


def test_ask_client_sends_anything_and_returns_the_whole_reply(talk):
    server = talk(capabilities={})
    server.call(2, "ask_client", request=json.dumps({"method": "x/y", "params": {"a": 1}, "id": "s"}))
    assert server.hear() == {"jsonrpc": "2.0", "id": "s", "method": "x/y", "params": {"a": 1}}
    server.send(id="s", error={"code": -32601, "message": "no"})
    assert json.loads(text_of(server.hear()))["error"]["code"] == -32601


def test_lines_that_are_no_messages_do_not_stop_it(talk):
    server = talk(capabilities={})
    server.popen.stdin.write(b"hello\n[1]\n\n")
    server.send(id=99, result={})  # a reply that nobody waits for
    server.send(id=2, method="ping")
    assert {server.hear()["id"] for _ in range(3)} == {None, 2}


# --- revision 2026-07-28


def ask(server, id, tool, capabilities=("sampling", "elicitation", "roots"), **params):
    """Call a tool of the stateless server; returns the reply."""
    client = {name: {} for name in capabilities}
    meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": client}
    server.send(id=id, method="tools/call", params={"name": tool, "_meta": meta, **params})
    return server.hear()


@pytest.fixture
def modern(talk):
    return talk("--era", "2026-07-28")


def test_the_call_comes_back_and_is_made_again_with_the_answer(modern):
    back = ask(modern, 1, "summarize", arguments={"text": "a long text"})["result"]
    assert back["resultType"] == "input_required"
    assert back["inputRequests"]["sampling"]["method"] == "sampling/createMessage"
    again = {"inputResponses": {"sampling": TEXT}, "requestState": back["requestState"]}
    done = ask(modern, 2, "summarize", arguments={"text": "a long text"}, **again)
    assert (done["result"]["resultType"], text_of(done)) == ("complete", "short")


def test_two_questions_take_two_rounds_and_the_first_answer_travels_in_the_state(modern):
    first = ask(modern, 1, "invite", arguments={"topic": "tea"})["result"]
    form = {"elicitation": {"action": "accept", "content": {"name": "Ada"}}}
    state = first["requestState"]
    second = ask(modern, 2, "invite", arguments={"topic": "tea"}, inputResponses=form, requestState=state)["result"]
    assert second["inputRequests"]["sampling"]["params"]["messages"][0]["content"]["text"] == "Invite Ada to: tea"
    assert second["requestState"] != state
    again = {"inputResponses": {"sampling": TEXT}, "requestState": second["requestState"]}
    assert text_of(ask(modern, 3, "invite", arguments={"topic": "tea"}, **again)) == "short"


def test_another_process_can_finish_what_one_has_begun(talk):
    back = ask(talk("--era", "2026-07-28"), 1, "summarize", arguments={"text": "x"})["result"]
    again = {"inputResponses": {"sampling": TEXT}, "requestState": back["requestState"]}
    assert text_of(ask(talk("--era", "2026-07-28"), 1, "summarize", arguments={"text": "x"}, **again)) == "short"


@pytest.mark.parametrize("change", [str.lower, str.strip, lambda state: state + " ", lambda state: "", lambda s: 3])
def test_a_state_that_was_changed_is_refused(modern, change):
    first = ask(modern, 1, "invite", arguments={"topic": "tea"})["result"]
    form = {"elicitation": {"action": "accept", "content": {"name": "Ada"}}}
    again = {"inputResponses": form, "requestState": first["requestState"]}
    state = ask(modern, 2, "invite", arguments={"topic": "tea"}, **again)["result"]["requestState"]
    again = {"inputResponses": {"sampling": TEXT}, "requestState": change(state)}
    reply = ask(modern, 3, "invite", arguments={"topic": "tea"}, **again)
    if change is str.strip:  # byte for byte the same
        assert text_of(reply) == "short"
    else:
        assert reply["error"]["code"] == -32602
        assert "byte for byte" in reply["error"]["message"]


def test_a_capability_that_is_missing_is_an_error_with_its_own_code(modern):
    reply = ask(modern, 1, "summarize", capabilities=["roots"], arguments={"text": "x"})
    assert reply["error"]["code"] == -32021
    assert reply["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}


def test_tools_without_a_question_answer_at_once(modern):
    assert text_of(ask(modern, 1, "count", arguments={"text": "one two"})) == "2 words"
