"""Behaviour of the checks that stand in every exercise."""

import json
import linecache
import os
import subprocess
import sys
import threading
import time
import types
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pytest

from grader import checks
from grader.checks import CheckFailed, TimeLimit, difference, plain


@pytest.fixture(autouse=True)
def _fresh_results():
    checks.RESULTS.clear()
    yield
    checks.RESULTS.clear()


def failure(block, points=3):
    """The sentence with which a task fails when this block runs in it."""
    with pytest.raises(CheckFailed) as caught, checks.task(1, "a task", points=points) as check:
        block(check)
    return str(caught.value)


def double(number):
    return number * 2


def test_a_solved_task_shows_one_line_and_counts_its_points(capsys):
    with checks.task(1, "double a number", points=3) as check:
        check.returns(double, 2, expected=4)
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "✓ Task 1 (double a number): 3 of 3 points before the hidden checks."
    assert shown[1] == "Points so far: 3 of 3 in the tasks checked."


def test_a_wrong_value_is_told_with_the_call_the_value_and_what_was_expected():
    text = failure(lambda check: check.returns(double, 2, expected=5, why="twice is twice"))
    assert text == "Called double(2). It returned 4, but 5 was expected. Remember: twice is twice."


def test_a_dict_with_a_gap_is_told_by_its_keys():
    text = failure(lambda check: check.equal({"a": 1, "x": 1}, {"a": 1, "b": 2}, "the registry"))
    assert text.endswith("Missing: 'b'; not expected: 'x'.")


@pytest.mark.parametrize(
    ("actual", "expected", "gap"),
    [
        ({"a": [1, 2]}, {"a": [1, 3]}, "['a'][1] is 2 where 3 was expected"),
        ([1], [1, 2], "there is 1 item where 2 were expected"),
        ((1,), [1], ""),
        (1, True, ""),
        ({"a": 1}, {"a": 1}, None),
    ],
)
def test_the_first_difference_is_named_with_its_place(actual, expected, gap):
    assert difference(plain(actual), plain(expected)) == gap


def test_an_exception_becomes_a_sentence_and_not_a_stack_trace():
    def answer():
        raise KeyError("search")

    assert failure(lambda check: check.call(answer)) == "Called answer(). It raised KeyError: 'search'."


def test_a_stub_is_not_written_yet():
    def answer():
        raise NotImplementedError

    for block in (
        lambda check: check.call(answer),
        lambda check: check.raises(answer, error=Exception),
        lambda check: check.raises(answer, error=ValueError),
    ):
        assert failure(block) == "This task is not written yet."


def test_a_name_that_no_cell_has_defined_says_run_the_cells_above():
    assert failure(lambda check: undefined_answer).startswith("'undefined_answer' is not defined: run the cells")  # noqa: F821


def test_an_expected_exception_passes_and_a_missing_one_is_told():
    with checks.task(1, "refuses", points=1) as check:
        check.raises(int, "x", error=ValueError)
    assert failure(lambda check: check.raises(int, "1", error=ValueError, called="int('1')")) == (
        "Called int('1'). It returned 1, but ValueError was expected."
    )


def test_hidden_checks_say_what_is_asked_and_show_no_value():
    def block(check):
        with check.hidden("other names"):
            check.returns(double, 123456, expected=1, why="it doubles")

    assert failure(block) == "Hidden check (other names): it doubles."

    def crash(check):
        with check.hidden("other names"):
            raise KeyError("secret-name")

    assert failure(crash) == "Hidden check (other names): the answer led to KeyError."


def test_the_last_four_lines_of_the_wire_stand_behind_the_sentence():
    wire = []

    def block(check):
        check.wire(wire)
        wire.extend(f'→ {{"id": {number}}}' for number in range(1, 6))
        wire.append("← " + "x" * 400)
        check.equal(1, 2, "the number", why="it counts")

    sentence, *lines = failure(block).split("\n")
    assert sentence == "The number is 1, but 2 was expected. Remember: it counts. The last lines of the wire:"
    assert lines[:3] == ['→ {"id": 3}', '→ {"id": 4}', '→ {"id": 5}']
    assert len(lines) == 4
    assert len(lines[3]) == checks.SHOWN
    assert lines[3].endswith(" …")


