"""Faults in the list of tools: pages, changes, bad entries, names, and tools that have gone."""

import re

import pytest
from mcp_harness import Host, Policy, UnknownTool

LIST_CHANGED = '{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'


def listings(received):
    """How often the client asked for the list."""
    return sum(1 for message in received if message.get("method") == "tools/list")


@pytest.mark.fault("more than one page of tools, a cursor that does not advance")
@pytest.mark.parametrize(
    ("how", "count"),
    [("plain", 1), ("plain", 2), ("plain", 25), ("empty", 2)],
    ids=["one", "two", "many", "empty cursor"],
)
@pytest.mark.both_eras
def test_all_pages_are_followed(faulty, how, count):
    """The empty string is a cursor like any other: the list ends where there is none."""
    with Host([faulty("pages", "--count", count, "--how", how)]) as host:
        assert list(host.tools()) == [f"tool_{number}" for number in range(count)]
        assert host.status()["faulty"].tools == count
        assert host.call(f"tool_{count - 1}", {"text": "last"}, timeout=10).text == "last"


@pytest.mark.fault("more than one page of tools, a cursor that does not advance")
@pytest.mark.both_eras
def test_a_cursor_that_stands_still_ends_the_list_with_a_warning(faulty, events):
    with Host([faulty("pages", "--count", 2, "--how", "repeat", start_timeout=15)], on_event=events) as host:
        assert host.status()["faulty"].state == "ready"
        assert list(host.tools()) == ["tool_0", "tool_1"]
        assert "cursor" in str(events.wait("notice", "faulty").data)


@pytest.mark.fault("more than one page of tools, a cursor that does not advance")
def test_pages_without_end_stop_at_a_bound(faulty, events):
    with Host([faulty("pages", "--how", "endless", start_timeout=25)], on_event=events) as host:
        assert host.status()["faulty"].state == "ready"
        assert 100 <= len(host.tools()) <= 10_000
        assert "page" in str(events.wait("notice", "faulty").data)


@pytest.mark.fault("`list_changed`, once or 500 times")
@pytest.mark.parametrize("times", [1, 2, 500])
@pytest.mark.both_eras
def test_a_change_is_listed_again_once_or_twice_however_often_it_is_announced(faulty, facts, events, times):
    """The server reads the first new `tools/list` after all announcements are in the pipe: one more may follow."""
    with Host([faulty("good", "--tools", '[["old"]]')], on_event=events) as host:
        before = listings(facts(host)["received"])
        assert host.call("change", {"tools": ["new", "newer"], "times": times}, timeout=10).text == "changed"
        event = events.wait("tools_changed", "faulty")
        assert {"new", "newer"} <= set(host.tools())
        assert "old" not in host.tools()
        assert "new" in str(event.data)
        assert "old" in str(event.data)
        assert host.call("new", {"text": "called"}, timeout=10).text == "called"
        for _ in range(100):  # time for listings that should not come
            host.call("echo", {}, timeout=10)
        assert 1 <= listings(facts(host)["received"]) - before <= 2
    assert len(events.seen("tools_changed")) == 1


@pytest.mark.fault("`list_changed`, once or 500 times")
@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.both_eras
def test_a_change_that_was_announced_while_listing_is_listed_too(faulty, facts, events, count):
    """The announcement comes before the reply to a listing that does not have it yet."""
    with Host([faulty("changes-while-listing", "--count", count)], on_event=events) as host:
        before = listings(facts(host)["received"])
        host.call("change", {}, timeout=10)
        events.wait("tools_changed", number=count)
        assert {f"after_{number}" for number in range(1, count + 1)} <= set(host.tools())
        assert listings(facts(host)["received"]) - before == count + 1


@pytest.mark.fault("`list_changed`, once or 500 times")
@pytest.mark.both_eras
def test_a_change_that_changed_nothing_is_no_event(faulty, events):
    with Host([faulty("good")], on_event=events) as host:
        assert host.call("say", {"lines": [LIST_CHANGED] * 3}, timeout=10).text == "said"
        host.refresh("faulty")
    assert events.seen("tools_changed") == []


@pytest.mark.fault("`list_changed`, once or 500 times")
def test_a_server_can_announce_a_change_in_the_middle_of_a_call_that_waits(faulty, events):
    with Host([faulty("good")], on_event=events) as host:
        done = host.call("change", {"tools": ["a"]}, timeout=10)
        events.wait("tools_changed")
        assert done.text == "changed"
        assert "a" in host.tools()


