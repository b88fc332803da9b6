"""Every exercise: unsolved fails, solved passes, each wrong answer gets the message it deserves."""

from pathlib import Path

import nbformat
import pytest

from grader.assignment import load_assignments
from grader.check import check_notebook
from grader.course import Course
from grader.gallery import check_mistake, lost_in, mistakes

COURSE = Course.load(Path(__file__).parents[2])
EXERCISES = [lesson for lesson in COURSE.lessons if COURSE.exercise_ready(lesson)]
EACH = [  # all but the first start servers
    pytest.param(lesson, id=lesson.slug, marks=[pytest.mark.slow] if lesson.number > 1 else []) for lesson in EXERCISES
]
MISTAKES = mistakes(COURSE)


def assignment_of(lesson):
    return next(assignment for assignment in load_assignments(COURSE) if assignment.lesson == lesson)


def check(lesson, path):
    notebook = nbformat.read(COURSE.root / path, as_version=4)
    return check_notebook(notebook, COURSE, Path(path), assignment_of(lesson))


@pytest.mark.parametrize("lesson", EACH)
def test_the_solution_gets_every_point(lesson):
    report = check(lesson, lesson.solution_notebook)
    assert [result.message for result in report.results if not result.earned] == []
    assert report.earned == report.points == lesson.exercise.points == 10


@pytest.mark.parametrize("lesson", EACH)
def test_the_release_gets_nothing_and_says_for_each_task_that_it_is_not_written_yet(lesson):
    report = check(lesson, lesson.release)
    assert report.earned == 0
    assert report.reason == ""
    for result in report.results:
        assert result.message.startswith("This task is not written yet"), result


@pytest.mark.parametrize("lesson", EXERCISES, ids=lambda lesson: lesson.slug)
def test_there_are_enough_wrong_answers(lesson):
    assert len([mistake for mistake in MISTAKES if mistake.lesson == lesson]) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_a_wrong_answer_loses_its_points_with_its_message(mistake):
    assert lost_in(check_mistake(mistake, COURSE)) == mistake.lost
