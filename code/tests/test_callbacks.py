"""What a server of revision 2025-11-25 asks the client: ping, roots, sampling, elicitation, and things unheard of."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp_harness import Host

SAMPLING = {"messages": [{"role": "user", "content": {"type": "text", "text": "capital of France?"}}], "maxTokens": 50}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m", "stopReason": "endTurn"}
FORM = {"mode": "form", "message": "your name?", "requestedSchema": {"type": "object", "properties": {}}}
ROOTS = {"roots": [{"uri": "file:///p", "name": "P"}]}

CALLBACKS = [
    pytest.param("sampling", "sampling/createMessage", SAMPLING, SAMPLED, id="sampling"),
    pytest.param(
        "elicitation", "elicitation/create", FORM, {"action": "accept", "content": {"n": "x"}}, id="elicitation"
    ),
    pytest.param("roots", "roots/list", {}, ROOTS, id="roots"),
]


def ask(host, method, params=None, request_id=None, tool="ask_client"):
    """Let the server send one request to the client; returns the client's whole answer."""
    given = {"method": method, "params": params or {}}
    if request_id is not None:
        given["id"] = request_id
    return json.loads(host.call(tool, given, timeout=10).text)


def declared(facts, host):
    """The capabilities that the client declared in `initialize`."""
    return facts(host)["received"][0]["params"]["capabilities"]


@pytest.mark.fault("the server asks the client")
@pytest.mark.parametrize("request_id", [1, 2, 3, 7, 0, -5, "s-1", "1", 2**53])
def test_a_ping_is_answered_with_its_own_id_whatever_ids_we_use_ourselves(faulty, request_id):
    with Host([faulty("good")]) as host:
        answer = ask(host, "ping", request_id=request_id)
    assert answer == {"jsonrpc": "2.0", "id": request_id, "result": {}}
    assert type(answer["id"]) is type(request_id)


@pytest.mark.fault("the server asks the client")
@pytest.mark.parametrize(("handler", "method", "params", "result"), CALLBACKS)
@pytest.mark.both_eras
def test_a_handler_gets_server_and_params_and_its_result_goes_back(faulty, handler, method, params, result):
    seen = []

    def handle(server, given):
        seen.append((server, given))
        return result

    with Host([faulty("good", name="asker")], **{handler: handle}) as host:
        assert ask(host, method, params)["result"] == result
    ((server, given),) = seen
    assert server == "asker"
    assert given == params


@pytest.mark.fault("the server asks the client")
@pytest.mark.parametrize(("handler", "method", "params", "result"), CALLBACKS)
def test_a_capability_is_declared_and_answered_only_with_its_handler(faulty, facts, handler, method, params, result):
    with Host([faulty("good")], **{handler: lambda server, given: result}) as host:
        assert list(declared(facts, host)) == [handler]
        for _, other, other_params, _ in [case.values for case in CALLBACKS]:
            if other != method:
                assert ask(host, other, other_params)["error"]["code"] == -32601
    with Host([faulty("good")]) as host:
        assert declared(facts, host) == {}
        assert ask(host, method, params)["error"]["code"] == -32601


@pytest.mark.fault("the server asks the client")
@pytest.mark.parametrize(
    "method", ["tasks/get", "tools/list", "tools/call", "initialize", "", "ping ", "Ping", "rpc.x"]
)
def test_an_unknown_request_is_refused_by_name_and_nothing_stops(faulty, method):
    with Host([faulty("good")]) as host:
        answer = ask(host, method)
        assert answer["error"]["code"] == -32601
        assert method in answer["error"]["message"]
        assert "result" not in answer
        assert host.call("echo", {"text": "on"}, timeout=10).text == "on"


class Odd(dict):
    pass


def raises(error):
    def handle(server, params):
        raise error

    return handle


BROKEN = [
    pytest.param(raises(RuntimeError("the secret is 42")), id="raises"),
    pytest.param(raises(SystemExit(3)), id="calls sys.exit"),
    pytest.param(raises(KeyboardInterrupt()), id="KeyboardInterrupt"),
    pytest.param(lambda server, params: None, id="returns None"),
    pytest.param(lambda server, params: "text", id="returns text"),
    pytest.param(lambda server, params: {"a": object()}, id="returns no JSON"),
    pytest.param(lambda server, params: {"a": float("nan")}, id="returns NaN"),
    pytest.param(lambda: {}, id="takes no arguments"),
]


@pytest.mark.fault("the server asks the client")
@pytest.mark.parametrize("handle", BROKEN)
def test_a_broken_handler_gives_an_internal_error_and_the_client_lives(faulty, handle):
    with Host([faulty("good")], sampling=handle) as host:
        for _ in range(3):
            answer = ask(host, "sampling/createMessage", SAMPLING)
            assert answer["error"]["code"] == -32603
        assert host.call("echo", {"text": "on"}, timeout=10).text == "on"
        assert host.status()["faulty"].state == "ready"


