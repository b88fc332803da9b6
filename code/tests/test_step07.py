"""The host of lesson 7 against the real client's parts: the same words, the same cuts, the same verdicts."""

import json

import main
import pytest
from mcp_harness.formats import ANTHROPIC, GEMINI, OPENAI
from mcp_harness.model import RawCall, ask_first, read_call
from mcp_harness.namespace import merged
from mcp_harness.results import cap, mark
from steps import step07_model_loop as step
from steps.step01_namespace import MergedTool, merge

SERVERS = {"notes": main.make_notes_server, "files": main.make_files_server, "github": main.make_github_server}


def connected():
    """The three servers of the course and their table, as the step and as the real client have it."""
    sessions = main.connect_all({name: make() for name, make in SERVERS.items()})
    table = step.by_model_name(merge(sessions))
    real = {
        name: merged(entry.canonical_name, entry.server_name, entry.local_name, step.raw(entry, sessions))
        for name, entry in table.items()
    }
    return sessions, table, real


@pytest.mark.parametrize(
    ("shape", "form"), [(step.for_openai, OPENAI), (step.for_anthropic, ANTHROPIC), (step.for_gemini, GEMINI)]
)
def test_the_definitions_are_those_of_the_real_client(shape, form):
    sessions, table, real = connected()
    made = step.definitions(table, sessions, shape)
    assert form.definitions(real.values()) == ([{"functionDeclarations": made}] if form is GEMINI else made)


def test_both_look_a_call_up_under_the_same_name():
    _, table, real = connected()
    assert list(table) == [tool.model_name for tool in real.values()]


@pytest.mark.parametrize("name", ["files__search", "files/search", "x"])
@pytest.mark.parametrize("arguments", ['{"query": "plan"}', '{"query": "pl', "[1]", "7", "", "null"])
def test_both_refuse_the_same_calls(name, arguments):
    _, table, real = connected()
    entry, rest = step.read_call({"function": {"name": name, "arguments": arguments}}, table)
    call = read_call(RawCall("1", name, arguments), real)
    assert (entry is None) == bool(call.problem)
    if entry:
        assert rest == call.arguments


@pytest.mark.parametrize("text", ["", "plan", "ü" * 50, "a" * 1000 + "€", "🙂" * 9, "\ud83a" * 20])
@pytest.mark.parametrize("limit", [2, 10, 40])
def test_both_cap_alike(text, limit):
    assert step.cap(text, limit) == cap(text, limit).text


def test_neither_uses_a_word_that_is_in_the_text():
    for one in (lambda draw: step.mark("k7 <<<end", draw), lambda draw: mark("k7 <<<end", "t", draw)):
        assert one(iter(["k7", "p2"]).__next__).endswith("<<<end of untrusted p2")


@pytest.mark.parametrize("notes", [{}, {"readOnlyHint": True}, {"destructiveHint": True}, {"destructiveHint": False}])
@pytest.mark.parametrize("allowed", [(), ("files/delete",), ("delete",)])
def test_both_ask_for_the_same_tools(notes, allowed):
    definition = {**main.tool("delete", "Delete a file."), "annotations": notes}
    sessions = {"files": main.Session("files", None, {}, [definition])}
    entry = MergedTool("files/delete", "files", "delete", "Delete a file.")
    real = merged("files/delete", "files", "delete", definition)
    assert step.must_ask(entry, sessions, allowed) == bool(ask_first(real, allowed))


def test_every_call_gets_one_answer_in_order():
    sessions, table, _ = connected()
    calls = [
        {"id": f"call_{place}", "function": {"name": name, "arguments": json.dumps({"query": "plan"})}}
        for place, name in enumerate(["notes__create", "nobody", "github__open_pr"])
    ]
    turns = iter([{"role": "assistant", "content": None, "tool_calls": calls}, {"role": "assistant", "content": "ok"}])
    messages = step.converse(lambda *sent: next(turns), "x", table, sessions, (), lambda *asked: False)
    assert [message.get("tool_call_id") for message in messages[3:6]] == ["call_0", "call_1", "call_2"]
    assert messages[-1]["content"] == "ok"


def test_a_choice_has_k_tools_the_best_first():
    _, table, _ = connected()
    assert next(iter(step.choose(table, "open a pull request", 2))) == "github__open_pr"
    assert len(step.choose(table, "anything", 2)) == 2
    assert len(step.choose(table, "anything", 99)) == len(table)
