"""A question that asks what `code/main.py` returns: we run it and compare with the option that is keyed."""

import ast
import runpy

import pytest

from grader import quiz_format
from grader.course import Course

COURSE = Course.load()
MAIN = str(COURSE.root / "code/main.py")
QUESTIONS = [
    pytest.param(question, id=f"{path.stem}-{question.id}")
    for path in sorted((COURSE.root / "lessons/quizzes").glob("*.yaml"))
    for question in quiz_format.load(path).questions
]


def with_code(params):
    return [param for param in params if param.values[0].runs]


def with_setup(params):
    return [param for param in params if param.values[0].setup]


def connected(setup):
    """What a snippet may use: all of main.py, and the setup's `sessions`, `registry` and `wire`.

    `wire` is what the servers have received since: [server, name of the tool] for each call.
    """
    names = runpy.run_path(MAIN)
    if setup is None:
        return names
    wire = []

    def heard(server, function):
        def serve(request):
            if request.get("method") == "tools/call":
                wire.append([server, request["params"]["name"]])
            return function(request)

        return serve

    servers = [(s.name, heard(s.name, names[f"make_{s.name}_server"]())) for s in setup.servers]
    sessions = names["connect_all"](servers)
    for server in setup.servers:
        sessions[server.name].alive = not server.dead
    registry = names["merge"](sessions, names["Policy"](setup.policy))
    return names | {"sessions": sessions, "registry": registry, "wire": wire}


def value_of(code, names):
    """Run the code; its value is that of the last line."""
    *before, last = ast.parse(code).body
    exec(compile(ast.Module(before, []), "<runs>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<runs>", "eval"), names)


@pytest.mark.parametrize("question", with_code(QUESTIONS))
def test_main_py_returns_what_the_key_says(question):
    (key,) = [option for option in question.options if option.correct]
    assert value_of(question.runs, connected(question.setup)) == key.value


@pytest.mark.parametrize("question", with_setup(QUESTIONS))
def test_the_figure_shows_the_tools_that_main_py_has(question):
    names = runpy.run_path(MAIN)
    for server in question.setup.servers:
        if f"make_{server.name}_server" not in names:
            continue  # a later lesson may draw servers of its own
        session = names["connect"](server.name, names[f"make_{server.name}_server"]())
        assert [tool["name"] for tool in session.tools] == list(server.tools)


@pytest.mark.parametrize("question", with_setup(QUESTIONS))
def test_a_row_of_the_figures_table_is_a_row_of_the_real_one(question):
    if question.setup.table:
        entries = connected(question.setup)["registry"].values()
        real = [(entry.canonical_name, entry.server_name, entry.local_name) for entry in entries]
        for row in question.setup.table:  # "?" is what the figure leaves open
            assert any(all(shown in (cell, "?") for shown, cell in zip(row, there, strict=True)) for there in real)


def test_the_answer_in_the_unknown_tool_figure_is_what_the_server_says():
    (question,) = [param.values[0] for param in QUESTIONS if param.values[0].id == "unknown-tool"]
    assert question.setup.reply == ("files", value_of(question.runs, connected(question.setup)))


def test_a_wrong_key_would_be_noticed():
    (question,) = [param.values[0] for param in QUESTIONS if param.values[0].id == "count-reject"]
    values = [option.value for option in question.options]
    assert values.count(value_of(question.runs, connected(question.setup))) == 1