def test_a_hidden_check_shows_nothing_of_the_wire():
    def block(check):
        check.wire(["→ secret"])
        with check.hidden("other data"):
            check.equal(1, 2, "the number", why="it counts")

    assert failure(block) == "Hidden check (other data): it counts."


def test_a_passed_task_says_whether_the_hidden_checks_ran(capsys):
    with checks.task(1, "double", points=1) as check, check.hidden("other numbers"):
        check.returns(double, 3, expected=6)
    assert "1 of 1 points, hidden checks too." in capsys.readouterr().out


def test_random_data_repeats_for_the_same_seed_and_differs_between_draws(monkeypatch):
    monkeypatch.setattr(checks, "SEED", "a")
    one, two = checks.Check(1), checks.Check(1)
    first = one.random().random()
    assert first == two.random().random()
    assert first != one.random().random()
    monkeypatch.setattr(checks, "SEED", "b")
    assert checks.Check(1).random().random() != first


# --- bounds


def test_an_answer_that_hangs_fails_with_a_sentence():
    def answer():
        while True:
            time.sleep(0.01)

    assert failure(lambda check: check.call(answer, seconds=0.2)) == (
        "Called answer(). It gave no answer within 0.2 seconds."
    )


def test_an_answer_that_swallows_exceptions_is_stopped_all_the_same():
    swallowed = []

    def answer():
        while len(swallowed) < 3:
            try:
                time.sleep(60)
            except BaseException as error:
                swallowed.append(error)
        time.sleep(60)

    assert "no answer within" in failure(lambda check: check.call(answer, seconds=0.1))
    assert len(swallowed) == 3


def test_a_limit_holds_in_another_thread_too():
    outcome = []

    def work():
        try:
            checks.limited(threading.Event().wait, 0.2)
        except TimeLimit as stop:
            outcome.append(str(stop))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(5)
    assert outcome == ["no answer within 0.2 seconds"]


def test_children_started_in_a_task_do_not_outlive_it():
    started = []

    def answer():
        started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        started.append(subprocess.Popen(["sleep", "600"], start_new_session=True))
        return 1

    with checks.task(1, "spawn", points=1) as check:
        check.returns(answer, expected=1)
    assert all(child.returncode is not None for child in started)


def test_a_child_that_hangs_dies_with_the_limit():
    assert "no answer within" in failure(
        lambda check: check.call(lambda: subprocess.run(["sleep", "600"]), seconds=0.2)
    )


def test_what_a_task_writes_to_stderr_is_kept_from_nbgrader_and_named(capfd):
    def block(check):
        print("from python", file=sys.stderr)
        subprocess.run([sys.executable, "-c", "import sys; sys.stderr.write('from a child')"])
        check.fail("It is wrong.")

    assert failure(block) == "It is wrong. Standard error said: from a child"
    assert capfd.readouterr().err == ""


def test_a_passed_task_names_its_stderr_in_the_line(capsys):
    with checks.task(1, "noisy", points=1):
        print("careful", file=sys.stderr)
    assert "Standard error said: careful" in capsys.readouterr().out


def test_an_interrupt_is_not_a_verdict():
    with pytest.raises(KeyboardInterrupt), checks.task(1, "a task", points=1):
        raise KeyboardInterrupt
    assert checks.RESULTS == {}


# --- values of the checker's own


class Liar(dict):
    def __eq__(self, other):
        return True

    def items(self):
        return {"a": 1}.items()

    __hash__ = None


def test_objects_that_claim_to_be_equal_are_compared_as_plain_data():
    assert failure(lambda check: check.equal(Liar(b=2), {"a": 1}, "the table")).startswith("The table is {'b': 2}")
    assert failure(lambda check: check.equal(checks.EqualToAll(), 1, "the answer"))


def test_dataclasses_and_enums_compare_by_name_and_fields():
    @dataclass
    class Entry:
        name: str

    class Policy(Enum):
        PREFIX = 1

    assert difference(plain([Entry("a"), Policy.PREFIX]), plain([Entry("a"), Policy.PREFIX])) is None
    assert difference(plain(Entry("a")), plain(Entry("b"))) == "['name'] is 'a' where 'b' was expected"