@pytest.mark.fault("the server asks the client")
@pytest.mark.parametrize("params", ["[]", "null", "7", '"x"'])
def test_params_of_an_odd_shape_still_get_an_answer(faulty, facts, params):
    line = '{"jsonrpc": "2.0", "id": "odd", "method": "sampling/createMessage", "params": ' + params + "}"
    with Host([faulty("good")], sampling=lambda server, given: SAMPLED) as host:
        assert host.call("say", {"lines": [line]}, timeout=10).text == "said"
        answers = []
        while not answers:  # each call lets the server read on; the answer is one of the next lines
            answers = [message for message in facts(host)["received"] if message.get("id") == "odd"]
    assert "result" in answers[0] or "error" in answers[0]


@pytest.mark.fault("the server asks the client")
def test_a_machine_without_threads_to_spare_costs_an_answer_and_not_the_reader(faulty, monkeypatch):
    start = threading.Thread.start

    def no_handlers(thread):
        if "handler" in thread.name:
            raise RuntimeError("can't start new thread")
        start(thread)

    with Host([faulty("good")], sampling=lambda server, params: SAMPLED) as host:
        monkeypatch.setattr(threading.Thread, "start", no_handlers)
        for _ in range(40):  # more than may run at once: none of them counts as running
            assert ask(host, "sampling/createMessage", SAMPLING)["error"]["code"] == -32603
        monkeypatch.undo()
        assert ask(host, "sampling/createMessage", SAMPLING)["result"] == SAMPLED


@pytest.mark.fault("the server asks the client")
def test_a_ping_is_answered_while_a_handler_is_busy(faulty):
    entered, release = threading.Event(), threading.Event()

    def sampling(server, params):
        entered.set()
        assert release.wait(15)
        return SAMPLED

    with Host([faulty("good")], sampling=sampling) as host, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, host, "sampling/createMessage", SAMPLING)
        assert entered.wait(10)
        assert ask(host, "ping")["result"] == {}
        assert host.call("echo", {"text": "meanwhile"}, timeout=10).text == "meanwhile"
        release.set()
        assert waiting.result()["result"] == SAMPLED


@pytest.mark.fault("a handler that calls a tool on the same server")
@pytest.mark.parametrize(("handler", "method", "params", "result"), CALLBACKS)
@pytest.mark.both_eras
def test_a_handler_may_call_a_tool_on_the_server_that_asks(faulty, handler, method, params, result):
    def handle(server, given):
        assert host.call("echo", {"text": "from the handler"}, timeout=10).text == "from the handler"
        return result

    with Host([faulty("good")], **{handler: handle}) as host:
        assert ask(host, method, params)["result"] == result


@pytest.mark.fault("a handler that calls a tool on the same server")
def test_a_handler_may_refresh_the_server_that_asks(faulty):
    def handle(server, given):
        host.refresh(server)
        return {"roots": [{"uri": f"file:///{len(host.tools())}"}]}

    with Host([faulty("good")], roots=handle) as host:
        assert ask(host, "roots/list")["result"] == {"roots": [{"uri": f"file:///{len(host.tools())}"}]}


@pytest.mark.fault("a handler that calls a tool on the same server")
@pytest.mark.both_eras
def test_ten_servers_may_ask_at_once_and_every_handler_may_call_back(faulty):
    names = [f"s{number}" for number in range(10)]
    meeting = threading.Barrier(10)

    def sampling(server, params):
        meeting.wait(15)  # all ten handlers run at the same time
        tool = "echo" if server == "s0" else f"{server}/echo"
        return {**SAMPLED, "model": host.call(tool, {"text": server}, timeout=10).text}

    with Host([faulty("good", name=name) for name in names], sampling=sampling) as host, ThreadPoolExecutor(10) as pool:
        tools = ["ask_client"] + [f"{name}/ask_client" for name in names[1:]]
        answers = pool.map(lambda tool: ask(host, "sampling/createMessage", SAMPLING, tool=tool), tools)
        assert [answer["result"]["model"] for answer in answers] == names


@pytest.mark.fault("anything before the initialize result")
@pytest.mark.parametrize("with_roots", [True, False], ids=["roots", "no roots"])
def test_what_comes_before_the_initialize_result_is_accepted_and_answered(faulty, facts, with_roots):
    roots = (lambda server, params: ROOTS) if with_roots else None
    with Host([faulty("talks-before-initialize", start_timeout=15)], roots=roots) as host:
        assert host.status()["faulty"].state == "ready"
        assert host.status()["faulty"].noise_lines == 0
        received = facts(host)["received"]
    assert received[0]["method"] == "initialize"
    assert received[1]["result"] == {}
    assert (received[2]["result"] == ROOTS) if with_roots else (received[2]["error"]["code"] == -32601)
    assert received[3]["method"] == "notifications/initialized"


@pytest.mark.fault("the server asks the client")
@pytest.mark.both_eras
def test_a_handler_that_never_returns_does_not_hold_up_close(faulty):
    held, entered = threading.Event(), threading.Event()

    def sampling(server, params):
        entered.set()
        held.wait(20)
        return SAMPLED

    try:
        with Host([faulty("good")], sampling=sampling) as host, ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(ask, host, "sampling/createMessage", SAMPLING)
            assert entered.wait(10)
            host.close()
            assert waiting.exception() is not None
    finally:
        held.set()
