"""Servers that others wrote: from npm, which speak 2025-11-25, and from PyPI, which speak 2026-07-28.

`server-filesystem` is there twice, so that its names collide.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from mcp_harness import Host, Policy, ServerConfig
from mcp_harness.trace import Recorder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MODULES = Path(os.environ.get("MCP_NODE_SERVERS") or ROOT / "work" / "node_servers") / "node_modules"
PROGRAMS = Path(os.environ.get("MCP_PYPI_SERVERS") or ROOT / "work" / "pypi_servers") / "bin"


def server(name, package, *arguments, era="2025-11-25"):
    """The configuration of one npm server, started with node as npx would start it."""
    script = MODULES / "@modelcontextprotocol" / package / "dist" / "index.js"
    if not script.exists():
        pytest.fail(f"{package} is not installed: run `python code/tests/node_servers/install.py`", pytrace=False)
    return ServerConfig(name, "node", (str(script), *map(str, arguments)), era=era, start_timeout=25)


def pypi_server(name, program, *arguments):
    """The configuration of one PyPI server, started from the environment that was made for it."""
    if not (PROGRAMS / program).exists():
        pytest.fail(f"{program} is not installed: run `python code/tests/pypi_servers/install.py`", pytrace=False)
    return ServerConfig(name, str(PROGRAMS / program), tuple(map(str, arguments)), start_timeout=60)


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


@pytest.fixture
def repository(tmp_path):
    """A git repository with one commit."""
    folder = tmp_path / "repository"
    folder.mkdir()
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "the first commit ✓"]):
        subprocess.run([shutil.which("git") or "git", "-C", folder, *who, *command], check=True)
    return folder.resolve()


def test_servers_of_both_revisions_in_one_host_are_found_out_listed_called_and_traced(repository):
    """A mixed fleet with era "auto": nobody says which server is of which revision."""
    recorder = Recorder()
    configs = [
        pypi_server("time", "mcp-server-time", "--local-timezone", "UTC"),
        pypi_server("git", "mcp-server-git", "--repository", repository),
        server("everything", "server-everything", era="auto"),
    ]
    with recorder.attach(Host(configs)) as host:
        status = host.status()
        assert {name: (one.state, one.era) for name, one in status.items()} == {
            "time": ("ready", "2026-07-28"),
            "git": ("ready", "2026-07-28"),
            "everything": ("ready", "2025-11-25"),
        }, status
        assert all(one.generation == 1 for one in status.values())
        tools = host.tools()
        assert {tool.server_name for tool in tools.values()} == {"time", "git", "everything"}
        clock = host.call("convert_time", {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo"})
        assert "21:30" in clock.text
        assert "the first commit ✓" in host.call("git_log", {"repo_path": str(repository)}, timeout=30).text
        everything = next(
            name for name, tool in tools.items() if tool.server_name == "everything" and tool.local_name == "echo"
        )
        assert "hello ✓" in host.call(everything, {"message": "hello ✓"}, timeout=15).text
        assert host.call("git_log", {"repo_path": "/nowhere"}, timeout=30).is_error
        assert {name: one.noise_lines for name, one in host.status().items()} == dict.fromkeys(status, 0)
    said = {name: [] for name in status}
    for line in recorder.lines():
        said[line["server"]].append(line["message"])
    for name, messages in said.items():
        sent = [message.get("method") for message in messages if "method" in message]
        assert sent[0] == "server/discover"
        # a slow server of the newer revision may have been sent `initialize` too, before its answer came
        assert ("notifications/initialized" in sent) == (name == "everything")
    table = recorder.table()
    assert 'convert_time {"source_timezone":"UTC"' in table
    assert json.loads(json.dumps(said)) == said
    assert len(recorder.lanes().names) == 4
