"""Behaviour of repair: every damage of the sample class is mended, and what was fine stays as it was."""

import copy
import json

import nbformat
import pytest

from grader.assignment import is_check, is_graded, is_locked
from grader.course import Course
from grader.matching import find_assignment
from grader.reading import Unreadable, read_cells
from grader.repair import repair, with_hidden_checks
from grader.sample_class import damage
from grader.sample_class.make_class import solved
from grader.tests.class_room import ROOT, assignment_of

COURSE = Course.load(ROOT)
ASSIGNMENT = assignment_of(COURSE)
MENDED = ("copied cell", "deleted test", "stripped metadata", "edited test", "flipped flags", "reordered", "old format")


def repaired(way=None, change=lambda notebook: None):
    """A solved notebook, changed or damaged in one of the known ways, then read and repaired."""
    notebook = copy.deepcopy(solved(ASSIGNMENT))
    change(notebook)
    content = damage.WAYS[way](notebook) if way else damage.files(notebook)
    cells = read_cells(next(iter(content.values())))[0].cells
    assert find_assignment(cells, [ASSIGNMENT]) is ASSIGNMENT
    return repair(cells, ASSIGNMENT)


def graded(notebook):
    return [(cell.id, cell.cell_type, cell.metadata) for cell in notebook.cells if is_graded(cell)]


def sources(notebook):
    return {cell.id: cell.source for cell in notebook.cells}


@pytest.mark.parametrize("way", [None, "colab", "jupyterlite"])
def test_an_ordinary_save_needs_no_repair(way):
    mended = repaired(way)
    assert (mended.repairs, mended.flags) == ((), ())
    assert sources(mended.notebook) == sources(solved(ASSIGNMENT))


@pytest.mark.parametrize("way", [*MENDED, "deleted answer", "asks and installs"])
def test_every_damage_ends_in_the_cells_of_the_release_in_their_order(way):
    mended = repaired(way)
    assert graded(mended.notebook) == graded(ASSIGNMENT.release)
    release = sources(ASSIGNMENT.release)
    assert all(cell.source == release[cell.id] for cell in mended.notebook.cells if is_locked(cell))
    nbformat.validate(mended.notebook)


@pytest.mark.parametrize("way", ["copied cell", "deleted test", "stripped metadata", "flipped flags", "reordered"])
def test_answers_survive_every_repair(way):
    mine = sources(repaired(way).notebook)
    assert {name: mine[name] for name in ("task1", "task2", "task3", "task4")} == {
        name: source for name, source in sources(solved(ASSIGNMENT)).items() if name in mine and name[4:].isdigit()
    }


def test_a_changed_check_is_restored_and_flagged():
    mended = repaired("edited test")
    assert mended.flags == ("The check of task 2 was changed; the course's own text was used.",)
    assert mended.repairs == ("The check of task 2 was put back as released.",)


def test_a_deleted_answer_comes_back_empty_and_does_not_hide_work_in_another_cell():
    def move(notebook):
        at = damage.place(notebook, "task2")
        code = notebook.cells.pop(at).source
        notebook.cells.insert(at - 4, nbformat.v4.new_code_cell(f"helper = 1\n{code}"))

    mended = repaired(change=move)
    assert sources(mended.notebook)["task2"] == ""
    assert "The answer of task 2 was missing and was put back empty." in mended.repairs
    assert any(cell.source.startswith("helper = 1") for cell in mended.notebook.cells)


def test_a_copy_of_a_check_is_left_out_and_a_copy_of_an_answer_runs_without_points():
    mended = repaired("copied cell")
    assert sum("checks.task(1" in cell.source for cell in mended.notebook.cells) == 1
    assert sum("def merge_prefix" in cell.source for cell in mended.notebook.cells) == 2
    assert len([cell for cell in mended.notebook.cells if is_graded(cell)]) == len(graded(ASSIGNMENT.release))


