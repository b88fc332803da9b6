"""Behaviour of the simulation: every rule that the lessons build on, the silent-overwrite traps included."""

import ast
import dataclasses
import subprocess
import sys
from pathlib import Path

import main
import pytest
from main import Collision, MergedTool, Policy, Session, call, connect_all, merge

MAIN = Path(main.__file__)


def servers():
    return {
        "notes": main.make_notes_server(),
        "files": main.make_files_server(),
        "github": main.make_github_server(),
    }


def session(name, *tools):
    """A session whose server says which tool it was asked for."""

    def serve(request):
        text = f"{name} ran {request['params']['name']}"
        return {"jsonrpc": "2.0", "id": request["id"], "result": main.text_result(text)}

    return Session(name, serve, {}, [main.tool(tool, f"{tool} of {name}") for tool in tools])


def sessions_of(**tools):
    return {name: session(name, *names) for name, names in tools.items()}


def text(result):
    return result["content"][0]["text"]


def send(server, method, params=None, id=1):
    return server({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})


# --- the servers


@pytest.mark.parametrize("name", ["notes", "files", "github"])
def test_a_server_answers_initialize_with_version_capabilities_and_its_own_name(name):
    result = send(servers()[name], "initialize")["result"]
    assert result["protocolVersion"] == "2025-11-25"
    assert "tools" in result["capabilities"]
    assert result["serverInfo"] == {"name": f"{name}-server", "version": "1.0.0"}


def test_each_server_has_capabilities_of_its_own():
    capabilities = [send(server, "initialize")["result"]["capabilities"] for server in servers().values()]
    assert all(capabilities.count(one) == 1 for one in capabilities)


