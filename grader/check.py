"""A learner's own check: run an exercise with all its checks, the hidden ones too, and say what to do next."""

from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from grader.assignment import Assignment, load_assignments
from grader.course import Course, Lesson
from grader.matching import find_assignment
from grader.reading import Unreadable, read_cells
from grader.repair import repair, with_hidden_checks
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
    return check_notebook(notebook, course, path, find_exercise(notebook, course))


def check_notebook(
    notebook: NotebookNode, course: Course, path: Path, assignment: Assignment, seed: str | None = None
) -> Report:
    """Run a notebook with the checks of its exercise and read the verdicts. `seed` fixes the hidden data."""
    repaired = repair(notebook.cells, assignment)
    run = run_notebook(
        with_hidden_checks(repaired.notebook, assignment),
        limits=Limits(),
        env={"PYTHONPATH": f"{course.root / 'code'}:{course.root}", "NBGRADER_EXECUTION": "check"}
        | ({"COURSE_SEED": seed} if seed else {}),
    )
    return Report(path, assignment.lesson, read_results(run.notebook), run.reason)


def read_notebook(path: Path) -> NotebookNode:
    """The notebook in this file, in today's format."""
    try:
        return read_cells(path.read_bytes())[0]
    except FileNotFoundError:
        raise NotAnExercise(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise NotAnExercise(f"{path}: this is a folder; give a notebook in it.") from None
    except OSError as error:
        raise NotAnExercise(f"{path}: it cannot be read ({error.strerror}).") from None
    except Unreadable as error:
        raise NotAnExercise(f"{path}: {error}.") from None


def find_exercise(notebook: NotebookNode, course: Course) -> Assignment:
    """The exercise that this notebook belongs to, by its cells and not by its name."""
    assignment = find_assignment(notebook.cells, load_assignments(course))
    if assignment is None:
        raise NotAnExercise("no cell of it belongs to an exercise of this course. Take a new copy from exercises/.")
    return assignment
