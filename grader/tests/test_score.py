"""Behaviour of score: silence is no pass, numbers are no points, and nothing that a check printed goes on."""

import copy

import nbformat
import pytest
from nbgrader.utils import determine_grade

from grader import checks
from grader.assignment import is_check
from grader.attempt import Outcome
from grader.course import Course
from grader.repair import repair, with_hidden_checks
from grader.run import NOT_RUN, TIMEOUT
from grader.sample_class.make_class import solved
from grader.score import score
from grader.tests.class_room import ROOT, assignment_of, verdict

ASSIGNMENT = assignment_of(Course.load(ROOT))
READY = with_hidden_checks(repair(solved(ASSIGNMENT).cells, ASSIGNMENT).notebook, ASSIGNMENT)
NAMES = [cell.id for cell in READY.cells if is_check(cell)]


def outcome(change=lambda cell: None, name="task2_check", **more):
    """All checks passed; then one check cell is changed."""
    notebook = copy.deepcopy(READY)
    for cell in notebook.cells:
        if is_check(cell):
            cell.outputs = verdict(cell, passed=True)
        if cell.id == name:
            change(cell)
    fields = {"reason": "", "clean": frozenset(NAMES), "problems": (), "restored": (), "seconds": 1.0}
    return Outcome(notebook, **{**fields, **more})


def marks(scored):
    """What our verdicts say; nbgrader must count the same from the notebook."""
    ours = [entry.earned for entry in scored.verdicts]
    theirs = [determine_grade(cell)[0] for cell in scored.notebook.cells if is_check(cell)]
    assert ours == theirs
    return ours


def error(name, text="a hidden value"):
    return nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[text])


def result(text):
    return nbformat.v4.new_output("execute_result", data={"text/plain": text}, execution_count=1)


def test_passed_checks_have_their_points():
    scored = score(outcome(), ASSIGNMENT)
    assert (marks(scored), scored.reason, scored.flags) == ([2, 2, 3, 3], "", ())


def test_a_check_that_ends_in_silence_has_no_points_and_is_flagged():
    scored = score(outcome(lambda cell: cell.outputs.clear()), ASSIGNMENT)
    assert marks(scored) == [2, 0, 3, 3]
    assert scored.flags == ("The check of task 2 ended without a verdict.",)


@pytest.mark.parametrize("number", ["99", "-1", "nan", "2", "1e999"])
def test_a_number_shown_as_a_result_is_no_points(number):
    def change(cell):
        cell.outputs = [result(number), *verdict(cell, passed=False)]

    scored = score(outcome(change), ASSIGNMENT)
    assert marks(scored) == [2, 0, 3, 3]
    assert scored.flags == ("In the check of task 2, a result was forged; it was left out.",)


def test_a_forged_verdict_beside_a_real_one_is_no_points():
    scored = score(outcome(lambda cell: cell.outputs.extend(verdict(cell, passed=True))), ASSIGNMENT)
    assert marks(scored) == [2, 0, 3, 3]
    assert scored.flags == ("The check of task 2 showed a forged verdict.",)


def test_a_verdict_of_another_task_counts_for_nothing():
    def change(cell):
        cell.outputs[0].data[checks.MIME]["task"] = 1

    assert marks(score(outcome(change), ASSIGNMENT)) == [2, 0, 3, 3]


@pytest.mark.parametrize("record", [None, [], "x", {"passed": 1}, {"passed": True, "task": 2}])
def test_a_record_that_is_none_counts_for_nothing(record):
    def change(cell):
        cell.outputs[0].data[checks.MIME] = record

    assert marks(score(outcome(change), ASSIGNMENT)) == [2, 0, 3, 3]


def test_words_on_stderr_cost_nothing():
    scored = score(
        outcome(lambda cell: cell.outputs.append(nbformat.v4.new_output("stream", name="stderr", text="warning"))),
        ASSIGNMENT,
    )
    assert marks(scored) == [2, 2, 3, 3]


def test_one_tampered_guard_takes_all_points_of_the_notebook():
    scored = score(outcome(problems=("builtins were replaced: len.",)), ASSIGNMENT)
    assert marks(scored) == [0, 0, 0, 0]
    assert scored.flags == ("No points: builtins were replaced: len.",)
    assert "changed from inside" in scored.verdicts[0].line


def test_a_pass_that_no_guard_confirmed_has_no_points():
    assert marks(score(outcome(clean=frozenset(NAMES[:1])), ASSIGNMENT)) == [2, 0, 0, 0]


def test_a_dead_kernel_keeps_what_was_earned_and_says_where_it_died():
    def change(cell):
        cell.outputs = [error(NOT_RUN, "Not run to its end: the kernel died in cell 16 (task3).")]

    scored = score(outcome(change, "task3_check", reason="the kernel died in cell 16 (task3)"), ASSIGNMENT)
    assert marks(scored) == [2, 2, 0, 3]
    assert scored.reason == "The kernel died in cell 16 (task3)."
    assert scored.verdicts[2].line.endswith("Not run to its end: the kernel died in cell 16 (task3).")


def test_a_cell_that_was_stopped_makes_the_reason():
    def change(cell):
        cell.outputs = [error("KeyboardInterrupt", ""), error(TIMEOUT, "")]

    scored = score(outcome(change), ASSIGNMENT)
    assert scored.reason == "The check of task 2 was stopped: it did not end in time."
    assert scored.verdicts[1].line.endswith("The check was stopped: it did not end in time.")


@pytest.mark.parametrize("name", ["KeyError", "Weird name\n<b>", "x" * 500])
def test_an_error_that_is_no_verdict_shows_its_name_at_most_and_never_its_text(name):
    def change(cell):
        cell.outputs = [error(name)]

    scored = score(outcome(change), ASSIGNMENT)
    assert "a hidden value" not in nbformat.writes(scored.notebook)
    assert marks(scored) == [2, 0, 3, 3]
    assert len(scored.verdicts[1].line) < 200


def test_what_a_check_cell_printed_is_dropped():
    stream = nbformat.v4.new_output("stream", name="stdout", text="the hidden data")
    scored = score(outcome(lambda cell: cell.outputs.insert(0, stream)), ASSIGNMENT)
    assert "the hidden data" not in nbformat.writes(scored.notebook)


@pytest.mark.parametrize(("number", "points"), [("1.5", 1.5), ("99", 2), ("-1", 0), ("nan", 0), ("inf", 0), ("'x'", 2)])
def test_partial_credit_of_a_plain_check_is_clamped(number, points):
    assignment = copy.deepcopy(ASSIGNMENT)
    next(cell for cell in assignment.source.cells if cell.id == "task2_check").source = "assert merge_reject"

    def change(cell):
        cell.outputs = [result(number)]

    assert marks(score(outcome(change), assignment))[1] == points


def test_a_class_that_is_equal_to_everything_is_flagged():
    given = outcome()
    given.notebook.cells.append(
        nbformat.v4.new_code_cell("class Yes:\n    def __eq__(self, other):\n        return True\n")
    )
    assert score(given, ASSIGNMENT).flags == (
        "The class 'Yes' claims to be equal to everything; that deceives no check.",
    )
