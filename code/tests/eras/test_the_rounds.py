"""Revision 2026-07-28: a call comes back with questions, and is made again with the answers."""

import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mcp_harness import BadReply, HandlerFailed, Host, HostClosed, RequestTimeout, RpcError, ServerConfig, ServerDied

NEW = "2026-07-28"
CODE = Path(__file__).resolve().parents[2]
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
QUESTION = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}}
FORM = {"method": "elicitation/create", "params": {"mode": "form", "message": "name?", "requestedSchema": {}}}
STATE = 'é\u2028 "\\ \U0001f600 =='
DONE = {"result": {"content": [{"type": "text", "text": "done"}]}}


def asks(questions=None, state=None, **more):
    """An answer to tools/call that is a question."""
    result = {"resultType": "input_required", **more}
    if questions is not None:
        result["inputRequests"] = questions
    if state is not None:
        result["requestState"] = state
    return {"result": result}


@pytest.fixture
def talk(faulty, tmp_path):
    """`talk(answers, …)` calls a tool of a server that answers so; returns outcome and the calls that it got."""

    def call(*answers, timeout=10, arguments=None, **handlers):
        record = tmp_path / "record"
        text = json.dumps({"tools/call": answers})
        with Host([faulty("scripted", "--text", text, "--record", record, era=NEW)], **handlers) as host:
            try:
                outcome = host.call("echo", arguments or {"text": "x"}, timeout=timeout)
            except Exception as error:
                outcome = error
            status = host.status()["faulty"]
        assert status.pending == 0
        messages = [json.loads(line) for line in record.read_text().splitlines() if line.startswith("{")]
        return outcome, [message for message in messages if message.get("method") == "tools/call"]

    return call


def sampling(server, params):
    return SAMPLED


def test_the_call_is_made_again_with_answers_and_state_and_a_new_id(talk):
    both = {"q": QUESTION, "who": FORM}
    form = lambda server, params: {"action": "accept", "content": {"name": "octocat"}}  # noqa: E731
    outcome, (first, second) = talk(asks(both, STATE), DONE, sampling=sampling, elicitation=form)
    assert outcome.text == "done"
    assert first["id"] != second["id"]
    again = second["params"]
    assert again["inputResponses"] == {"q": SAMPLED, "who": {"action": "accept", "content": {"name": "octocat"}}}
    assert again["requestState"] == STATE
    assert {key: again[key] for key in ("name", "arguments")} == {"name": "echo", "arguments": {"text": "x"}}
    assert again["_meta"] == first["params"]["_meta"]
    assert not {"inputResponses", "requestState"} & set(first["params"])


def test_answers_and_state_belong_to_one_round_only(talk):
    rounds = [asks({"a": QUESTION}, "one"), asks({"b": QUESTION}), asks(state="three"), DONE]
    outcome, calls = talk(*rounds, sampling=sampling)
    assert outcome.text == "done"
    added = [
        {key: value for key, value in call["params"].items() if key not in ("name", "arguments", "_meta")}
        for call in calls
    ]
    assert added == [
        {},
        {"inputResponses": {"a": SAMPLED}, "requestState": "one"},
        {"inputResponses": {"b": SAMPLED}},
        {"requestState": "three"},
    ]
    assert len({call["id"] for call in calls}) == 4


def test_all_questions_of_a_round_are_asked_at_the_same_time(talk):
    meeting = threading.Barrier(3)

    def sampling(server, params):
        meeting.wait(10)
        return SAMPLED

    questions = dict.fromkeys("cab", QUESTION)
    outcome, calls = talk(asks(questions), DONE, sampling=sampling)
    assert outcome.text == "done"
    assert list(calls[1]["params"]["inputResponses"]) == ["c", "a", "b"]


def test_rounds_without_end_are_counted(talk):
    outcome, calls = talk(asks({"q": QUESTION}), sampling=sampling)
    assert isinstance(outcome, BadReply)
    assert "more than 10 times" in str(outcome)
    assert len(calls) == 11


def test_a_state_alone_means_later_and_the_deadline_covers_the_waiting(talk):
    outcome, calls = talk(asks(state="wait"), timeout=0.3)
    assert isinstance(outcome, RequestTimeout)
    assert 2 <= len(calls) <= 6


@pytest.mark.parametrize("question", [QUESTION, FORM, {"method": "roots/list"}, {"method": "tools/list"}], ids=str)
def test_what_was_not_declared_is_refused_with_a_reason_and_nothing_is_answered(talk, question):
    outcome, calls = talk(asks({"q": question}, "s"), DONE)
    assert isinstance(outcome, BadReply)
    assert question["method"] in str(outcome)
    assert "did not declare" in str(outcome)
    assert len(calls) == 1


def test_a_question_with_a_url_is_not_declared_by_a_form_handler(talk):
    url = {"method": "elicitation/create", "params": {"mode": "url", "message": "log in", "url": "https://e.org"}}
    outcome, calls = talk(asks({"q": url}), DONE, elicitation=lambda server, params: {"action": "accept"})
    assert isinstance(outcome, BadReply)
    assert "'url'" in str(outcome)
    assert len(calls) == 1


ODD = [asks(), asks({}), asks([]), asks("q"), asks({"q": 5}), asks({"q": {}}), asks({"q": {"method": 1}})]
ODD += [asks({"q": {"method": "roots/list", "params": []}})]


@pytest.mark.parametrize("answer", ODD, ids=json.dumps)
def test_a_question_that_is_none_ends_the_call(talk, answer):
    outcome, calls = talk(answer, DONE, sampling=sampling, roots=lambda server, params: {"roots": []})
    assert isinstance(outcome, BadReply)
    assert len(calls) == 1


