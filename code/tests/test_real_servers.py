"""Servers that others wrote, from npm: `server-everything`, and `server-filesystem` twice so that its names collide."""

import os
from pathlib import Path

import pytest
from mcp_harness import Host, Policy, ServerConfig

ROOT = Path(__file__).resolve().parents[2]
MODULES = Path(os.environ.get("MCP_NODE_SERVERS") or ROOT / "work" / "node_servers") / "node_modules"


def server(name, package, *arguments):
    """The configuration of one npm server, started with node as npx would start it."""
    script = MODULES / "@modelcontextprotocol" / package / "dist" / "index.js"
    if not script.exists():
        pytest.fail(f"{package} is not installed: run `python code/tests/node_servers/install.py`", pytrace=False)
    return ServerConfig(name, "node", (str(script), *map(str, arguments)), era="2025-11-25", start_timeout=25)


@pytest.fixture
def folders(tmp_path):
    """Two folders with one file each."""
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "note.txt").write_text(f"this is {name} ✓\n", "utf-8")
    return (tmp_path / "left").resolve(), (tmp_path / "right").resolve()


@pytest.mark.fault("names that collide, are too long or illegal")
@pytest.mark.parametrize("policy", [Policy.PREFIX, Policy.PREFIX_ALL])
def test_three_real_servers_are_listed_and_called_although_their_names_collide(folders, events, policy):
    left, right = folders
    configs = [
        server("everything", "server-everything"),
        server("left", "server-filesystem", left),
        server("right", "server-filesystem", right),
    ]
    with Host(configs, policy=policy, on_event=events) as host:
        tools = host.tools()
        states = {name: (status.state, status.reason) for name, status in host.status().items()}
        assert {state for state, _ in states.values()} == {"ready"}, states
        own = {tool.local_name for tool in tools.values() if tool.server_name == "left"}
        other = {tool.local_name for tool in tools.values() if tool.server_name == "right"}
        assert own == other
        assert len(own) >= 10
        assert len({tool.model_name for tool in tools.values()}) == len(tools)

        first = "read_text_file" if policy is Policy.PREFIX else "left/read_text_file"
        read = host.call(first, {"path": str(left / "note.txt")}, timeout=15)
        assert (read.server, read.text.strip(), read.is_error) == ("left", "this is left ✓", False)
        read = host.call("right/read_text_file", {"path": str(right / "note.txt")}, timeout=15)
        assert (read.server, read.text.strip()) == ("right", "this is right ✓")
        denied = host.call("right/read_text_file", {"path": str(left / "note.txt")}, timeout=15)
        assert denied.is_error, "the server on the right may not read on the left"

        everything = next(name for name, tool in tools.items() if tool.local_name == "echo")
        assert "hello ✓" in host.call(everything, {"message": "hello ✓"}, timeout=15).text
        if policy is Policy.PREFIX:
            assert len(events.seen("collision", "right")) == len(own)


def test_the_everything_server_samples_and_asks_through_our_handlers():
    asked = []

    def sampling(name, params):
        asked.append(name)
        return {"role": "assistant", "content": {"type": "text", "text": "Paris, we think"}, "model": "none"}

    handlers = {
        "sampling": sampling,
        "elicitation": lambda name, params: {"action": "decline"},
        "roots": lambda name, params: {"roots": [{"uri": "file:///somewhere", "name": "somewhere"}]},
    }
    with Host([server("everything", "server-everything")], **handlers) as host:
        plain = set(host.tools())
        tool = next(name for name in plain if "sampling" in name.lower())
        result = host.call(tool, {"prompt": "capital of France?", "maxTokens": 20}, timeout=20)
    assert asked == ["everything"]
    assert "Paris, we think" in result.text


def test_roots_reach_the_filesystem_server(folders):
    left, right = folders
    roots = {"roots": [{"uri": right.as_uri(), "name": "right"}]}
    with Host([server("files", "server-filesystem", left)], roots=lambda name, params: roots) as host:
        while str(right) not in (allowed := host.call("list_allowed_directories", {}, timeout=15).text):
            assert allowed  # it asks for the roots once it is initialized, and each call lets it go on
