"""Stock nbgrader works on the same root: its commands, and formgrader on our gradebook."""

import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from grader.gallery import mistakes, with_mistake
from grader.grade import grade
from grader.sample_class.make_class import solved
from grader.tests import class_room
from grader.tests.class_room import SLUG, assignment_of, hand_in, options

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
BIN = Path(sys.executable).parent
OURS = {"ada": 10, "grace": 5, "linus": 0, "wrong": 8}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A checkout whose work folder has a healthy class, graded by us."""
    root = tmp_path_factory.mktemp("stock") / "root"
    course = class_room.small_root(root)
    assignment = assignment_of(course)
    folder = root.parent / "class"
    hand_in(folder, "ada", solved(assignment))
    hand_in(folder, "grace", solved(assignment, tasks=(1, 3)))
    hand_in(folder, "linus", assignment.release)
    wrong = next(mistake for mistake in mistakes(course) if mistake.name == "last_one_wins")
    hand_in(folder, "wrong", with_mistake(solved(assignment), wrong.path))
    grade(course, options(folder, root / "grader" / "work", jobs=2))
    return root


def nbgrader(root, *words):
    """Run a stock command at the root; the code that students import is found there, as in the checkout."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COURSE_SEED": "a seed"}
    environment |= {"PYTHONPATH": f"{root / 'code'}{os.pathsep}{root}", "JUPYTER_CONFIG_DIR": str(root / "none")}
    done = subprocess.run(
        [BIN / "nbgrader", *words], cwd=root, env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def exported(root):
    """What `nbgrader export` says: student → score."""
    nbgrader(root, "export", "--to=marks.csv")
    with (root / "marks.csv").open(newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


def test_export_of_our_gradebook_has_our_marks(root):
    assert exported(root) == OURS


def test_stock_grading_of_the_same_submissions_gives_the_same_marks(root):
    stock = root.parent / "again"
    shutil.copytree(root, stock)
    work = stock / "grader" / "work"
    for path in (work / "autograded", work / "gradebook.db"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    release = stock / "exercises" / SLUG / f"{SLUG}.ipynb"
    before = release.read_bytes()
    nbgrader(stock, "generate_assignment", SLUG, "--force")
    assert release.read_bytes() == before
    nbgrader(stock, "autograde", SLUG)
    assert exported(stock) == OURS


def test_stock_feedback_works_on_what_we_graded(root):
    nbgrader(root, "generate_feedback", SLUG)
    assert len(list((root / "grader" / "work" / "feedback").rglob("*.html"))) == len(OURS)


def test_formgrader_shows_our_gradebook(root):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(root.parent)}
    words = ["--no-browser", "--ServerApp.token=", "--ServerApp.password=", f"--port={port}", "--allow-root"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([BIN / "jupyter", "server", *words], cwd=root, env=environment, **quiet)
    formgrader = f"http://127.0.0.1:{port}/formgrader"
    try:
        _wait_for(formgrader, server)
        submissions = _get(f"{formgrader}/api/submissions/{SLUG}")
        assert all(student in submissions for student in OURS)
        for page in ("manage_assignments", f"manage_submissions/{SLUG}", f"gradebook/{SLUG}/{SLUG}", "manage_students"):
            assert "nbgrader formgrade" in _get(f"{formgrader}/{page}")
        notebooks = json.loads(_get(f"{formgrader}/api/submitted_notebooks/{SLUG}/{SLUG}"))
        assert {entry["student"]: entry["score"] for entry in notebooks} == OURS
        assert "merge_prefix" in _get(f"{formgrader}/submissions/{notebooks[0]['id']}")
    finally:
        server.terminate()
        server.wait(30)


def _wait_for(address, server):
    """Until the server answers, or has ended."""
    for _ in range(600):
        try:
            return _get(f"{address}/manage_assignments")
        except OSError:
            assert server.poll() is None, "jupyter server has ended"
            time.sleep(0.1)
    raise AssertionError("jupyter server does not answer")


def _get(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read().decode()
