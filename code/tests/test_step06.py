"""The small client after lesson 6, on a real server that asks back."""

import json
import runpy
import sys
import threading
from pathlib import Path

import main
import pytest
from mcp_harness.lanes import Message
from steps import step06_callbacks as step
from steps.step02_subprocess import Process

CODE = Path(main.__file__).parent
ASKER = [sys.executable, str(CODE / "servers" / "asker.py")]
FIGURES = CODE.parent / "lessons" / "figures" / "06_callbacks.py"
SAMPLING, FORM, ROOTS = "sampling/createMessage", "elicitation/create", "roots/list"


def said(text):
    return {"role": "assistant", "content": {"type": "text", "text": text}, "model": "m", "stopReason": "endTurn"}


def echo(server, params):
    return said(params["messages"][0]["content"]["text"])


def refuse(server, params):
    raise step.Refused("no")


def call(connection, name, timeout=5.0, **arguments):
    result = connection.request("tools/call", {"name": name, "arguments": arguments}, timeout)
    return result["content"][0]["text"]


def asked(connection, **request):
    """What the client answers to any request of the server."""
    return json.loads(call(connection, "ask_client", request=json.dumps(request)))


@pytest.mark.parametrize("methods", [[], [SAMPLING], [ROOTS, FORM], [SAMPLING, FORM, ROOTS]])
def test_it_declares_a_capability_for_each_handler_and_nothing_else(methods):
    with step.Connection("asker", ASKER, dict.fromkeys(methods, echo)) as connection:
        declared = connection.record[0][2]["params"]["capabilities"]
    assert declared == {step.CAPABILITY[method]: {} for method in methods}


def test_a_handler_gets_server_and_params_and_its_result_goes_back():
    seen = []
    handlers = {ROOTS: lambda server, params: seen.append((server, params)) or {"roots": [{"uri": "file:///p"}]}}
    with step.Connection("one of many", ASKER, handlers) as connection:
        assert call(connection, "folders") == "file:///p"
    assert seen == [("one of many", {})]


