"""Routing: names to servers, answers to results. Both hosts use it, so the messages here are the words of both."""

from types import SimpleNamespace

import pytest
from mcp_harness import ArgumentsError, BadReply, UnknownServer, UnknownTool
from mcp_harness.namespace import Namespace
from mcp_harness.routing import find_server, find_tool, gone, read_arguments, read_result, says_unknown


def servers(**states):
    return {name: SimpleNamespace(state=state) for name, state in states.items()}


@pytest.fixture
def namespace():
    namespace = Namespace(["notes", "files"])
    namespace.replace("notes", [{"name": "search"}, {"name": "create"}])
    namespace.settle()
    return namespace


def test_a_name_leads_to_its_tool(namespace):
    assert find_tool(namespace, "search", servers(notes="failed")).server_name == "notes"


def test_an_unknown_name_says_which_servers_are_not_there(namespace):
    with pytest.raises(UnknownTool) as caught:
        find_tool(namespace, "serch", servers(notes="ready", files="starting"))
    assert str(caught.value) == (
        "unknown tool 'serch': no server offers it; nothing was called (not all servers are there: files is starting; "
        "see host.status()). Did you mean 'search'?"
    )
    assert caught.value.suggestions == ("search",)


def test_an_unknown_name_with_all_servers_there_needs_no_remark(namespace):
    with pytest.raises(UnknownTool, match=r"nothing was called\. Did you mean 'search'\?"):
        find_tool(namespace, "serch", servers(notes="ready", files="ready"))


def test_a_server_is_found_by_its_name_or_the_error_lists_them():
    there = servers(notes="ready", files="failed")
    assert find_server(there, "files").state == "failed"
    with pytest.raises(UnknownServer, match=r"^no server 'mail' is configured; there are: 'notes', 'files'$"):
        find_server(there, "mail")
    with pytest.raises(UnknownServer, match="there are: none"):
        find_server({}, "mail")


@pytest.mark.parametrize(("given", "sent"), [(None, {}), ({}, {}), ({"a": 1}, {"a": 1})])
def test_arguments_are_sent_as_a_dict_of_our_own(given, sent):
    read = read_arguments("search", given)
    assert read == sent
    assert read is not given


@pytest.mark.parametrize("given", ["a", ["a"], 7])
def test_arguments_that_are_no_dict_are_the_callers_mistake(given):
    with pytest.raises(ArgumentsError, match=r"^tool 'search': the arguments are .*, but they have to be a dict$"):
        read_arguments("search", given)


def test_a_result_is_read_and_kept_as_it_came(namespace):
    tool = namespace.lookup("search")
    raw = {"content": [{"type": "text", "text": "a"}], "structuredContent": {"n": 1}, "isError": True}
    result = read_result(tool, raw)
    assert (result.content, result.structured, result.is_error) == (raw["content"], {"n": 1}, True)
    assert (result.server, result.raw, result.text) == ("notes", raw, "a")
    assert read_result(tool, {}).content == []
    with pytest.raises(BadReply, match=r"^server 'notes': the result of 'search' has no content list$") as caught:
        read_result(tool, {"content": "a"})
    assert caught.value.server == "notes"


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Unknown tool: Search", True),
        ("tool search not found", True),
        ("no such tool: search", True),
        ("Unknown tool: create", False),
        ("search found nothing", False),
        (" " * 500 + "unknown tool: search", False),
        ("", False),
    ],
)
def test_words_for_a_tool_that_is_not_there(text, unknown):
    assert says_unknown(text, "search") is unknown


def test_a_tool_that_has_gone_is_named_with_its_server(namespace):
    tool = namespace.lookup("search")
    namespace.replace("notes", [{"name": "research"}])
    assert str(gone(namespace, tool)) == (
        "unknown tool 'search': server 'notes' no longer has 'search'; its tools were listed again. "
        "Did you mean 'research'?"
    )