def test_cells_that_a_student_added_stay_behind_the_cell_they_followed():
    def add(notebook):
        at = damage.place(notebook, "task1_check")
        notebook.cells.insert(at + 1, nbformat.v4.new_code_cell("mine = 1", id="setup-2"))

    notebook = repaired(change=add).notebook
    names = [cell.id for cell in notebook.cells]
    assert notebook.cells[names.index("task1_check") + 1].source == "mine = 1"


def test_an_answer_turned_into_text_is_code_again():
    def turn(notebook):
        at = damage.place(notebook, "task1")
        notebook.cells[at] = nbformat.v4.new_markdown_cell(
            notebook.cells[at].source, id="task1", metadata=notebook.cells[at].metadata
        )

    mended = repaired(change=turn)
    assert mended.repairs == ("The answer of task 1 was a markdown cell; it is code again.",)
    assert sources(mended.notebook)["task1"] == sources(solved(ASSIGNMENT))["task1"]


def test_the_hidden_checks_come_from_the_source_and_never_stand_in_the_repaired_notebook():
    mended = repaired().notebook
    assert not any("HIDDEN" in cell.source for cell in mended.cells)
    armed = with_hidden_checks(mended, ASSIGNMENT)
    assert all("BEGIN HIDDEN TESTS" in cell.source for cell in armed.cells if is_check(cell))


def test_repair_leaves_its_input_as_it_is():
    cells = read_cells(next(iter(damage.WAYS["reordered"](solved(ASSIGNMENT)).values())))[0].cells
    before = copy.deepcopy(cells)
    repair(cells, ASSIGNMENT)
    assert cells == before


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\0\0\0", "empty"),
        (b"<!doctype HTML><p>no", "web page"),
        (b"PK\x03\x04....", "archive"),
        (b'{"cells": [', "half a download"),
        (b"no json", "not JSON"),
        (b"[1, 2]", "JSON, but not a notebook"),
        (b'{"a": 1}', "has no cells"),
        (b'{"cells": []}', "without any cell"),
        (b'{"cells": 3, "nbformat": 4}', "has no cells"),
        (b'{"worksheets": 3, "nbformat": 3}', "old notebook format"),
        (b"\xff\xfe\x00\xd8", "not"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_notebook_is_refused_with_a_reason(data, reason):
    with pytest.raises(Unreadable, match=reason):
        read_cells(data)


@pytest.mark.parametrize(
    "cell",
    [
        {"cell_type": "code", "source": 3},
        {"cell_type": "code", "source": ["a", None]},
        {"cell_type": "heading"},
        "text",
        None,
    ],
)
def test_things_that_are_no_cells_are_left_out_and_reported(cell):
    good = {"cell_type": "code", "source": ["a = 1\n", "b = 2"], "metadata": None, "id": 7}
    notebook, notes = read_cells(damage.files({"nbformat": 4, "cells": [good, cell]})[damage.NAME])
    assert [cell.source for cell in notebook.cells] == ["a = 1\nb = 2"]
    assert notes == ["1 thing in the file was no cell; it was left out."]


def test_strange_names_and_marks_stop_nothing():
    notebook = solved(ASSIGNMENT)
    for strange in ({"nbgrader": "yes"}, {"nbgrader": {"grade_id": ["a"]}, "id": 5}, {"nbgrader": []}):
        notebook.cells.append({"cell_type": "code", "source": "\ud800", "metadata": strange, "id": "task1"})
    data = json.dumps(notebook).encode()
    mended = repair(read_cells(data)[0].cells, ASSIGNMENT)
    nbformat.validate(mended.notebook)
    nbformat.writes(mended.notebook).encode()


def test_a_notebook_of_another_course_belongs_to_no_exercise():
    cells = [nbformat.v4.new_code_cell("print(1)"), nbformat.v4.new_markdown_cell("# Hello")]
    assert find_assignment(cells, [ASSIGNMENT]) is None