@pytest.mark.fault("one tool with a bad schema")
@pytest.mark.both_eras
def test_bad_tools_are_set_aside_by_name_and_the_rest_works(faulty, events):
    with Host([faulty("bad-tools")], on_event=events) as host:
        tools = host.tools()
        assert host.status()["faulty"].state == "ready"
        assert host.call("first", {"text": "1"}, timeout=10).text == "1"
        assert host.call("last", {"text": "2"}, timeout=10).text == "2"
        assert {"first", "last"} <= set(tools)
        assert not {"no_schema", "list_schema", "text_schema", "array_schema", "true_schema"} & set(tools)
        assert all(isinstance(name, str) and name for name in tools)
        events.wait("tool_set_aside", "faulty")
    told = " ".join(str(event.data) for event in events.seen("tool_set_aside"))
    for name in ("no_schema", "list_schema", "text_schema", "array_schema"):
        assert name in told


@pytest.mark.fault("a tool gone between list and call")
@pytest.mark.parametrize("how", ["error", "is-error"])
@pytest.mark.both_eras
def test_a_tool_that_has_gone_is_looked_for_once_and_then_named(faulty, facts, events, how):
    with Host([faulty("tool-gone", "--how", how)], on_event=events) as host:
        assert "gone" in host.tools()
        before = listings(facts(host)["received"])
        with pytest.raises(UnknownTool) as caught:
            host.call("gone", {}, timeout=10)
        assert "gone" in str(caught.value)
        assert "faulty" in str(caught.value)
        events.wait("tools_changed", "faulty")
        assert "gone" not in host.tools()
        assert listings(facts(host)["received"]) - before == 1
        with pytest.raises(UnknownTool):
            host.call("gone", {}, timeout=10)


NAMES = ["search", "_status", "status_", "a__b", "files/search", "a b", "ünï", "-", "x" * 200, "SEARCH", "1st"]
MODEL_NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")


@pytest.mark.fault("names that collide, are too long or illegal")
@pytest.mark.parametrize("policy", list(Policy), ids=lambda policy: policy.name)
def test_whatever_the_names_the_server_gets_its_own_and_the_model_gets_a_legal_one(faulty, policy):
    """`structured` of the tool `echo` is the name under which the server was called."""
    configs = [faulty("awkward-names", name=name) for name in ("files", "acme", "acme_")]
    with Host(configs, policy=policy) as host:
        tools = host.tools()
        model_names = [tool.model_name for tool in tools.values()]
        assert len(set(model_names)) == len(tools)
        assert all(MODEL_NAME.match(name) for name in model_names)
        for canonical, tool in tools.items():
            if tool.local_name in NAMES:
                result = host.call(canonical, {"text": "x"}, timeout=10)
                assert (result.server, result.structured) == (tool.server_name, {"tool": tool.local_name})
        if policy in (Policy.PREFIX, Policy.PREFIX_ALL, Policy.AMBIGUOUS):
            pairs = {(tool.server_name, tool.local_name) for tool in tools.values()}
            assert {(config.name, name) for config in configs for name in NAMES} - pairs <= {
                (config.name, "files/search") for config in configs
            }


@pytest.mark.fault("names that collide, are too long or illegal")
@pytest.mark.both_eras
def test_names_that_join_to_the_same_text_stay_apart(faulty):
    configs = [
        faulty("good", "--tools", '[["status"]]', name="acme_"),
        faulty("good", "--tools", '[["_status"]]', name="acme"),
    ]
    with Host(configs, policy=Policy.PREFIX_ALL) as host:
        first, second = host.tools()["acme_/status"], host.tools()["acme/_status"]
        assert first.model_name != second.model_name
        assert host.call("acme_/status", {}, timeout=10).server == "acme_"
        assert host.call("acme/_status", {}, timeout=10).server == "acme"


@pytest.mark.fault("names that collide, are too long or illegal")
def test_the_name_that_a_server_gives_itself_means_nothing(faulty):
    """All faulty servers say that they are called `faulty`."""
    with Host([faulty("good", name="one"), faulty("good", name="two")], policy=Policy.PREFIX_ALL) as host:
        assert host.call("one/echo", {"text": "a"}, timeout=10).server == "one"
        assert host.call("two/echo", {"text": "b"}, timeout=10).server == "two"
        assert not [name for name in host.tools() if "faulty" in name]
