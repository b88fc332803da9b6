"""The skill, followed literally: its parts are there, its code runs on real servers of both revisions."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from mcp_harness.acceptance import FACTS, accept, load

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "outputs" / "skill-mcp-client-harness.md").read_text("utf-8")
FRONT, BODY = re.match(r"---\n(.*?)\n---\n(.*)", PAGE, re.DOTALL).groups()
MODULES = Path(os.environ.get("MCP_NODE_SERVERS") or ROOT / "work" / "node_servers") / "node_modules"
PROGRAMS = Path(os.environ.get("MCP_PYPI_SERVERS") or ROOT / "work" / "pypi_servers") / "bin"
FILESYSTEM = MODULES / "@modelcontextprotocol" / "server-filesystem" / "dist" / "index.js"
EVERYTHING = MODULES / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
CLOCK = PROGRAMS / "mcp-server-time"


@pytest.fixture(scope="session")
def harness_file(tmp_path_factory):
    """`harness.py`, as the skill tells one to make it: its Python block, whole and unchanged."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", BODY, re.MULTILINE | re.DOTALL)
    file = tmp_path_factory.mktemp("skill") / "harness.py"
    file.write_text(code, "utf-8")
    return file


@pytest.fixture
def real_servers():
    """Real servers, or a failure that says how to get them."""
    for path in (FILESYSTEM, EVERYTHING, CLOCK):
        if not path.exists():
            where = "node_servers" if path.suffix == ".js" else "pypi_servers"
            pytest.fail(f"{path.name} is not installed: run `python code/tests/{where}/install.py`", pytrace=False)


def test_the_front_matter_has_name_description_version_and_tags():
    front = yaml.safe_load(FRONT)
    assert list(front) == ["name", "description", "version", "tags"]
    assert front["name"] == "mcp-client-harness"
    assert re.fullmatch(r"\d+\.\d+\.\d+", front["version"])
    assert len(front["description"]) <= 1024
    assert "mcp" in front["tags"]


def test_the_parts_of_the_skill_stand_in_their_order():
    parts = ["Task", "Produce", "Hard rejects", "Refusal rules", "Output"]
    assert re.findall(r"^## (.+)$", BODY, re.MULTILINE) == parts


def test_each_part_that_the_skill_names_is_in_its_code(harness_file):
    module = load(str(harness_file)).__init__.__globals__
    named = re.findall(r"^\| [a-z ]+ \| `([\w.]+)` \|", BODY, re.MULTILINE)
    assert len(named) == 7
    for name in named:
        owner, _, member = name.partition(".")
        assert owner in module, name
        assert not member or hasattr(module[owner], member), name


@pytest.mark.slow
@pytest.mark.parametrize("modern", [False, True], ids=["2025-11-25", "both revisions"])
def test_the_skills_harness_passes_the_acceptance_run(harness_file, modern, capfd):
    facts = list(accept(load(str(harness_file)), modern=modern))
    assert [str(fact) for fact in facts if not fact.passed] == []
    assert len(facts) == len(FACTS)


@pytest.mark.slow
def test_the_skills_harness_passes_the_acceptance_run_with_real_servers(harness_file, real_servers, capfd):
    facts = list(accept(load(str(harness_file)), real=True))
    assert [str(fact) for fact in facts if not fact.passed] == []
    assert len(facts) == len(FACTS)


@pytest.mark.slow
def test_the_skill_followed_literally_on_three_real_servers(harness_file, real_servers, tmp_path):
    """One of them is configured twice, so that all its names collide. Steps 1 to 4 of "Then run it"."""
    listed = {"everything": {"command": "node", "args": [str(EVERYTHING)], "env": {}}}
    for side in ("left", "right"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "note.txt").write_text(f"this is {side}")
        listed[side] = {"command": "node", "args": [str(FILESYSTEM), str((tmp_path / side).resolve())]}
    listed["clock"] = {"command": str(CLOCK), "args": []}
    listed["other"] = {"command": "docker", "args": ["run", "something"]}
    document = {"mcpServers": listed}
    config = tmp_path / "servers.json"
    config.write_text(json.dumps(document))

    command = [sys.executable, str(harness_file), str(config), "--allow", "node", "--allow", str(CLOCK)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert shown.stdout.startswith("4 of 5 servers ready, "), shown
    assert "not ready: other (its command 'docker' is not on the allow-list)" in shown.stdout
    assert "'read_text_file' of right is already left's: renamed to right/read_text_file" in shown.stdout
    assert shown.returncode == 1

    with load(str(harness_file))(document, ["node", str(CLOCK)]) as harness:
        revisions = {name: server.connection.era for name, server in harness._servers.items()}
        assert revisions["clock"] == "2026-07-28"
        assert revisions["everything"] == revisions["left"] == revisions["right"] == "2025-11-25"

        def text(name, **arguments):
            result = harness.call(name, arguments, timeout=15)
            return result.get("isError", False), result["content"][0]["text"]

        for side, name in (("left", "read_text_file"), ("right", "right/read_text_file")):
            path = str((tmp_path / side / "note.txt").resolve())
            assert text(name, path=path) == (False, f"this is {side}")
        assert text("right/read_text_file", path=str((tmp_path / "left" / "note.txt").resolve()))[0]
        assert "hello" in text("echo", message="hello")[1]
        assert "UTC" in text("get_current_time", timezone="UTC")[1]

        processes = [server.connection.process for server in harness._servers.values()]
        killed = harness._servers["right"].connection
        os.kill(killed.process.pid, signal.SIGKILL)
        assert killed.ended.wait(5)
        is_error, reason = text("right/read_text_file", path=path)
        assert is_error
        assert "right" in reason
        assert "UTC" in text("get_current_time", timezone="UTC")[1]
        deadline = time.monotonic() + 20
        while harness.status()["right"] != "ready" and time.monotonic() < deadline:
            time.sleep(0.05)
        assert text("right/read_text_file", path=path) == (False, "this is right")
        processes.append(harness._servers["right"].connection.process)
    for process in processes:
        assert process.returncode is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 0)
            pytest.fail(f"something of {process.args} is alive")