@pytest.mark.parametrize("id", [0, 3, -1, "3", "a", 2**53])
def test_a_ping_and_an_unknown_request_are_answered_under_the_id_of_the_server(id):
    with step.Connection("asker", ASKER) as connection:
        assert asked(connection, method="ping", id=id) == {"jsonrpc": "2.0", "id": id, "result": {}}
        assert asked(connection, method="x/y", id=id)["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("handler", "code", "text"),
    [(refuse, -1, "no"), (lambda server, params: 1 // 0, -32603, "ZeroDivisionError")],
)
def test_a_handler_that_refuses_or_breaks_is_an_error_for_the_server_and_none_for_us(handler, code, text):
    with step.Connection("asker", ASKER, {SAMPLING: handler}) as connection:
        error = asked(connection, method=SAMPLING, id=1)["error"]
        assert error["code"] == code
        assert text in error["message"]
        assert call(connection, "count", text="a b") == "2 words"


def test_a_request_that_has_the_id_of_our_open_call_is_a_request():
    with step.Connection("asker", ASKER, {SAMPLING: echo}) as connection:
        for _ in range(3):
            ours = next(m["id"] for _, arrow, m in reversed(connection.record) if arrow == "→" and "id" in m) + 1
            assert asked(connection, method=SAMPLING, id=ours, params={"messages": [{"content": {"text": "x"}}]})[
                "result"
            ] == said("x")


def test_an_answer_may_call_the_server_that_asked_and_so_on():
    def deeper(server, params):
        text = params["messages"][0]["content"]["text"].removeprefix("Summarize: ")
        return said(text if len(text) > 4 else call(connection, "summarize", text=text + "+"))

    connection = step.Connection("asker", ASKER, {SAMPLING: deeper})
    with connection:
        assert call(connection, "summarize", text="x") == "x++++"


def test_a_ping_is_answered_while_a_handler_waits():
    pinged = threading.Event()

    def waits(server, params):
        return said("in time" if pinged.wait(5) else "too late")

    def ping():
        asked(connection, method="ping", id="p")
        pinged.set()

    connection = step.Connection("asker", ASKER, {SAMPLING: waits})
    with connection:
        thread = threading.Thread(target=ping)
        thread.start()
        assert call(connection, "summarize", timeout=10, text="x") == "in time"
        thread.join()


# --- revision 2026-07-28


def scripted(*results):
    """A `request` that gives these results, and keeps the params that it got."""
    left, got = list(results), []

    def request(method, params):
        got.append(params)
        return left.pop(0)

    return request, got


BACK = {"resultType": "input_required", "inputRequests": {"q": {"method": SAMPLING, "params": {}}}}
DONE = {"resultType": "complete", "content": []}


def rounds(request):
    return step.call_in_rounds(request, "asker", "t", {"a": 1}, {SAMPLING: lambda server, params: {"text": server}})


def test_the_answers_go_back_under_the_keys_of_the_server_with_its_state_untouched():
    state = ' {"not": "ours"} == '
    request, got = scripted({**BACK, "requestState": state}, DONE)
    assert rounds(request) == DONE
    first = {"name": "t", "arguments": {"a": 1}}
    assert got == [first, {**first, "inputResponses": {"q": {"text": "asker"}}, "requestState": state}]


def test_no_state_is_invented_and_none_is_kept_for_a_later_round():
    request, got = scripted({**BACK, "requestState": "s"}, BACK, DONE)
    rounds(request)
    assert ["requestState" in params for params in got] == [False, True, False]


def test_a_state_alone_means_call_again():
    request, got = scripted({"resultType": "input_required", "requestState": "s"}, DONE)
    rounds(request)
    assert got[1] == {"name": "t", "arguments": {"a": 1}, "requestState": "s"}


def test_a_result_without_a_type_is_complete_and_an_unknown_type_is_refused():
    assert rounds(scripted({"content": []})[0]) == {"content": []}
    with pytest.raises(RuntimeError, match="'asker' gave a result of an unknown type: 'later'"):
        rounds(scripted({"resultType": "later"})[0])


def test_a_server_that_never_has_enough_is_given_up():
    request, got = scripted(*[BACK] * 50)
    with pytest.raises(RuntimeError, match="asked 10 times in a row: 't' was given up"):
        rounds(request)
    assert len(got) == step.ROUNDS


def test_a_blocking_client_is_enough_for_a_real_server_of_this_revision():
    handlers = {SAMPLING: echo, FORM: lambda server, params: {"action": "accept", "content": {"name": "Ada"}}}
    prefix, ids = "io.modelcontextprotocol/", iter(range(1, 10))
    meta = {prefix + "protocolVersion": "2026-07-28", prefix + "clientCapabilities": step.declared(handlers)}
    with Process([*ASKER, "--era", "2026-07-28"]) as process:

        def request(method, params):
            message = {"jsonrpc": "2.0", "id": next(ids), "method": method, "params": {**params, "_meta": meta}}
            return process(message)["result"]

        result = step.call_in_rounds(request, "asker", "invite", {"topic": "tea"}, handlers)
    assert result["content"][0]["text"] == "Invite Ada to: tea"
    assert next(ids) == 4  # three calls, an id for each


# --- the figures


class OnReader(step.Connection):
    """The mistake of the lesson: the answer is made on the thread that reads."""

    def _answer(self, request):
        self._transport.send(step.answer(self.name, request, self.handlers))


def arrows(rows):
    """(id, whether it goes to the server, whether it is a request) for each message between host and server."""
    messages = [row for row in rows if isinstance(row, Message) and "asker" in (row.source, row.target)]
    return [(row.id, row.target == "asker", row.kind == "request") for row in messages]


def recorded(connection, first=5):
    """The same of a record, without the handshake and without notifications."""
    messages = [(arrow, message) for _, arrow, message in connection.record[first:] if "id" in message]
    return [(message["id"], arrow == "→", "method" in message) for arrow, message in messages]


def test_the_figure_of_sampling_shows_what_passes():
    with step.Connection("asker", ASKER, {SAMPLING: echo}) as connection:
        call(connection, "summarize", text="x")
    assert arrows(runpy.run_path(str(FIGURES))["SAMPLING"]) == recorded(connection)


def test_the_figure_of_the_deadlock_shows_what_passes_and_what_is_not_read():
    def counts(server, params):
        return said(call(connection, "count", timeout=0.3, text="x"))

    connection = OnReader("asker", ASKER, {SAMPLING: counts})
    with connection:
        assert "RequestTimeout" in call(connection, "summarize", text="x")
        assert connection.late == 1  # the reply to `count`, read when nobody waited any more
    shown = arrows(runpy.run_path(str(FIGURES))["DEADLOCK"])
    assert shown[:3] == recorded(connection)[:3]
    assert shown[3] in recorded(connection)[4:]  # it comes after the handler has given up
