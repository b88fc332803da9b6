"""A learner's own check: run an exercise with all its checks, the hidden ones too, and say what to do next."""

import copy
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.course import Course, Lesson
from grader.results import TaskResult, read_results
from grader.run import Limits, run_notebook


class NotAnExercise(Exception):
    """The file cannot be checked; the message says why and what to do."""


@dataclass(frozen=True)
class Report:
    """What a check found in one notebook. `reason` says what cut the run short, if anything did."""

    path: Path
    lesson: Lesson
    results: list[TaskResult]
    reason: str

    @property
    def earned(self) -> float:
        return sum(result.earned for result in self.results)

    @property
    def points(self) -> float:
        return sum(result.points for result in self.results)

    @property
    def solved(self) -> bool:
        return self.earned == self.points

    def next_step(self) -> str:
        """The first thing to do now."""
        failed = next((result for result in self.results if not result.earned), None)
        if failed is None:
            return f"All tasks are solved. Read solutions/{self.lesson.slug}.md next: it shows another right way."
        return f"Next: task {failed.task} ({failed.title}). If its message does not help, open Hint 1 above the answer."


def check_file(path: Path, course: Course) -> Report:
    """Check one notebook file. Raises NotAnExercise with a sentence if that is not possible."""
    notebook = read_notebook(path)
    lesson, source = find_exercise(notebook, course)
    return check_notebook(notebook, course, path, lesson, source)


def check_notebook(
    notebook: NotebookNode, course: Course, path: Path, lesson: Lesson, source: NotebookNode, seed: str | None = None
) -> Report:
    """Run a notebook with the checks of its source and read the verdicts. `seed` fixes the hidden data."""
    run = run_notebook(
        with_checks(notebook, source),
        limits=Limits(),
        env={"PYTHONPATH": f"{course.root / 'code'}:{course.root}", "NBGRADER_EXECUTION": "check"}
        | ({"COURSE_SEED": seed} if seed else {}),
    )
    return Report(path, lesson, read_results(run.notebook), run.reason)


def read_notebook(path: Path) -> NotebookNode:
    """The notebook in this file, in today's format."""
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise NotAnExercise(f"{path}: there is no such file.") from None
    except Exception as error:
        raise NotAnExercise(f"{path}: this is not a notebook ({type(error).__name__}). Download it again.") from None


def find_exercise(notebook: NotebookNode, course: Course) -> tuple[Lesson, NotebookNode]:
    """The exercise that this notebook belongs to, by its cells and not by its name, and its source notebook."""
    ids = {name for cell in notebook.cells for name in _names(cell)}
    best: tuple[int, Lesson, NotebookNode] | None = None
    for lesson in course.lessons:
        if not course.exists(lesson.solution_notebook):
            continue
        source = nbformat.read(course.root / lesson.solution_notebook, as_version=4)
        shared = len(ids & {cell.id for cell in source.cells if "nbgrader" in cell.metadata})
        if shared and (best is None or shared > best[0]):
            best = (shared, lesson, source)
    if best is None:
        raise NotAnExercise("no cell of it belongs to an exercise of this course. Take a new copy from exercises/.")
    return best[1], best[2]


def with_checks(notebook: NotebookNode, source: NotebookNode) -> NotebookNode:
    """The learner's notebook with the course's own locked cells: setup, stage and all checks."""
    mine = copy.deepcopy(notebook)
    by_name = {name: cell for cell in reversed(mine.cells) for name in _names(cell)}
    after = -1
    for theirs in source.cells:
        if "nbgrader" not in theirs.metadata:
            continue
        cell = by_name.get(theirs.id)
        if cell is None:  # deleted by the learner: an answer is then missing, a check comes back
            after += 1
            mine.cells.insert(after, copy.deepcopy(theirs))
            if theirs.metadata.nbgrader.solution:
                mine.cells[after].source = ""
            continue
        after = next(index for index, other in enumerate(mine.cells) if other is cell)
        cell.cell_type, cell.id, cell.metadata["nbgrader"] = theirs.cell_type, theirs.id, theirs.metadata.nbgrader
        if not theirs.metadata.nbgrader.solution:
            cell.source = theirs.source
    return mine


def _names(cell: NotebookNode) -> list[str]:
    """The names by which a cell can be known again: Colab moves the id, other editors drop it."""
    names = [cell.get("id"), cell.metadata.get("id"), cell.metadata.get("nbgrader", {}).get("grade_id")]
    return [name for name in names if name]