def test_more_servers_than_the_bound_are_refused(harness_file):
    many = {f"s{number}": {"command": "sh"} for number in range(21)}
    with pytest.raises(ValueError, match="21 servers are listed, 20 are the most"):
        load(str(harness_file))({"mcpServers": many}, ["sh"])


def test_a_server_with_a_url_is_refused_and_pointed_to_the_sdk(harness_file):
    remote = {"mcpServers": {"far": {"url": "https://example.org/mcp"}}}
    with load(str(harness_file))(remote, []) as harness:
        assert "official SDK" in harness.status()["far"]


def test_restart_never_surfaces_a_death(harness_file, tmp_path, until):
    servers = ROOT / "code" / "servers"
    entry = {"command": sys.executable, "args": ["-S", str(servers / "faulty.py"), "good"], "restart": "never"}
    with load(str(harness_file))({"mcpServers": {"notes": entry}}, [sys.executable]) as harness:
        assert harness.call("die", {})["isError"]
        until(lambda: harness.status()["notes"].startswith("failed: it exited with code 1"))
        assert "failed" in harness.call("echo", {})["content"][0]["text"]


def test_a_list_of_the_new_revision_is_asked_for_again_by_its_age(harness_file, monkeypatch):
    """There a change is announced only to those who listen, and this harness does not."""
    make = load(str(harness_file))
    monkeypatch.setitem(make.__init__.__globals__, "LIST_FLOOR", 0.0)
    script = ROOT / "code" / "servers" / "changing.py"

    def tools_after_growing(ttl):
        entry = {"command": sys.executable, "args": ["-S", str(script), "--ttl", str(ttl)]}
        with make({"mcpServers": {"changing": entry}}, [sys.executable]) as harness:
            assert list(harness.tools()) == ["grow"]
            assert not harness.call("grow", {}).get("isError")
            return list(harness.tools())

    assert tools_after_growing(0) == ["grow", "tool_1"]
    assert tools_after_growing(600_000) == ["grow"]


def test_a_server_of_another_new_revision_is_named_with_it_and_gets_no_initialize(harness_file, tmp_path):
    code = """if True:
        import json, sys
        for line in sys.stdin:
            message = json.loads(line)
            with open(sys.argv[1], "a") as record:
                print(message["method"], file=record)
            error = {"code": -32022, "message": "no", "data": {"supported": ["2028-01-01"]}}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
    """
    record = tmp_path / "record"
    entry = {"command": sys.executable, "args": ["-S", "-c", code, str(record)], "restart": "never"}
    with load(str(harness_file))({"mcpServers": {"later": entry}}, [sys.executable]) as harness:
        assert "speaks 2028-01-01, this harness 2026-07-28 and 2025-11-25" in harness.status()["later"]
    assert record.read_text().split() == ["server/discover"]


@pytest.mark.parametrize("policy", ["prefix-all", "reject"])
def test_the_other_policies_lose_nothing_in_silence(harness_file, policy):
    servers = ROOT / "code" / "servers"
    entries = {
        name: {"command": sys.executable, "args": ["-S", str(servers / f"{name}.py")]} for name in ("notes", "files")
    }
    with load(str(harness_file))({"mcpServers": entries}, [sys.executable], policy) as harness:
        names, collisions = sorted(harness.tools()), harness.collisions
    if policy == "reject":
        assert names == ["create", "read", "search"]
        assert collisions == ["'search' of files is already notes's: skipped"]
    else:
        assert names == ["files/read", "files/search", "notes/create", "notes/search"]
        assert collisions == []


def test_the_code_is_shipped_as_it_is_tested():
    assert (ROOT / "code" / "skill_harness.py").read_text("utf-8") in PAGE