def test_a_notification_is_never_answered():
    for server in servers().values():
        assert server({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
        assert server({"jsonrpc": "2.0", "method": "nobody/knows/this"}) is None


@pytest.mark.parametrize("method", ["server/discover", "resources/list", "nonsense"])
def test_a_method_that_a_server_does_not_know_is_minus_32601(method):
    for server in servers().values():
        reply = send(server, method, id="x")
        assert reply["error"]["code"] == -32601
        assert reply["id"] == "x"


def test_ping_is_answered_with_an_empty_result():
    assert send(main.make_files_server(), "ping", id=9) == {"jsonrpc": "2.0", "id": 9, "result": {}}


def test_an_unknown_tool_is_minus_32602_and_missing_arguments_are_a_tool_error():
    files = main.make_files_server()
    assert send(files, "tools/call", {"name": "files/search"})["error"]["code"] == -32602
    missing = send(files, "tools/call", {"name": "read"})["result"]
    assert missing["isError"] is True
    assert "path" in text(missing)
    assert send(files, "tools/call", {"name": "read", "arguments": {"path": "nowhere"}})["result"]["isError"] is True


def test_every_tool_has_a_name_a_description_and_an_object_schema():
    for server in servers().values():
        for definition in send(server, "tools/list")["result"]["tools"]:
            assert definition["description"]
            assert definition["inputSchema"]["type"] == "object"


def test_a_new_notes_server_has_lost_the_notes_of_the_old_one():
    old, new = main.make_notes_server(), main.make_notes_server()
    send(old, "tools/call", {"name": "create", "arguments": {"title": "today", "text": "x"}})
    find = {"name": "search", "arguments": {"query": "today"}}
    assert text(send(old, "tools/call", find)["result"]) == "today"
    assert text(send(new, "tools/call", find)["result"]) == "no note found"


# --- connect


def test_connect_all_takes_a_dict_or_pairs_and_keeps_the_order():
    for given in (servers(), list(servers().items())):
        sessions = connect_all(given)
        assert list(sessions) == ["notes", "files", "github"]
        assert [[tool["name"] for tool in one.tools] for one in sessions.values()] == [
            ["search", "create"],
            ["read", "search"],
            ["list_issues", "open_pr", "search"],
        ]
        assert all(one.alive for one in sessions.values())


def test_the_handshake_is_initialize_then_initialized_then_the_list():
    seen, stub = [], main.make_files_server()

    def tap(request):
        seen.append((request["method"], "id" in request))
        return stub(request)

    connect_all({"files": tap})
    assert seen == [("initialize", True), ("notifications/initialized", False), ("tools/list", True)]


def test_a_session_has_the_five_fields_of_the_lesson():
    names = [field.name for field in dataclasses.fields(Session)]
    assert names == ["name", "server_fn", "capabilities", "tools", "alive"]


def test_an_empty_cursor_is_not_the_end_of_a_list():
    pages = {None: (["a"], ""), "": (["b"], "next"), "next": (["c"], None)}

    def serve(request):
        if request["method"] == "tools/list":
            names, cursor = pages[request["params"].get("cursor")]
            page = {"tools": [main.tool(name, name) for name in names]}
            return {"id": request["id"], "result": page | ({} if cursor is None else {"nextCursor": cursor})}
        return {"id": request["id"], "result": {"capabilities": {}}} if "id" in request else None

    assert [tool["name"] for tool in connect_all({"paged": serve})["paged"].tools] == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a.b", "x" * 33, "ä", "a\n", 3])
def test_a_server_name_outside_the_allowed_set_is_refused(name):
    with pytest.raises(ValueError, match="server name"):
        connect_all([(name, main.make_files_server())])


@pytest.mark.parametrize("name", ["a", "A-z_0", "x" * 32])
def test_a_server_name_inside_the_allowed_set_is_taken(name):
    assert list(connect_all([(name, main.make_files_server())])) == [name]


def test_a_server_name_used_twice_is_refused():
    with pytest.raises(ValueError, match="'files' is used twice"):
        connect_all([("files", main.make_files_server()), ("files", main.make_files_server())])


# --- merge


def test_prefix_gives_seven_tools_and_the_first_server_keeps_the_bare_name():
    registry = merge(connect_all(servers()))
    assert list(registry) == [
        "search", "create", "read", "files/search", "list_issues", "open_pr", "github/search",
    ]  # fmt: skip
    assert registry["files/search"] == MergedTool("files/search", "files", "search", "Search in files.")
    assert registry["search"].server_name == "notes"


def test_reject_gives_five_tools():
    registry = merge(connect_all(servers()), Policy.REJECT)
    assert list(registry) == ["search", "create", "read", "list_issues", "open_pr"]


def test_the_order_of_registration_decides_who_owns_the_bare_name():
    registry = merge(connect_all(reversed(servers().items())))
    assert registry["search"].server_name == "github"
    assert registry["notes/search"].local_name == "search"


@pytest.mark.parametrize("policy", list(Policy))
def test_each_collision_is_reported_with_owner_and_outcome(policy):
    hits = []
    merge(connect_all(servers()), policy, hits.append)
    outcome = {"files": "skipped", "github": "skipped"}
    if policy is Policy.PREFIX:
        outcome = {name: f"renamed to {name}/search" for name in outcome}
    assert hits == [Collision("search", "notes", name, outcome[name]) for name in ("files", "github")]


@pytest.mark.parametrize("policy", ["prefix", "last-one-wins", None, 1])
def test_anything_but_a_member_of_policy_is_refused_with_the_members(policy):
    with pytest.raises(ValueError, match=r"Policy\.PREFIX, Policy\.REJECT"):
        merge({}, policy)


def test_a_tool_that_really_has_the_minted_name_is_not_overwritten():
    hits = []
    registry = merge(sessions_of(odd=["search", "files/search"], files=["search"]), report=hits.append)
    assert {name: (tool.server_name, tool.local_name) for name, tool in registry.items()} == {
        "search": ("odd", "search"),
        "files/search": ("odd", "files/search"),
        "files/search/2": ("files", "search"),
    }
    assert Collision("files/search", "odd", "files", "renamed to files/search/2") in hits
    assert Collision("search", "odd", "files", "renamed to files/search/2") in hits


def test_a_real_tool_that_comes_after_the_minted_name_gets_a_name_of_its_own():
    registry = merge(sessions_of(a=["search"], files=["search"], odd=["files/search"]))
    assert registry["files/search"].server_name == "files"
    assert registry["odd/files/search"].local_name == "files/search"


def test_minted_names_count_on_until_one_is_free():
    registry = merge(sessions_of(odd=["x", "b/x", "b/x/2"], b=["x"]))
    assert registry["b/x/3"].server_name == "b"


@pytest.mark.parametrize("policy", list(Policy))
def test_a_name_repeated_within_one_server_is_skipped_and_reported(policy):
    hits = []
    registry = merge(sessions_of(a=["x", "x"]), policy, hits.append)
    assert list(registry) == ["x"]
    assert [(hit.owner, hit.server) for hit in hits] == [("a", "a")]
    assert "twice" in hits[0].outcome


def test_merging_changes_no_session():
    sessions = connect_all(servers())
    before = [list(one.tools) for one in sessions.values()]
    merge(sessions)
    assert [one.tools for one in sessions.values()] == before


# --- call


def test_a_call_sends_the_local_name_to_the_owner():
    sessions = sessions_of(notes=["search"], files=["search"])
    assert call(merge(sessions), sessions, "files/search", {}) == main.text_result("files ran search")


def test_the_example_of_the_course_page():
    sessions = connect_all(servers())
    result = call(merge(sessions), sessions, "files/search", {"query": "plan"})
    assert result == {"content": [{"type": "text", "text": "plan.txt"}], "isError": False}


def test_a_dead_server_gets_nothing_and_the_others_go_on():
    sessions = connect_all(servers())
    registry, asked = merge(sessions), []
    sessions["notes"].server_fn = asked.append
    sessions["notes"].alive = False
    result = call(registry, sessions, "search", {"query": "x"})
    assert result["isError"] is True
    assert "'notes' is dead" in text(result)
    assert asked == []
    assert call(registry, sessions, "read", {"path": "plan.txt"})["isError"] is False


def test_an_unknown_tool_is_an_error_result_that_lists_the_tools():
    sessions = connect_all(servers())
    result = call(merge(sessions), sessions, "delete")
    assert result["isError"] is True
    assert "'delete'" in text(result)
    assert "files/search" in text(result)


def answering(reply):
    return lambda request: reply


def raising(error):
    def serve(request):
        raise error

    return serve


@pytest.mark.parametrize(
    ("server_fn", "words"),
    [
        (answering({"id": 1, "error": {"code": -32602, "message": "Unknown tool: x"}}), "-32602: Unknown tool: x"),
        (raising(ZeroDivisionError("by zero")), "raised ZeroDivisionError: by zero"),
        (answering(None), "gave no reply to tools/call"),
        (answering({"id": 1}), "gave no reply to tools/call"),
    ],
)
def test_what_goes_wrong_in_a_server_is_an_error_result_that_names_server_and_reason(server_fn, words):
    sessions = sessions_of(broken=["x"])
    registry = merge(sessions)
    sessions["broken"].server_fn = server_fn
    result = call(registry, sessions, "x", {})
    assert result["isError"] is True
    assert "'broken'" in text(result)
    assert words in text(result)


def test_a_tool_error_is_handed_on_as_a_result():
    sessions = connect_all(servers())
    result = call(merge(sessions), sessions, "read", {"path": "nowhere"})
    assert result["isError"] is True
    assert "nowhere" in text(result)


# --- the demonstration and the file itself


def test_the_demonstration_prints_five_acts_the_same_each_time():
    runs = [subprocess.run([sys.executable, "-I", "-S", MAIN], capture_output=True, text=True) for _ in range(2)]
    assert runs[0].returncode == 0, runs[0].stderr
    assert runs[0].stdout == runs[1].stdout
    assert [line[:6] for line in runs[0].stdout.splitlines() if line.startswith("Act")] == [
        f"Act {number}." for number in range(1, 6)
    ][:5]
    assert 20 <= len(runs[0].stdout.splitlines()) <= 35


def test_the_simulation_imports_nothing_but_the_standard_library():
    tree = ast.parse(MAIN.read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {str(name).partition(".")[0] for name in modules} <= set(sys.stdlib_module_names)


def test_the_import_root_is_no_package_so_the_standard_library_keeps_its_code_module():
    assert not (MAIN.parent / "__init__.py").exists()
    command = "import code; print(code.InteractiveConsole.__name__)"
    run = subprocess.run([sys.executable, "-c", command], cwd=MAIN.parents[1], capture_output=True, text=True)
    assert run.stdout == "InteractiveConsole\n", run.stderr