def test_a_value_that_contains_itself_does_not_hang():
    loop = []
    loop.append(loop)
    assert failure(lambda check: check.equal(loop, 1, "the list"))


def test_a_long_value_is_cut_in_the_sentence():
    text = failure(lambda check: check.equal("x" * 100_000, "y", "the text"))
    assert len(text) < 600


# --- what is shown and recorded


class Publisher:
    def __init__(self):
        self.shown = []

    def publish(self, data, metadata):
        self.shown.append(data)


def test_in_a_notebook_the_line_comes_as_text_html_and_record(monkeypatch):
    publisher = Publisher()
    monkeypatch.setattr(checks, "_shell", lambda: types.SimpleNamespace(kernel=1, display_pub=publisher))
    failure(lambda check: check.equal("<b>", "a & b", "the text"), points=2.5)
    (data,) = publisher.shown
    record = data[checks.MIME]
    assert (record["task"], record["points"], record["earned"], record["passed"]) == (1, 2.5, 0, False)
    assert record["message"] == "The text is '<b>', but 'a & b' was expected."
    assert record["message"] in data["text/plain"]
    assert "&lt;b&gt;" in data["text/html"]
    assert 'role="alert"' in data["text/html"]
    json.dumps(record)


def test_the_hand_in_cell_names_the_file_and_sums_the_points(capsys):
    with checks.task(1, "one", points=4):
        pass
    checks.hand_in("01_namespace", points=10)
    out = capsys.readouterr().out
    assert "Points so far: 4 of 4 in the tasks checked. The exercise has 10." in out
    assert "01_namespace.ipynb" in out


# --- the canary


def test_a_healthy_kernel_has_nothing_to_report():
    assert checks.canary() == []
    assert checks.verify(checks) == []


def test_the_canary_notices_a_replaced_builtin(monkeypatch):
    monkeypatch.setattr("builtins.divmod", lambda a, b: True)  # one that pytest can live without
    assert checks.canary() == ["builtins were replaced: divmod."]


def test_the_canary_notices_an_assert_that_a_transformer_drops(monkeypatch):
    import ast

    class Drop(ast.NodeTransformer):
        def visit_Assert(self, node):
            return ast.Pass()

    shell = types.SimpleNamespace(
        transform_cell=lambda text: text,
        transform_ast=lambda tree: ast.fix_missing_locations(Drop().visit(tree)),
        custom_exceptions=(),
    )
    monkeypatch.setattr(checks, "_shell", lambda: shell)
    assert any("assert False" in problem for problem in checks.canary())


def test_a_patched_check_is_noticed_by_canary_and_by_a_fresh_copy(monkeypatch):
    fresh = types.ModuleType("grader.checks")
    fresh.__file__ = checks.__file__
    exec(compile(Path(checks.__file__).read_text(), checks.__file__, "exec"), fresh.__dict__)
    assert checks.verify(fresh) == []
    monkeypatch.setattr(checks.Check, "equal", lambda self, *args, **kwargs: None)
    assert any("does not fail any more" in problem for problem in checks.canary())
    assert any("Check.equal" in problem for problem in checks.verify(fresh))


def test_checks_import_nothing_but_the_standard_library():
    code = "import sys; before = set(sys.modules); import grader.checks; print(*set(sys.modules) - before)"
    root = Path(checks.__file__).resolve().parents[1]
    run = subprocess.run(
        [sys.executable, "-S", "-c", code], env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True
    )
    tops = {name.partition(".")[0] for name in run.stdout.split()} - {"grader"}
    assert run.returncode == 0, run.stderr
    assert tops <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("first", [checks.OURS, "with checks.task(1, 'merge', points=2) as check:"])
def test_a_line_of_the_exercise_itself_is_no_line_of_the_answer(first):
    def cell(name, source, **names):
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        exec(compile(source, name, "exec"), names)
        return names

    answer = cell("<ipython-input-1>", "def answer(stop):\n    stop()  # here\n")["answer"]
    source = f"{first.replace('with', '# with')}\ndef stop():\n    raise ValueError('no')\n"
    stop = cell("<ipython-input-2>", source)["stop"]
    assert failure(lambda check: check.call(answer, stop, called="answer")) == (
        "Called answer. It raised ValueError: no at the line `stop()  # here`."
    )
