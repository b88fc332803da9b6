"""What is solved of the exercises in a folder, read from the outputs that are saved in the notebooks.

Nothing is run: a task counts as solved if its check was run and passed and the notebook was saved
afterwards. `grader check` runs a notebook with all its checks, the hidden ones too.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from grader import checks
from grader.assignment import Assignment, is_check, load_assignments
from grader.check import NotAnExercise
from grader.course import Course
from grader.matching import find_assignment, match
from grader.reading import Unreadable, read_cells
from grader.score import TASK

SKIPPED = (".ipynb_checkpoints", ".venv", "node_modules", "solutions", "work")


@dataclass(frozen=True)
class Progress:
    """One exercise: the notebook found for it, and for each task its title, points and state."""

    assignment: Assignment
    path: Path | None
    tasks: tuple[tuple[int, str, float, str], ...]  # number, title, points, "solved" | "not yet" | "not run"

    @property
    def earned(self) -> float:
        return sum(points for _, _, points, state in self.tasks if state == "solved")

    @property
    def points(self) -> float:
        return sum(points for _, _, points, _ in self.tasks)


def progress(course: Course, folder: Path) -> list[Progress]:
    """One entry for each exercise of the course; of several notebooks the one with most points counts."""
    if not folder.is_dir():
        raise NotAnExercise(f"{folder} is no folder: give the one that holds your notebooks.")
    assignments = load_assignments(course)
    best = {assignment.slug: Progress(assignment, None, _tasks(assignment, {})) for assignment in assignments}
    for path in sorted(folder.rglob("*.ipynb")):
        if any(part in SKIPPED for part in path.relative_to(folder).parts):
            continue
        found = _read(path, assignments)
        if found is not None and (
            best[found.assignment.slug].path is None or found.earned > best[found.assignment.slug].earned
        ):
            best[found.assignment.slug] = found
    return list(best.values())


def _read(path: Path, assignments: list[Assignment]) -> Progress | None:
    """The state of one notebook; None if it is no exercise."""
    try:
        data = path.read_bytes()
        cells = read_cells(data)[0].cells
        assignment = find_assignment(cells, assignments)
        if assignment is None:
            return None
        saved = nbformat.reads(data.decode("utf-8-sig"), as_version=4).cells
    except (OSError, ValueError, Unreadable, nbformat.ValidationError):
        return None
    found = match(cells, assignment.release)
    outputs = {name: saved[place].get("outputs", []) for place, name in found.names.items() if place < len(saved)}
    return Progress(assignment, path, _tasks(assignment, outputs))


def _tasks(assignment: Assignment, outputs: dict[str, list[Any]]) -> tuple[tuple[int, str, float, str], ...]:
    """Each task with the state that its saved outputs show."""
    tasks = []
    for number, cell in enumerate([cell for cell in assignment.release.cells if is_check(cell)], 1):
        declared = TASK.search(cell.source)
        task, title = (int(declared[1]), declared[3]) if declared else (number, cell.id)
        tasks.append((task, title, float(cell.metadata["nbgrader"]["points"]), _state(outputs.get(cell.id, []))))
    return tuple(tasks)


def _state(outputs: list[Any]) -> str:
    records = [output["data"][checks.MIME] for output in outputs if checks.MIME in output.get("data", {})]
    if not records or not isinstance(records[-1], dict):
        return "not run"
    return "solved" if records[-1].get("passed") is True else "not yet"
