"""The gallery of wrong answers: plausible mistakes, each with the message it must get.

`grader/wrong/NN_slug/NAME.py` holds the cells that replace right answers;
`expected.toml` beside it says which tasks lose their points, with the exact sentence.
"""

import copy
import tomllib
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from grader.assignment import load_assignments
from grader.check import Report, check_notebook
from grader.course import Course, Lesson

SEED = "golden"  # fixes the hidden data, so that messages are the same on every run


@dataclass(frozen=True)
class Mistake:
    """One wrong answer. `lost` maps the number of a task that fails to its message."""

    lesson: Lesson
    name: str
    path: Path
    mistake: str
    lost: dict[int, str]

    def __str__(self) -> str:
        return f"{self.lesson.slug}-{self.name}"


def mistakes(course: Course) -> list[Mistake]:
    """Every mistake of every exercise."""
    found = []
    for lesson in course.lessons:
        folder = course.root / "grader" / "wrong" / lesson.slug
        path = folder / "expected.toml"
        table = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        for name, entry in table.items():
            lost = {int(task): message for task, message in entry.get("lost", {}).items()}
            found.append(Mistake(lesson, name, folder / f"{name}.py", entry["mistake"], lost))
    return found


def source_of(lesson: Lesson, course: Course) -> NotebookNode:
    """The exercise with all answers and all checks."""
    return nbformat.read(course.root / lesson.solution_notebook, as_version=4)


def with_mistake(source: NotebookNode, path: Path) -> NotebookNode:
    """The solved exercise with some answers replaced by those in the file."""
    wrong = {cell.metadata.get("id"): cell.source for cell in jupytext.read(path, fmt="py:percent").cells}
    notebook = copy.deepcopy(source)
    for cell in notebook.cells:
        if cell.id in wrong and cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = wrong.pop(cell.id)
    left = [name for name in wrong if name]
    if left:
        raise ValueError(f"{path.name} replaces the cells {left}, which are no answers of this exercise.")
    return notebook


def check_mistake(mistake: Mistake, course: Course) -> Report:
    """Run one wrong answer with the golden seed."""
    assignment = next(entry for entry in load_assignments(course) if entry.lesson == mistake.lesson)
    notebook = with_mistake(assignment.source, mistake.path)
    return check_notebook(notebook, course, mistake.path, assignment, seed=SEED)


def lost_in(report: Report) -> dict[int, str]:
    """The tasks without points and what was said to the student."""
    return {result.task: result.message for result in report.results if not result.earned}


def write_expected(lesson: Lesson, course: Course) -> None:
    """Run the gallery of an exercise and write the messages it gets now. Read the difference before you commit it."""
    folder = course.root / "grader" / "wrong" / lesson.slug
    lines = ["# What each wrong answer must get: the tasks that lose their points, with the exact message."]
    lines += [f"# Made with COURSE_SEED={SEED} by `python -m grader gallery --write`; change it only on purpose."]
    for mistake in [entry for entry in mistakes(course) if entry.lesson == lesson]:
        lines += ["", f"[{mistake.name}]", f"mistake = {_toml(mistake.mistake)}", f"[{mistake.name}.lost]"]
        lines += [f"{task} = {_toml(text)}" for task, text in sorted(lost_in(check_mistake(mistake, course)).items())]
    (folder / "expected.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _toml(text: str) -> str:
    """A string as a TOML basic string, on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
