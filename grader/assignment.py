"""An exercise as the grader knows it: its lesson, the notebook with answers, the notebook for students."""

import re
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from grader.course import Course, CourseError, Lesson


@dataclass(frozen=True)
class Assignment:
    """One exercise. `source` has answers and hidden checks, `release` is what students got."""

    lesson: Lesson
    source: NotebookNode
    release: NotebookNode

    @property
    def slug(self) -> str:
        return self.lesson.slug

    def __str__(self) -> str:
        return self.slug


def load_assignments(course: Course) -> list[Assignment]:
    """Every exercise that has been built. Raises CourseError if there is none."""
    found = []
    for lesson in course.lessons:
        if course.exists(lesson.solution_notebook) and course.exists(lesson.release):
            source, release = (
                nbformat.read(course.root / path, as_version=4) for path in (lesson.solution_notebook, lesson.release)
            )
            found.append(Assignment(lesson, source, release))
    if not found:
        raise CourseError(f"There is no exercise in {course.root} yet: run `python -m grader build` first.")
    return found


def is_graded(cell: NotebookNode) -> bool:
    """Whether nbgrader knows this cell of the course: a locked one, an answer or a check."""
    return "nbgrader" in cell.metadata


def is_answer(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def is_check(cell: NotebookNode) -> bool:
    """Whether nbgrader gives points for running this cell."""
    meta = cell.metadata.get("nbgrader", {})
    return bool(meta.get("grade")) and not meta.get("solution") and cell.cell_type == "code"


def is_locked(cell: NotebookNode) -> bool:
    return is_graded(cell) and not is_answer(cell)


def label(name: str) -> str:
    """A cell of the course as a person calls it."""
    found = re.fullmatch(r"task(\d+)(_check\d*)?", name)
    if found is None:
        return f"the cell {name!r}"
    return f"the {'check' if found[2] else 'answer'} of task {found[1]}"
