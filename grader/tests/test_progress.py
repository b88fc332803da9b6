"""Behaviour of progress: what the saved outputs say, without running anything."""

import pytest
from typer.testing import CliRunner

from grader.assignment import is_check
from grader.check import NotAnExercise
from grader.cli import app
from grader.progress import progress
from grader.sample_class.make_class import solved
from grader.tests import class_room
from grader.tests.class_room import assignment_of, hand_in, snapshot, verdict


@pytest.fixture
def course(tmp_path):
    return class_room.small_root(tmp_path / "root")


def worked_on(course, passed=(), failed=()):
    """A notebook in which the checks of some tasks were run and saved."""
    notebook = solved(assignment_of(course))
    for cell in notebook.cells:
        if is_check(cell) and int(cell.id[4]) in (*passed, *failed):
            cell.outputs = verdict(cell, int(cell.id[4]) in passed)
    return notebook


def states(entry):
    return [state for _, _, _, state in entry.tasks]


def test_a_task_is_solved_if_its_check_was_run_and_passed(tmp_path, course):
    hand_in(tmp_path, "mine", worked_on(course, passed=(1, 3), failed=(2,)))
    entry = progress(course, tmp_path / "mine")[0]
    assert states(entry) == ["solved", "not yet", "solved", "not run"]
    assert (entry.earned, entry.points) == (5, 10)


def test_of_several_notebooks_the_best_counts(tmp_path, course):
    hand_in(tmp_path, "mine", worked_on(course, passed=(1,)), "a.ipynb")
    hand_in(tmp_path, "mine", worked_on(course, passed=(1, 2)), "Copy of b.ipynb")
    assert progress(course, tmp_path / "mine")[0].path.name == "Copy of b.ipynb"


def test_what_is_no_exercise_is_passed_over(tmp_path, course):
    for name, content in (("a.ipynb", b""), ("b.ipynb", b"{}"), ("c.ipynb", b'{"cells": [], "nbformat": 4}')):
        hand_in(tmp_path, "mine", content, name)
    assert progress(course, tmp_path / "mine")[0].path is None


def test_nothing_is_run_and_nothing_is_changed(tmp_path, course, monkeypatch):
    monkeypatch.setattr("grader.run.run_notebook", None)
    hand_in(tmp_path, "mine", worked_on(course, passed=(1,)))
    before = snapshot(tmp_path / "mine")
    progress(course, tmp_path / "mine")
    assert snapshot(tmp_path / "mine") == before


def test_a_missing_folder_is_a_sentence(tmp_path, course):
    with pytest.raises(NotAnExercise, match="is no folder"):
        progress(course, tmp_path / "nowhere")


@pytest.mark.parametrize(("passed", "code"), [((1, 2, 3, 4), 0), ((1, 2, 3), 1), ((), 1)])
def test_the_exit_code_says_whether_everything_is_solved(tmp_path, course, monkeypatch, passed, code):
    hand_in(tmp_path, "mine", worked_on(course, passed))
    monkeypatch.chdir(course.root)
    result = CliRunner().invoke(app, ["progress", str(tmp_path / "mine")], env={"MCP_COURSE_STATE": str(tmp_path)})
    assert result.exit_code == code, result.output


@pytest.mark.parametrize("command", ["grade", "report", "sample-class", "doctor", "progress"])
def test_every_command_has_help_with_an_example(command):
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Example:" in result.output
    assert "Exit code 0" in result.output