@pytest.mark.parametrize("kind", ["input-required", "", "COMPLETE", None, 5, [], {}], ids=repr)
def test_a_result_type_that_nobody_knows_makes_the_result_invalid(talk, kind):
    outcome, _ = talk({"result": {"resultType": kind, "content": []}})
    assert isinstance(outcome, BadReply)
    assert repr(kind) in str(outcome)


def test_a_missing_result_type_means_complete(talk):
    outcome, _ = talk(DONE)
    assert outcome.text == "done"


def test_only_a_call_may_come_back_with_a_question(faulty):
    text = json.dumps({"tools/list": [asks({"q": QUESTION})]})
    with Host([faulty("scripted", "--text", text, era=NEW)], sampling=sampling) as host:
        assert "input_required" in host.status()["faulty"].reason


@pytest.mark.parametrize("value", [[1, 2], "text", 5, 0, False, {"a": None}], ids=json.dumps)
def test_structured_content_may_be_any_json(talk, value):
    outcome, _ = talk({"result": {"content": [], "structuredContent": value}})
    assert outcome.structured == value


def test_an_error_in_a_later_round_comes_out_as_it_is(talk):
    refused = {"error": {"code": -32602, "message": "requestState: too old"}}
    outcome, _ = talk(asks({"q": QUESTION}, "s"), refused, sampling=sampling)
    assert isinstance(outcome, RpcError)
    assert outcome.code == -32602


BROKEN = [lambda server, params: 1 / 0, lambda server, params: None, lambda server, params: {"a": float("nan")}]


@pytest.mark.parametrize("handler", BROKEN, ids=["raises", "returns None", "returns no JSON"])
def test_a_broken_handler_is_our_own_mistake_and_the_call_ends(talk, handler):
    outcome, calls = talk(asks({"q": QUESTION, "r": QUESTION}), DONE, sampling=handler)
    assert isinstance(outcome, HandlerFailed)
    assert outcome.__cause__ is not None
    assert len(calls) == 1


def test_the_deadline_covers_the_handlers(talk):
    held = threading.Event()
    try:
        began = time.monotonic()
        outcome, calls = talk(asks({"q": QUESTION}), DONE, timeout=0.4, sampling=lambda s, p: held.wait(20) and SAMPLED)
        assert isinstance(outcome, RequestTimeout)
        assert "sampling/createMessage" in str(outcome)
        assert time.monotonic() - began < 10
        assert len(calls) == 1
    finally:
        held.set()


@pytest.mark.parametrize("end", ["close", "death"])
def test_the_end_of_the_session_ends_the_waiting_for_a_handler(faulty, end):
    held, entered = threading.Event(), threading.Event()

    def handler(server, params):
        entered.set()
        held.wait(20)
        return SAMPLED

    text = json.dumps({"tools/call": [asks({"q": QUESTION})]})
    config = faulty("scripted", "--text", text, era=NEW, restart="never")
    try:
        with Host([config], sampling=handler) as host, ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(host.call, "echo", {}, timeout=25)
            assert entered.wait(10)
            if end == "close":
                host.close()
            else:
                import os

                os.kill(host.status()["faulty"].pid, 9)
            assert isinstance(waiting.exception(timeout=10), HostClosed if end == "close" else ServerDied)
    finally:
        held.set()


def test_a_handler_may_call_a_tool_of_the_server_that_asks(faulty):
    def handler(server, params):
        assert host.call("echo", {"text": "inside"}, timeout=10).text == "inside"
        return SAMPLED

    with Host([faulty("good", era=NEW)], sampling=handler) as host:
        answer = json.loads(host.call("ask_client", QUESTION, timeout=15).text)
    assert answer == {"result": SAMPLED}


def test_a_request_of_a_server_of_this_revision_is_noise_and_gets_no_answer(faulty, facts):
    lines = [json.dumps({"jsonrpc": "2.0", "id": "x", "method": method}) for method in ("ping", "roots/list", "a/b")]
    with Host([faulty("good", era=NEW)], roots=lambda server, params: {"roots": []}) as host:
        assert host.call("say", {"lines": lines}, timeout=10).text == "said"
        assert host.status()["faulty"].noise_lines == 3
        received = facts(host)["received"]
    assert [message for message in received if "method" not in message] == []


@pytest.mark.parametrize("era", ["2025-11-25", NEW])
def test_the_same_handlers_serve_the_asking_server_in_both_revisions(era):
    handlers = {
        "sampling": lambda server, params: {**SAMPLED, "content": {"type": "text", "text": str(params["maxTokens"])}},
        "elicitation": lambda server, params: {"action": "accept", "content": {"name": "Ada"}},
        "roots": lambda server, params: {"roots": [{"uri": "file:///p"}]},
    }
    config = ServerConfig("asker", sys.executable, (str(CODE / "servers" / "asker.py"), "--era", era))
    with Host([config], **handlers) as host:
        assert host.status()["asker"].era == era
        assert host.call("invite", {"topic": "tea"}, timeout=10).text == "100"
        assert host.call("folders", timeout=10).text == "file:///p"
    with Host([config]) as host:
        if era == NEW:
            with pytest.raises(RpcError, match="sampling") as caught:
                host.call("summarize", {"text": "x"}, timeout=10)
            assert caught.value.code == -32021
        else:
            assert host.call("summarize", {"text": "x"}, timeout=10).is_error
