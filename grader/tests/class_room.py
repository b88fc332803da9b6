"""What the tests of grading share: a course of one exercise, submissions, and a run that needs no kernel."""

import shutil
from pathlib import Path

import nbformat

from grader import checks
from grader.assignment import is_answer, is_check, load_assignments
from grader.attempt import Outcome
from grader.course import Course
from grader.grade import Options
from grader.sample_class.make_class import saved, solved

ROOT = Path(__file__).resolve().parents[2]
SLUG = "01_namespace"
PARTS = ("course.toml", "nbgrader_config.py", "code", "grader/__init__.py", "grader/checks.py")
PARTS += (f"solutions/{SLUG}", f"exercises/{SLUG}", f"grader/wrong/{SLUG}")


def small_root(folder: Path) -> Course:
    """A checkout with exercise 1 only."""
    for part in PARTS:
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target, ignore=shutil.ignore_patterns("__pycache__", "tests"))
        else:
            shutil.copy(ROOT / part, target)
    return Course.load(folder)


def assignment_of(course: Course):
    return load_assignments(course)[0]


def hand_in(folder: Path, student: str, notebook, name: str = f"{SLUG}.ipynb") -> Path:
    """Put a notebook, or bytes, into the folder of a student."""
    path = folder / student / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else saved(notebook)[f"{SLUG}.ipynb"])
    return path


def small_class(folder: Path, course: Course) -> Path:
    """Three students: all solved, two tasks solved, an empty file."""
    assignment = assignment_of(course)
    hand_in(folder, "ada", solved(assignment))
    hand_in(folder, "bob [2]", solved(assignment, tasks=(1, 2)))
    hand_in(folder, "eve", b"")
    return folder


def options(submissions: Path, work: Path, **more) -> Options:
    return Options(submissions, work, **{"seed": "a seed", "jobs": 1, **more})


def no_kernel(job):
    """In place of a run: a check passes if the answers above it are written."""
    notebook, written, clean = nbformat.from_dict(job.notebook), True, set()
    for cell in notebook.cells:
        if is_answer(cell):
            written = "NotImplementedError" not in cell.source and bool(cell.source.strip())
        if is_check(cell):
            cell.outputs = verdict(cell, written)
            clean.add(cell.id)
    return Outcome(notebook, "", frozenset(clean), (), (), 0.1)


def verdict(cell, passed: bool, message: str = "This task is not written yet."):
    """The outputs that a check leaves."""
    task = int(cell.id.split("_")[0].removeprefix("task"))
    result = checks.Result(task, "a title", cell.metadata["nbgrader"]["points"], passed, "" if passed else message)
    record = {**vars(result), "earned": result.earned, "line": result.line()}
    outputs = [nbformat.v4.new_output("display_data", data={"text/plain": result.line(), checks.MIME: record})]
    if not passed:
        outputs.append(nbformat.v4.new_output("error", ename="CheckFailed", evalue=message, traceback=[message]))
    return outputs


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below a folder with its mode, its time of change and its content."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return {str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes()) for path in files}
