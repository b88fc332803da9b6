"""Names: policies, owners for life, model names, browsing. No process is started."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_harness import AmbiguousTool, ConfigError, Policy, UnknownTool, model_name
from mcp_harness.namespace import Namespace, changes, merged, names_in

SERVERS = {"notes": ["search", "create"], "files": ["read", "search"], "github": ["list_issues", "open_pr", "search"]}


def definitions(*names):
    return [{"name": name, "description": f"about {name}", "inputSchema": {"type": "object"}} for name in names]


def space(policy=Policy.PREFIX, servers=SERVERS, order=None):
    """A namespace that was filled in `order`, and the collisions."""
    names = Namespace(list(servers), policy)
    hits = [hit for server in order or servers for hit in names.offer(server, definitions(*servers[server]))]
    return names, hits + names.settle()


EXPECTED = {
    Policy.PREFIX: {"search", "create", "read", "files/search", "list_issues", "open_pr", "github/search"},
    Policy.PREFIX_ALL: {f"{server}/{tool}" for server, tools in SERVERS.items() for tool in tools},
    Policy.REJECT: {"search", "create", "read", "list_issues", "open_pr"},
    Policy.REJECT_SERVER: {"search", "create"},
    Policy.AMBIGUOUS: {"notes/search", "create", "read", "files/search", "list_issues", "open_pr", "github/search"},
}


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("order", [["notes", "files", "github"], ["github", "files", "notes"]])
def test_each_policy_gives_its_names_whoever_starts_first(policy, order):
    names, _ = space(policy, order=order)
    assert set(names.table) == EXPECTED[policy]


def test_the_table_says_where_a_call_goes():
    names, _ = space()
    tool = names.lookup("files/search")
    assert (tool.canonical_name, tool.server_name, tool.local_name) == ("files/search", "files", "search")
    assert (tool.description, tool.model_name) == ("about search", "files__search")
    assert tool.definition["inputSchema"] == {"type": "object"}
    assert names.lookup("search").server_name == "notes"


@pytest.mark.parametrize(
    ("policy", "outcome"), [(Policy.PREFIX, "renamed to files/search"), (Policy.REJECT, "skipped")]
)
def test_each_collision_is_reported_once(policy, outcome):
    names, hits = space(policy)
    assert [(hit.name, hit.owner, hit.server) for hit in hits] == [
        ("search", "notes", "files"),
        ("search", "notes", "github"),
    ]
    assert hits[0].outcome == outcome
    assert names.offer("files", definitions("read", "search")) + names.settle() == []


def test_prefix_all_has_no_collisions():
    assert space(Policy.PREFIX_ALL)[1] == []


def test_reject_server_says_why():
    names, hits = space(Policy.REJECT_SERVER)
    assert set(names.refused()) == {"files", "github"}
    assert "'search'" in names.refused()["files"]
    assert {hit.server for hit in hits} == {"files", "github"}


def test_a_server_that_was_let_in_is_not_thrown_out_for_a_later_tool():
    names, _ = space(Policy.REJECT_SERVER, {"a": ["one"], "b": ["two"]})
    names.offer("b", definitions("two", "one", "three"))
    names.settle()
    assert {name: tool.server_name for name, tool in names.table.items()} == {"one": "a", "two": "b", "three": "b"}


def test_the_ambiguous_bare_name_is_refused_with_its_candidates():
    names, _ = space(Policy.AMBIGUOUS)
    with pytest.raises(AmbiguousTool) as caught:
        names.lookup("search")
    assert caught.value.candidates == ("notes/search", "files/search", "github/search")


def test_an_ambiguous_name_offers_only_candidates_that_are_there():
    names, _ = space(Policy.AMBIGUOUS)
    names.offer("files", definitions("read"))
    names.settle()
    with pytest.raises(AmbiguousTool) as caught:
        names.lookup("search")
    assert caught.value.candidates == ("notes/search", "github/search")


def test_a_minted_name_that_is_taken_gets_a_number_and_is_reported():
    names, hits = space(servers={"odd": ["files/search", "search"], "files": ["search"]})
    assert names.lookup("files/search").server_name == "odd"
    assert names.lookup("files/search/2").server_name == "files"
    assert ("files/search", "odd", "renamed to files/search/2") in [(h.name, h.owner, h.outcome) for h in hits]


def test_a_name_twice_within_one_server_is_skipped_and_reported():
    names, hits = space(servers={"a": ["x", "x"]})
    assert list(names.table) == ["x"]
    assert [(hit.owner, hit.server) for hit in hits] == [("a", "a")]
    assert "twice" in hits[0].outcome


def test_before_anybody_looks_a_late_server_still_comes_first():
    names = Namespace(["a", "b"], Policy.PREFIX)
    names.offer("b", definitions("x"))
    names.offer("a", definitions("x"))
    names.settle()
    assert names.lookup("x").server_name == "a"


@pytest.mark.parametrize("policy", [Policy.PREFIX, Policy.REJECT, Policy.REJECT_SERVER, Policy.AMBIGUOUS])
def test_a_name_once_exposed_keeps_its_owner(policy):
    names = Namespace(["a", "b"], policy)
    names.offer("b", definitions("x"))
    names.settle()
    names.offer("a", definitions("x"))
    names.settle()
    assert names.lookup("x").server_name == "b"


def test_replaced_tools_have_no_names_before_somebody_looks_and_all_of_them_at_once_after():
    nothing = {"added": [], "removed": [], "changed": []}
    names = Namespace(["notes", "files"])
    assert names.replace("files", definitions("read", "search")) == (nothing, [])
    assert names.replace("notes", definitions("search")) == (nothing, [])
    assert not names.table
    names.settle()
    assert list(names.table) == ["search", "read", "files/search"]
    difference, hits = names.replace("notes", definitions("read"))
    assert difference == {"added": ["notes/read"], "removed": ["search"], "changed": []}
    assert names_in(difference) == ["notes/read", "search"]
    assert [(hit.name, hit.owner, hit.server) for hit in hits] == [("read", "files", "notes")]


def test_a_dropped_tool_leaves_its_name_reserved():
    names, _ = space()
    names.offer("notes", definitions("create"))
    names.offer("files", definitions("read", "search", "create"))
    names.settle()
    with pytest.raises(UnknownTool, match=r"'notes' no longer lists 'search'"):
        names.lookup("search")
    assert names.lookup("files/create").server_name == "files"
    names.offer("notes", definitions("create", "search"))
    names.settle()
    assert names.lookup("search").server_name == "notes"


def test_suggestions_know_local_names_and_spelling():
    names, _ = space(Policy.PREFIX_ALL)
    for name in ("read", "files/raed", "raed", "other/read", "files__read"):
        with pytest.raises(UnknownTool) as caught:
            names.lookup(name)
        assert "files/read" in caught.value.suggestions, name
    assert names.suggest("zzzzzz") == []


def test_browsing_by_prefix_and_counting_by_server():
    names, _ = space(Policy.PREFIX_ALL)
    assert names.browse("files/") == ["files/read", "files/search"]
    assert names.browse("github/open_pr") == ["github/open_pr"]
    assert names.browse("nobody/") == []
    assert names.browse() == sorted(names.table)
    assert names.counts() == {"notes": 2, "files": 2, "github": 3}
    names.offer("files", definitions("read"))
    names.settle()
    assert names.browse("files/") == ["files/read"]


def test_changes_name_what_came_went_and_differs():
    names, _ = space(servers={"a": ["keep", "go", "alter"]})
    before = names.table
    names.offer("a", [*definitions("keep", "come"), {"name": "alter", "inputSchema": {}}])
    names.settle()
    assert changes(before, names.table) == {"added": ["come"], "removed": ["go"], "changed": ["alter"]}


@pytest.mark.parametrize("policy", ["prefix", None, 3])
def test_a_policy_that_is_none_lists_the_members(policy):
    with pytest.raises(ConfigError, match=r"Policy\.REJECT_SERVER"):
        Namespace(["a"], policy)


@given(st.sampled_from(Policy), st.data())
def test_no_tool_is_lost_or_shared_under_any_names_and_order(policy, data):
    tool_names = st.sampled_from(["x", "y", "a/x", "b/x", "a/x/2"])
    names = Namespace(["a", "b", "c"], policy)
    owners = {}
    for _ in range(data.draw(st.integers(1, 6))):
        server = data.draw(st.sampled_from("abc"))
        names.offer(server, definitions(*data.draw(st.lists(tool_names, max_size=4))))
        if data.draw(st.booleans()):
            names.settle()
            for name, tool in names.table.items():
                assert owners.setdefault(name, (tool.server_name, tool.local_name)) == (
                    tool.server_name,
                    tool.local_name,
                )
    names.settle()
    pairs = [(tool.server_name, tool.local_name) for tool in names.table.values()]
    assert len(pairs) == len(set(pairs))


# --- the name for a model --------------------------------------------------------------------

LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")


def test_a_plain_pair_gets_a_plain_name():
    assert model_name("files", "read-file_2") == "files__read-file_2"


@pytest.mark.parametrize(
    ("server", "tool"),
    [
        ("acme_", "status"),
        ("acme", "_status"),
        ("acme", "status_"),
        ("_acme", "status"),
        ("a__b", "c"),
        ("a", "b__c"),
        ("1st", "x"),
        ("-a", "x"),
        ("a", "b.c"),
        ("a", "b/c"),
        ("a", "ü"),
        ("a", " "),
        ("a", "x\n"),
        ("a", "x" * 61),
        ("a" * 32, "b" * 30),
        ("a", "\ud800"),
    ],
)
def test_anything_else_gets_a_hash_and_is_still_legal(server, tool):
    name = model_name(server, tool)
    assert name != f"{server}__{tool}"
    assert LEGAL.fullmatch(name), name
    assert name == model_name(server, tool)


def test_the_longest_plain_name_has_63_characters():
    assert model_name("a", "b" * 60) == "a__" + "b" * 60
    assert len(model_name("a", "b" * 61)) <= 63


parts = st.text(alphabet="ab_-./", min_size=1, max_size=6) | st.text(max_size=80)


@given(parts, parts, parts, parts)
def test_two_pairs_never_share_a_model_name(server, tool, other_server, other_tool):
    same = (server, tool) == (other_server, other_tool)
    assert (model_name(server, tool) == model_name(other_server, other_tool)) == same
    assert LEGAL.fullmatch(model_name(server, tool))


def test_a_hashed_name_cannot_be_forged_by_a_plain_one():
    first, rest, digest = model_name("x", "__").split("__")
    for server, tool in [("x", digest), (first, f"{rest}__{digest}"), (f"{first}__{rest}", digest)]:
        assert model_name(server, tool) != model_name("x", "__")


def test_nobody_is_told_that_the_table_is_ready_before_it_is(monkeypatch):
    names = Namespace(["a"])
    names.offer("a", definitions("x"))
    seen = []

    def watch(*arguments):
        seen.append((names.stale, names.looked_at))
        return merged(*arguments)

    monkeypatch.setattr("mcp_harness.namespace.merged", watch)
    names.settle()
    assert seen == [(True, False)]
    assert (names.stale, names.looked_at) == (False, True)
