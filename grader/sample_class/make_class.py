"""Make the sample class: each student hands in exercise 1 in a way that has happened somewhere.

`expected.toml` beside this file says what each must get. The submissions are made from the
release and the solution of the day, so they follow every change of the exercise.
"""

import copy
import json
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from grader.assignment import Assignment, is_answer, load_assignments
from grader.course import Course
from grader.exercises import SOLUTION_BEGIN, SOLUTION_END
from grader.gallery import mistakes, with_mistake
from grader.sample_class import cheats, damage

SLUG = "01_namespace"
TABLE = Path(__file__).with_name("expected.toml")


@dataclass(frozen=True)
class Expected:
    """What a student of the class must get. `marks` are the points by task; None where nothing is graded."""

    student: str
    about: str
    status: str
    marks: tuple[float, ...] | None = None
    flag: str = ""  # a part of a sentence for the instructor
    says: str = ""  # a part of the repairs or the reason


def expected() -> list[Expected]:
    """The table, in the order in which it is written."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    lists = [{**entry, "marks": tuple(entry["marks"]) if "marks" in entry else None} for entry in table["student"]]
    return [Expected(**entry) for entry in lists]


def make_class(folder: Path, course: Course | None = None) -> list[str]:
    """Write the submissions into this folder, which must be new or a sample class; return the students' ids."""
    marker = folder / ".sample-class"
    if folder.exists() and any(folder.iterdir()) and not marker.exists():
        raise FileExistsError(f"{folder} is not empty and no sample class: give a new folder.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    marker.touch()
    made = submissions(course or Course.load())
    for student, files in made.items():
        (folder / student).mkdir()
        for name, content in files.items():
            (folder / student / name).write_bytes(content)
    return list(made)


def submissions(course: Course) -> dict[str, dict[str, bytes]]:
    """Student → file name → content."""
    assignment = next(entry for entry in load_assignments(course) if entry.slug == SLUG)
    full, untouched = solved(assignment), copy.deepcopy(assignment.release)
    made = {
        "ada": saved(full),
        "grace": saved(solved(assignment, tasks=(1, 2))),
        "linus": saved(untouched),
        "Zoë Ångström": saved(full, "Übung 1 – Zoë.ipynb"),
        "李雷 (3)": saved(full, "作业.ipynb"),
        "o'neill [7]": saved(full, "exercises_01_NAMESPACE [final].IPYNB"),
        "nobody": {"notes.txt": b"I could not find the download button.\n"},
    }
    for mistake in mistakes(course):
        if mistake.lesson.slug == SLUG:
            made[f"wrong {mistake.name}"] = saved(with_mistake(full, mistake.path))
    ways: dict[str, Callable[[NotebookNode], dict[str, bytes]]] = {**damage.WAYS, **cheats.WAYS}
    for student, way in ways.items():
        made[student] = way(copy.deepcopy(untouched if student in cheats.WAYS else full))
    return made


def solved(assignment: Assignment, tasks: tuple[int, ...] = ()) -> NotebookNode:
    """The release with the answers of the solution; with `tasks`, only those."""
    answers = {cell.id: cell.source for cell in assignment.source.cells if is_answer(cell)}
    notebook = copy.deepcopy(assignment.release)
    for cell in notebook.cells:
        if cell.id in answers and (not tasks or cell.id in [f"task{number}" for number in tasks]):
            lines = answers[cell.id].splitlines()
            cell.source = "\n".join(line for line in lines if line.strip() not in (SOLUTION_BEGIN, SOLUTION_END))
    return notebook


def saved(notebook: NotebookNode | dict[str, Any], name: str = f"{SLUG}.ipynb") -> dict[str, bytes]:
    """One file, as an editor saves it."""
    return {name: (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()}
