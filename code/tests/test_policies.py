"""Names on real servers: the counts of each policy, and first means first in the configuration."""

import sys
from pathlib import Path

import pytest
from mcp_harness import AmbiguousTool, HandshakeError, Host, Policy, ServerConfig, ServerDied, UnknownTool

SERVERS = Path(__file__).resolve().parents[1] / "servers"
ALL = ("notes", "files", "github")


def config(name, script=None, **options):
    return ServerConfig(name, sys.executable, ("-I", "-S", str(SERVERS / f"{script or name}.py")), **options)


COUNTS = {
    Policy.PREFIX: (2, 2, 3),
    Policy.PREFIX_ALL: (2, 2, 3),
    Policy.REJECT: (2, 1, 2),
    Policy.REJECT_SERVER: (2, 0, 0),
    Policy.AMBIGUOUS: (2, 2, 3),
}


@pytest.mark.parametrize("policy", Policy)
def test_each_policy_offers_its_number_of_tools_and_each_can_be_called(policy):
    with Host([config(name) for name in ALL], policy=policy) as host:
        tools, status = host.tools(), host.status()
        assert tuple(status[name].tools for name in ALL) == COUNTS[policy]
        assert len(tools) == sum(COUNTS[policy])
        for name, tool in tools.items():
            assert host.call(name, {}).server == tool.server_name


def test_a_refused_server_is_failed_with_its_reason_and_its_process_is_ended(events):
    with Host([config(name) for name in ALL], policy=Policy.REJECT_SERVER, on_event=events) as host:
        assert "REJECT_SERVER" in events.wait("failed", "files").data["reason"]
        events.wait("failed", "github")
        with pytest.raises(UnknownTool, match="files is failed"):
            host.call("read", {"path": "plan.txt"})
    collisions = [(e.server, e.data["name"], e.data["owner"]) for e in events.seen("collision")]
    assert collisions == [("files", "search", "notes"), ("github", "search", "notes")]


def test_the_ambiguous_name_is_refused_and_its_candidates_work():
    with Host([config(name) for name in ALL], policy=Policy.AMBIGUOUS) as host:
        with pytest.raises(AmbiguousTool) as caught:
            host.call("search", {"query": "plan"})
        assert caught.value.candidates == ("notes/search", "files/search", "github/search")
        assert [host.call(name, {"query": "plan"}).server for name in caught.value.candidates] == list(ALL)


def test_first_means_first_in_the_configuration_not_first_to_start(faulty, gate):
    """The first server is ready only after the second one."""
    door = gate()
    slow = faulty("slow-start", "--gate", door, name="slow")
    with Host([slow, faulty("good", name="quick")], wait=False) as host:
        host.wait_ready("quick", timeout=10)
        door.open()
        host.wait_ready("slow", timeout=10)
        assert host.tools()["echo"].server_name == "slow"
        assert host.tools()["quick/echo"].server_name == "quick"


def test_a_name_that_was_looked_at_stays_where_it_is(faulty, gate):
    door = gate()
    slow = faulty("slow-start", "--gate", door, name="slow")
    with Host([slow, faulty("good", name="quick")], wait=False) as host:
        host.wait_ready("quick", timeout=10)
        assert host.tools()["echo"].server_name == "quick"
        door.open()
        host.wait_ready("slow", timeout=10)
        assert host.tools()["echo"].server_name == "quick"
        assert host.tools()["slow/echo"].server_name == "slow"


def test_a_dead_owner_gives_an_error_and_never_another_servers_tool(events):
    import os

    with Host([config("notes", restart="never"), config("files")], on_event=events) as host:
        os.kill(host.status()["notes"].pid, 9)
        events.wait("failed", "notes")
        assert host.tools()["search"].server_name == "notes"
        with pytest.raises(ServerDied, match="SIGKILL") as caught:
            host.call("search", {"query": "plan"})
        assert caught.value.retry_in is None
        assert host.call("files/search", {"query": "plan"}).server == "files"


def test_a_refused_server_is_failed_when_the_block_begins_and_stays_so_after_a_restart():
    with Host([config(name) for name in ALL], policy=Policy.REJECT_SERVER) as host:
        assert [status.state for status in host.status().values()] == ["ready", "failed", "failed"]
        host.restart("files")
        assert host.status()["files"].state == "failed"
        assert set(host.tools()) == {"search", "create"}


def test_a_server_that_comes_late_is_refused_too(faulty, gate, events):
    door = gate()
    slow = faulty("slow-start", "--gate", door, name="slow")
    with Host([slow, faulty("good", name="quick")], policy=Policy.REJECT_SERVER, on_event=events, wait=False) as host:
        host.wait_ready("quick", timeout=10)
        assert host.tools()["echo"].server_name == "quick"
        door.open()
        events.wait("failed", "slow")
        with pytest.raises(HandshakeError, match="REJECT_SERVER"):
            host.wait_ready("slow", timeout=10)
