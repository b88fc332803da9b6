"""The small client after lesson 1 does for the course's servers what main.py does."""

import dataclasses

import main
import pytest
from steps import step01_namespace as step


@pytest.fixture
def sessions():
    servers = {"notes": main.make_notes_server, "files": main.make_files_server, "github": main.make_github_server}
    return main.connect_all({name: make() for name, make in servers.items()})


def test_its_merge_gives_the_same_table(sessions):
    small = {name: dataclasses.astuple(entry) for name, entry in step.merge(sessions).items()}
    assert small == {name: dataclasses.astuple(entry) for name, entry in main.merge(sessions).items()}


def test_its_merge_never_overwrites_in_silence(sessions):
    sessions["notes"].tools.append(main.tool("files/search", "A name that the prefix would make."))
    with pytest.raises(ValueError, match="'files/search' is already taken by 'notes'"):
        step.merge(sessions)


@pytest.mark.parametrize("name", ["search", "files/search", "github/search"])
def test_its_call_gives_the_same_result(sessions, name):
    small = step.call(step.merge(sessions), sessions, name, {"query": "plan"})
    assert small == main.call(main.merge(sessions), sessions, name, {"query": "plan"})


def test_its_call_sends_nothing_to_a_dead_server(sessions):
    sessions["notes"].alive = False
    sessions["notes"].server_fn = lambda message: pytest.fail("a dead server got a message")
    result = step.call(step.merge(sessions), sessions, "search", {"query": "plan"})
    assert result == main.text_result("server 'notes' is dead: 'search' was not called", is_error=True)


def test_its_call_turns_a_protocol_error_into_an_error_result(sessions):
    registry = step.merge(sessions)
    sessions["files"].server_fn = main.make_notes_server()  # a server that has lost its tool `read`
    result = step.call(registry, sessions, "read", {"path": "plan.txt"})
    assert result["isError"]
    assert "'files' answered error -32602" in result["content"][0]["text"]
