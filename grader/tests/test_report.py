"""Behaviour of the report: CSV that is quoted and harmless, pages that show a student's own work only."""

import csv

import nbformat
import pytest

from grader import grade as grading
from grader.course import CourseError
from grader.feedback import where_it_stopped
from grader.grade import grade
from grader.plots import frequent_messages, gist
from grader.report import COLUMNS, harmless, report
from grader.sample_class.make_class import solved
from grader.tests import class_room
from grader.tests.class_room import SLUG, assignment_of, hand_in, options


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "attempt", class_room.no_kernel)
    return class_room.small_root(tmp_path / "root")


def graded(course, folder):
    grade(course, options(folder, folder.parent / "work"))
    return report(course, folder.parent / "work")


def test_marks_have_exactly_these_columns_and_then_one_for_each_task(tmp_path, course):
    written = graded(course, class_room.small_class(tmp_path / "class", course))
    with written.marks.open(encoding="utf-8", newline="") as file:
        head = next(csv.reader(file))
    assert head == [*COLUMNS, *(f"{SLUG} task{number}" for number in (1, 2, 3, 4))]
    assert ",".join(COLUMNS) == (
        "assignment,student_id,last_name,first_name,status,score,max_score,late_seconds,flags,repairs,reason"
    )


@pytest.mark.slow
@pytest.mark.parametrize("student", ['=HYPERLINK("http://x","y")', "+1", "-1", "@a", 'a,"b";c'])
def test_no_name_of_a_student_becomes_a_formula_or_another_column(tmp_path, course, student):
    hand_in(tmp_path / "class", student.replace("/", "_"), solved(assignment_of(course)))
    with graded(course, tmp_path / "class").marks.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not rows[1][1].startswith(("=", "+", "-", "@"))


def test_a_text_over_many_lines_is_one_line_in_the_table():
    assert harmless("=1\n\t+2") == "'=1 +2"
    assert harmless("an ordinary sentence") == "an ordinary sentence"


@pytest.mark.slow
def test_a_page_shows_names_as_text_and_never_as_html(tmp_path, course):
    hand_in(tmp_path / "class", "<b>bold<", solved(assignment_of(course)))
    page = graded(course, tmp_path / "class").feedback[0].read_text(encoding="utf-8")
    assert "<b>bold" not in page
    assert "&lt;b&gt;bold&lt;" in page


@pytest.mark.slow
def test_a_page_shows_code_points_repairs_and_what_to_do_about_an_unreadable_file(tmp_path, course):
    pages = graded(course, class_room.small_class(tmp_path / "class", course)).feedback
    ada, bob, eve = (page.read_text(encoding="utf-8") for page in pages)
    assert "10 of 10" in ada
    assert "def merge_prefix" in ada
    assert "4 of 10" in bob
    assert "✗ Task 3" in bob
    assert "the file is empty" in eve
    assert "hand it in again" in eve


@pytest.mark.slow
def test_pages_of_former_runs_go(tmp_path, course):
    folder = class_room.small_class(tmp_path / "class", course)
    graded(course, folder)
    (folder / "ada" / f"{SLUG}.ipynb").unlink()
    assert [page.parent.name for page in graded(course, folder).feedback] == ["bob [2]", "eve"]
    assert not (tmp_path / "work" / "report" / "feedback" / "ada" / f"{SLUG}.html").exists()


def test_a_report_without_a_gradebook_says_what_to_do(tmp_path, course):
    with pytest.raises(CourseError, match="run `python -m grader grade SUBMISSIONS` first"):
        report(course, tmp_path / "nothing")


def stopped(source, name, trace="", text="hidden 4711"):
    error = nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[trace])
    return where_it_stopped(source, nbformat.v4.new_code_cell(source, outputs=[error]))


def test_where_a_cell_stopped_is_told_by_kind_and_line_and_never_by_the_text_of_the_error():
    said = stopped("a = 1\nb = c", "NameError", "\x1b[0;32m----> 2\x1b[0m b = c")
    assert said == "This cell stopped with NameError at line 2: b = c"
    assert stopped("x", "Leak_4711") == "This cell stopped with an error of its own."
    assert stopped("def f(:\n  pass", "SyntaxError").startswith("Python could not read this cell: ")
    assert stopped("x", "CellTimeout") == "This cell was stopped: it did not end in time."
    assert where_it_stopped("x", nbformat.v4.new_code_cell("x")) == ""


def test_messages_that_differ_in_their_values_only_are_one():
    one, two = (f"✗ Task 3 (a call): 0 of 3 points. It returned {n}. Remember: send it once." for n in (1, 2))
    assert gist(one) == gist(two) == "send it once."


@pytest.mark.slow
def test_messages_about_unwritten_tasks_are_no_lesson_to_talk_about(tmp_path, course):
    written = graded(course, class_room.small_class(tmp_path / "class", course))
    assert frequent_messages(list(written.rows)) == []
    assert written.plots[0].read_bytes().startswith(b"\x89PNG")
