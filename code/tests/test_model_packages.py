"""What we send, checked by the providers' own packages, offline; and each package against a stand-in on loopback.

Needs the extra `model` (`pip install -e ".[dev]"` brings it). Without it these tests fail: they never skip.
"""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types import MessageParam
from anthropic.types import ToolParam as AnthropicTool
from google import genai
from google.genai import types as gemini
from mcp_harness.model import FORMATS, RawCall, converse
from mcp_harness.namespace import merged
from mcp_harness.provider_client import anthropic_model, gemini_model, openai_model, responses_model
from mcp_harness.tools import ToolResult
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from openai.types.responses import FunctionToolParam, ResponseInputItemParam
from pydantic import TypeAdapter

pytestmark = pytest.mark.slow
GOLDEN = Path(__file__).parent / "model"


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def plain(value: Any) -> Any:
    """A validated value as plain data: pydantic leaves an Iterable half read."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    return [plain(item) for item in value]


# --- the shapes --------------------------------------------------------------------------

TYPED = [
    ("definitions-openai.json", ChatCompletionFunctionToolParam),
    ("history-openai.json", ChatCompletionMessageParam),
    ("results-openai.json", ChatCompletionMessageParam),
    ("definitions-responses.json", FunctionToolParam),
    ("history-responses.json", ResponseInputItemParam),
    ("results-responses.json", ResponseInputItemParam),
    ("definitions-anthropic.json", AnthropicTool),
    ("history-anthropic.json", MessageParam),
    ("results-anthropic.json", MessageParam),
]


@pytest.mark.parametrize(("name", "kind"), TYPED, ids=[name for name, _ in TYPED])
def test_every_field_is_one_that_the_package_knows(name, kind):
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    for sent in golden(name):
        assert plain(adapter.validate_python(sent)) == sent  # a field that it does not know would be gone


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("definitions-gemini.json", gemini.Tool),
        ("history-gemini.json", gemini.Content),
        ("results-gemini.json", gemini.Content),
    ],
)
def test_every_field_is_one_that_google_knows(name, kind):
    for sent in golden(name):
        assert kind.model_validate(sent).model_dump(mode="json", by_alias=True, exclude_none=True) == sent


# --- the packages ------------------------------------------------------------------------


class StandIn:
    """A provider on the loopback address: answers as told, keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        self.received: list[tuple[str, dict[str, Any]]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.received.append((self.path, json.loads(body)))
                answer = json.dumps(outer.answers.pop(0)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def provider(nothing_stays_behind: None) -> Iterator[StandIn]:
    stand_in = StandIn()
    yield stand_in
    stand_in.close()


class Notes:
    """A host with one tool."""

    def tools(self):
        schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
        definition = {"name": "search", "description": "Search your notes.", "inputSchema": schema}
        return {"search": merged("search", "notes", "search", definition)}

    def call(self, name, arguments=None):
        assert (name, arguments) == ("search", {"query": "plan"})
        return ToolResult([{"type": "text", "text": "one note"}], None, False, "notes", {})


# What each API sends around the messages of formats.py; the packages ask for these fields.
AROUND = {
    "openai": {"id": "c1", "object": "chat.completion", "created": 1, "model": "m"},
    "responses": {"id": "r1", "object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": True}
    | {"tool_choice": "auto", "tools": [], "status": "completed"},
    "anthropic": {"id": "m1", "type": "message", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}},
    "gemini": {"modelVersion": "m"},
}


def model_of(form: str, url: str) -> tuple[Any, Any]:
    """The provider's own client, pointed at the stand-in, and the model made of it."""
    if form in ("openai", "responses"):
        client = openai.OpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0, timeout=10)
        return client, {"openai": openai_model, "responses": responses_model}[form](client, "m")
    if form == "anthropic":
        client = anthropic.Anthropic(api_key="none", base_url=url, max_retries=0, timeout=10)
        return client, anthropic_model(client, "m")
    client = genai.Client(api_key="none", vertexai=False, http_options={"base_url": url, "timeout": 10_000})
    return client, gemini_model(client, "m")


PATHS = {
    "openai": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/models/m:generateContent",
}


@pytest.mark.parametrize("form", list(FORMATS))
def test_a_conversation_through_the_official_package(form, provider):
    shape = FORMATS[form]
    call = RawCall("call_1", "notes__search", {"query": "plan"})
    provider.answers = [
        AROUND[form] | shape.reply("Let me look.", [call]),
        AROUND[form] | shape.reply("There is one note.", []),
    ]
    client, model = model_of(form, provider.url)
    with client:
        talk = converse(model, Notes(), "What about the plan?", format=shape, allowed={"search"}, word=lambda: "W")
    assert talk.text == "There is one note."
    assert [path.endswith(PATHS[form]) for path, _ in provider.received] == [True, True]
    first, second = (body for _, body in provider.received)
    tools = json.dumps(first["tools"]).replace("parameters_json_schema", "parametersJsonSchema")  # google sends either
    assert json.loads(tools) == shape.definitions(Notes().tools().values())
    assert "untrusted" in json.dumps(first.get("system") or first.get("instructions") or first), "the rules are sent"
    sent = json.dumps(second)
    assert "<<<untrusted W from notes__search\\none note\\n<<<end of untrusted W" in sent
    assert sent.count("call_1") == 2, "the call and its answer have one id"


@pytest.mark.parametrize("form", list(FORMATS))
def test_without_tools_a_conversation_works_too(form, provider):
    class Empty:
        def tools(self):
            return {}

        def call(self, name, arguments=None):
            raise AssertionError

    shape = FORMATS[form]
    provider.answers = [AROUND[form] | shape.reply("Hello.", [])]
    client, model = model_of(form, provider.url)
    with client:
        assert converse(model, Empty(), "Hi.", format=shape).text == "Hello."
