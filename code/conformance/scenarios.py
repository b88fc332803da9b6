"""What a client does in each scenario of the conformance suite, as plans that wait for nothing.

A plan is a generator: it yields one step after the other, a method of a host and its arguments,
and is sent what came back. So one text serves both clients: `client.py` plays it with `Host`,
`sdk_client.py` with `SdkHost`. Opening a host alone already sends discover or initialize, and
lists the tools.

What it leaves out: the verdict. A refusal of the server is an answer like others; the suite judges.
"""

import os
import sys
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_harness import MergedTool, ServerConfig, ServerError, ServerStatus

SERVER = "suite"
LIMIT = 10.0  # seconds for opening and for each step: the suite stops us after thirty


@dataclass(frozen=True)
class Step:
    """A method of a host, to be called with these arguments. What comes back is a result or a ServerError."""

    method: str
    arguments: tuple[Any, ...]


Tools = Mapping[str, MergedTool]
Plan = Generator[Step, Any, None]


def resume(plan: Plan, answer: object) -> Step | None:
    """The next step of a plan after this answer, None at its end. The first answer is None."""
    try:
        return plan.send(answer)
    except StopIteration:
        return None


# --- what the handlers answer ----------------------------------------------------------------


def accept_defaults(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """An elicitation answered as a person would who presses Enter: each default, where there is one."""
    properties = params.get("requestedSchema", {}).get("properties", {})
    return {"action": "accept", "content": {key: at["default"] for key, at in properties.items() if "default" in at}}


def sample(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """A model's answer that needs no model."""
    text = {"type": "text", "text": "an answer"}
    return {"role": "assistant", "content": text, "model": "none", "stopReason": "endTurn"}


def no_roots(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """No folder is offered to the suite."""
    return {"roots": []}


# --- plans -----------------------------------------------------------------------------------


def call(name: str, arguments: dict[str, Any] | None = None) -> Plan:
    """Call a tool and print how it went."""
    answer = yield Step("call", (name, arguments))
    if isinstance(answer, ServerError):
        print("called", name, type(answer).__name__, answer)
    else:
        print("called", name, "error result" if answer.is_error else "result", answer.text[:200])


def sample_arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments that fit a simple schema."""
    samples: dict[str, Any] = {"string": "text", "number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    return {key: samples.get(part.get("type", "string")) for key, part in schema.get("properties", {}).items()}


def add_numbers(tools: Tools) -> Plan:
    yield from call("add_numbers", {"a": 5, "b": 3})


def call_all(tools: Tools) -> Plan:
    for name, tool in tools.items():
        yield from call(name, sample_arguments(tool.definition.get("inputSchema", {})))


def read_all(tools: Tools) -> Plan:
    """Tools, prompts and resources. A host knows tools only; the rest goes through its `request`."""
    yield from call_all(tools)
    for listing, key, method, word in (
        ("prompts/list", "prompts", "prompts/get", "name"),
        ("resources/list", "resources", "resources/read", "uri"),
    ):
        listed = yield Step("request", (SERVER, listing))
        if isinstance(listed, ServerError):
            print(listing, listed)
            continue
        for item in listed[key]:
            answer = yield Step("request", (SERVER, method, {word: item[word]}))
            print("read", item[word], answer if isinstance(answer, ServerError) else "result")


def send_schema_back(tools: Tools) -> Plan:
    """The suite compares the schema that it sent with what arrived here."""
    there = list(tools.values())
    yield from call(there[-1].canonical_name, {"schema": there[0].definition["inputSchema"]})


def only_open(tools: Tools) -> Plan:
    """The handshake and the list are all that the scenario looks at."""
    yield from ()


SCENARIOS: dict[str, Callable[[Tools], Plan]] = {
    "initialize": only_open,
    "tools_call": add_numbers,
    "elicitation-sep1034-client-defaults": call_all,
    "request-metadata": call_all,
    "sep-2322-client-request-state": call_all,
    "http-standard-headers": read_all,
    "json-schema-ref-no-deref": only_open,
    "json-schema-2020-12-preservation": send_schema_back,
}


# --- what the suite asks for -------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """The server to talk to, and what to do there."""

    config: ServerConfig
    plan: Callable[[Tools], Plan]


def read_task() -> Task:
    """From the command line and the environment, as the suite sets them. Exits with 2 if they make no sense."""
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    if len(sys.argv) != 2 or scenario not in SCENARIOS:
        print(f"usage: MCP_CONFORMANCE_SCENARIO=NAME {Path(sys.argv[0]).name} URL", file=sys.stderr)
        print(f"scenario {scenario!r}; there are: {', '.join(SCENARIOS)}", file=sys.stderr)
        raise SystemExit(2)
    asked = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25")
    command = [str(Path(__file__).with_name("bridge.py")), sys.argv[1]]
    # "auto" where the new revision is judged: that probe is what a user's host sends
    era = "auto" if asked == "2026-07-28" else asked
    config = ServerConfig(SERVER, sys.executable, command, start_timeout=LIMIT, era=era, restart="never")
    return Task(config, SCENARIOS[scenario])


def is_ready(status: ServerStatus) -> bool:
    """True if there is something to be judged; says how the server is."""
    print("state", status.state, "era", status.era, "tools", status.tools)
    if status.state != "ready":
        print(status.reason, *status.stderr_tail, sep="\n", file=sys.stderr)
    return status.state == "ready"
