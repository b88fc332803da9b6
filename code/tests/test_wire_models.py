"""Every line that we write, and our servers write, against the message models that the `mcp` package carries.

The models of both revisions are generated from the specification's schema. Their names are private
to the package, so a new version of it may move them: this file is the one place to mend then.
"""

import json
import sys
from pathlib import Path

import pytest
from mcp_harness import Host, RequestTimeout, RpcError, ServerConfig
from mcp_harness.trace import Recorder
from mcp_types import _v2025_11_25, _v2026_07_28
from pydantic import TypeAdapter, ValidationError

CODE = Path(__file__).resolve().parents[1]
MODELS = {"2025-11-25": _v2025_11_25, "2026-07-28": _v2026_07_28}
ERAS = list(MODELS)
PROBE = ["server/discover"]  # what a client that speaks both asks first, whatever the server speaks

ADAPTERS = {
    era: {
        name: TypeAdapter(getattr(models, name))
        for name in ("ClientRequest", "ClientNotification", "ServerNotification", "JSONRPCResultResponse")
    }
    for era, models in MODELS.items()
}
RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "sampling/createMessage": "CreateMessageResult",
    "elicitation/create": "ElicitResult",
    "roots/list": "ListRootsResult",
    "ping": "Result",
    "subscriptions/listen": "SubscriptionsListenResult",
}


def check(era, lines):
    """Each message against the model for its place; returns the methods and results that were checked."""
    checked, asked = set(), {}
    for line in lines:
        message, ours = line["message"], line["from"] == "client"
        method, key = message.get("method"), (line["server"], str(message.get("id")))
        spoken = "2026-07-28" if method in PROBE else era
        if method is not None and "id" in message:
            asked[(*key, ours)] = method
            if ours:
                validate(ADAPTERS[spoken]["ClientRequest"], message)
            else:
                validate(
                    TypeAdapter(MODELS[era].ServerRequest), message
                )  # 2026-07-28 has none: a server that asks fails
            checked.add(f"{line['from']} {method}")
        elif method is not None:
            validate(ADAPTERS[era]["ClientNotification" if ours else "ServerNotification"], message)
            checked.add(f"{line['from']} {method}")
        elif "error" in message:
            validate(TypeAdapter(MODELS[era].JSONRPCErrorResponse), message)
            checked.add(f"{line['from']} error")
        else:
            assert era == "2025-11-25" or not ours, "in 2026-07-28 a client writes no responses"
            answered = asked[(*key, not ours)]
            asks_back = message["result"].get("resultType") == "input_required"
            model = "InputRequiredResult" if asks_back else RESULTS[answered]
            validate(ADAPTERS[era]["JSONRPCResultResponse"], message)
            validate(TypeAdapter(getattr(MODELS[era], model)), message["result"])
            checked.add(f"{line['from']} {model}")
    return checked


def validate(adapter, value):
    """In JSON mode and strict, as the value came over the wire."""
    try:
        adapter.validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        pytest.fail(f"{json.dumps(value)[:500]}\n{error}", pytrace=False)


HANDLERS = {
    "sampling": lambda server, params: {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"},
    "elicitation": lambda server, params: {"action": "accept", "content": {"name": "Ada"}},
    "roots": lambda server, params: {"roots": [{"uri": "file:///p", "name": "p"}]},
}
BOTH = {"client tools/list", "client tools/call", "client notifications/cancelled", "server ListToolsResult"}
BOTH |= {"server CallToolResult", "server error", "server notifications/tools/list_changed", "client server/discover"}
EXPECTED = {
    "2025-11-25": BOTH
    | {
        "client initialize",
        "client notifications/initialized",
        "server InitializeResult",
        "client error",
        "server ping",
    }
    | {"client Result", "client ElicitResult", "client CreateMessageResult", "client ListRootsResult"}
    | {"server sampling/createMessage", "server elicitation/create", "server roots/list"},
    "2026-07-28": BOTH
    | {"client subscriptions/listen", "server notifications/subscriptions/acknowledged", "server DiscoverResult"}
    | {"server InputRequiredResult", "server SubscriptionsListenResult"},
}


@pytest.mark.parametrize("era", ERAS)
def test_all_that_is_said_in_a_session_fits_the_models(faulty, events, era):
    recorder = Recorder()
    asker = ServerConfig("asker", sys.executable, (str(CODE / "servers" / "asker.py"), "--era", era))
    configs = [
        asker,
        faulty("never-answers", name="silent", era=era, client_era="auto"),
        faulty("ends-its-stream", "--how", "result", name="busy", era=era, client_era="auto"),
        faulty("pages", "--count", 3, name="pages", era=era, client_era="auto"),
    ]
    with recorder.attach(Host(configs, on_event=events, **HANDLERS)) as host:
        host.call("invite", {"topic": "tea"}, timeout=10)
        host.call("folders", timeout=10)
        host.call("count", timeout=10)
        if era == "2025-11-25":
            for method in ("ping", "nobody/knows"):
                host.call("ask_client", {"request": json.dumps({"method": method})}, timeout=10)
        else:
            host.call("end_stream", timeout=10)
        with pytest.raises(RequestTimeout):
            host.call("never", timeout=0.2)
        host.call("silent/change" if "silent/change" in host.tools() else "change", {"tools": ["new"]}, timeout=10)
        events.wait("tools_changed", "silent")
        with pytest.raises(RpcError):  # a tool that the host would not even ask for
            host.request("silent", "tools/call", {"name": "nobody"}, timeout=10)
    lines = [line for line in recorder.lines() if line["message"].get("method") != "nobody/knows"]
    checked = check(era, lines)
    assert EXPECTED[era] - checked == set()


@pytest.mark.parametrize("era", ERAS)
def test_the_recorded_traces_in_the_repository_fit_the_models(era):
    path = CODE.parent / "outputs" / "traces" / f"{era}.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(check(era, lines)) >= 10


def test_a_line_that_does_not_fit_is_found():
    """The models are no formality: without `_meta` a request of the newer revision fails."""
    line = {
        "server": "s",
        "from": "client",
        "message": {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
    }
    with pytest.raises(pytest.fail.Exception):
        check("2026-07-28", [line])
    assert check("2025-11-25", [line]) == {"client tools/list"}
