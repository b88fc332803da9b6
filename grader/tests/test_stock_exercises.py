"""Every exercise under stock `nbgrader autograde`: the same points as under our runner.

A class for each exercise: the solution, the release as it was downloaded, and every wrong answer.
"""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from grader.assignment import load_assignments
from grader.course import Course
from grader.gallery import mistakes, with_mistake
from grader.results import is_check
from grader.sample_class.make_class import solved

ROOT = Path(__file__).resolve().parents[2]
COURSE = Course.load(ROOT)
READY = [lesson for lesson in COURSE.lessons if COURSE.exercise_ready(lesson)]
NBGRADER = Path(sys.executable).with_name("nbgrader")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def points_of_tasks(release):
    """Task number → points, in the order of the check cells."""
    points = {}
    for cell in release.cells:
        if is_check(cell):
            number = int(cell.id.removeprefix("task").partition("_")[0])
            points[number] = points.get(number, 0) + cell.metadata.nbgrader.points
    return points


def handed_in(assignment, lesson):
    """Student → (notebook, the points it must get)."""
    right, points = solved(assignment), points_of_tasks(assignment.release)
    students = {"solved": (right, sum(points.values())), "unsolved": (assignment.release, 0)}
    for mistake in mistakes(COURSE):
        if mistake.lesson != lesson:
            continue
        kept = sum(points.values()) - sum(points[task] for task in mistake.lost)
        students[mistake.name.replace("_", "-")] = (with_mistake(right, mistake.path), kept)
    return students


@pytest.mark.parametrize("lesson", READY, ids=lambda lesson: lesson.slug)
def test_stock_nbgrader_gives_the_expected_points(lesson, tmp_path):
    root = tmp_path / "root"
    for part in ("course.toml", "nbgrader_config.py", "grader/__init__.py", "grader/checks.py"):
        (root / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, root / part)
    for part in ("code", f"solutions/{lesson.slug}", f"exercises/{lesson.slug}"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__", "tests", "bench"))
    (assignment,) = load_assignments(Course.load(root))
    students = handed_in(assignment, lesson)
    for student, (notebook, _) in students.items():
        folder = root / "grader" / "work" / "submitted" / student / lesson.slug
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{lesson.slug}.ipynb")
    environment = {**os.environ, "COURSE_SEED": "golden", "JUPYTER_CONFIG_DIR": str(tmp_path / "none")}
    environment["PATH"] = f"{NBGRADER.parent}{os.pathsep}{environment['PATH']}"
    environment["PYTHONPATH"] = f"{root / 'code'}{os.pathsep}{root}"
    environment.pop("PYTEST_CURRENT_TEST", None)
    for words in (
        ["generate_assignment", lesson.slug, "--create", "--force"],
        ["autograde", lesson.slug, "--create"],
        ["export", "--to=marks.csv"],
    ):
        done = subprocess.run([NBGRADER, *words], cwd=root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
    with (root / "marks.csv").open(newline="") as file:
        marks = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert marks == {student: expected for student, (_, expected) in students.items()}
