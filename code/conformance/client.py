"""The client under test: `client.py URL`, started by the conformance suite, one scenario a run.

It is `mcp_harness` and nothing else; the bridge makes an HTTP server look like a stdio server
to it. What a scenario wants to see done is in `SCENARIOS`. Opening the host alone already
sends discover or initialize, and lists the tools.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mcp_harness import Host, RpcError, ServerConfig, ServerError

SERVER = "suite"
LIMIT = 10.0  # seconds for opening and for each call: the suite stops us after thirty


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


def call(host: Host, name: str, arguments: dict[str, Any] | None = None) -> None:
    """Call a tool and print how it went. A refusal is no failure of ours: the suite judges, not we."""
    try:
        result = host.call(name, arguments, timeout=LIMIT)
        print("called", name, "error result" if result.is_error else "result", result.text[:200])
    except ServerError as error:
        print("called", name, type(error).__name__, error)


def sample_arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments that fit a simple schema."""
    samples: dict[str, Any] = {"string": "text", "number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    return {key: samples.get(part.get("type", "string")) for key, part in schema.get("properties", {}).items()}


def add_numbers(host: Host) -> None:
    call(host, "add_numbers", {"a": 5, "b": 3})


def call_all(host: Host) -> None:
    for name, tool in host.tools().items():
        call(host, name, sample_arguments(tool.definition.get("inputSchema", {})))


def read_all(host: Host) -> None:
    """Tools, prompts and resources. The host offers tools only, so the rest goes through its session."""
    call_all(host)
    session = host._member(SERVER).ready_session()
    for listing, key, method, word in (
        ("prompts/list", "prompts", "prompts/get", "name"),
        ("resources/list", "resources", "resources/read", "uri"),
    ):
        try:
            for item in session.request(listing, None, time.monotonic() + LIMIT)[key]:
                session.request(method, {word: item[word]}, time.monotonic() + LIMIT)
                print("read", item[word])
        except RpcError as error:
            print(listing, error)


def send_schema_back(host: Host) -> None:
    """The suite compares the schema that it sent with what arrived here."""
    tools = list(host.tools().values())
    call(host, tools[-1].canonical_name, {"schema": tools[0].definition["inputSchema"]})


def only_open(host: Host) -> None:
    """The handshake and the list are all that the scenario looks at."""


SCENARIOS: dict[str, Callable[[Host], None]] = {
    "initialize": only_open,
    "tools_call": add_numbers,
    "elicitation-sep1034-client-defaults": call_all,
    "request-metadata": call_all,
    "sep-2322-client-request-state": call_all,
    "http-standard-headers": read_all,
    "json-schema-ref-no-deref": only_open,
    "json-schema-2020-12-preservation": send_schema_back,
}


def main() -> int:
    """Play the scenario that the environment names. Returns the exit code."""
    url, scenario = sys.argv[-1], os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    if scenario not in SCENARIOS:
        print(f"scenario {scenario!r} is none of: {', '.join(SCENARIOS)}", file=sys.stderr)
        return 2
    asked = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25")
    bridge = str(Path(__file__).with_name("bridge.py"))
    # "auto" where the new revision is judged: that probe is what a user's host sends
    era = "auto" if asked == "2026-07-28" else asked
    config = ServerConfig(SERVER, sys.executable, [bridge, url], start_timeout=LIMIT, era=era, restart="never")
    with Host([config], sampling=sample, elicitation=accept_defaults, roots=no_roots) as host:
        status = host.status()[SERVER]
        print("state", status.state, "era", status.era, "tools", list(host.tools()))
        if status.state != "ready":
            print(status.reason, *status.stderr_tail, sep="\n", file=sys.stderr)
            return 1
        SCENARIOS[scenario](host)
    return 0


if __name__ == "__main__":
    sys.exit(main())
