"""The setup cell finds the course's code wherever a notebook is opened, and says what to do where it cannot."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from grader.course import Course
from grader.run import run_notebook
from grader.setup_cell import setup_cell, setup_source
from grader.tests.small_course import SLUG, write

READY = "The course's code is ready.\n"
FOLDER = "small-course"  # of a clone
# Runs a cell as a kernel would, then says what is there.
DRIVER = """
import contextlib, io, json, sys
sys.path.insert(0, "")
cell, names, shown, failed = sys.argv[1], {}, io.StringIO(), ""
with contextlib.redirect_stdout(shown):
    for _ in range(int(sys.argv[2])):
        try:
            exec(cell, names)
        except Exception as error:
            failed = f"{type(error).__name__}: {error}"
main, checks = names.get("main"), names.get("checks")
print(json.dumps({"shown": shown.getvalue(), "failed": failed, "path": sys.path,
                  "main": getattr(main, "__file__", ""), "checks": getattr(checks, "__file__", "")}))
"""


@dataclass(frozen=True)
class Outcome:
    """What a cell left behind."""

    shown: str
    failed: str
    path: list[str]
    main: str
    checks: str


def run(course: Course, folder: Path, *, times: int = 1, **environment: str) -> Outcome:
    """Run an exercise's setup cell in a folder, without anything of this checkout in reach."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GIT_"))}
    # -S: an installed course must not help; -P: nor the folder of the script
    command = [sys.executable, "-S", "-P", "-c", DRIVER, setup_source(course, checks=True), str(times)]
    done = subprocess.run(command, cwd=folder, env={**clean, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return Outcome(**json.loads(done.stdout))


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder outside of any checkout, as Colab's /content."""
    folder = tmp_path / "content"
    folder.mkdir()
    return folder


@pytest.fixture
def remote(course: Course, tmp_path: Path) -> dict[str, str]:
    """The environment in which GitHub's address leads to a repository with the course's files."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", str(course.root)]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True)
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "file://{course.root}"]\n\tinsteadOf = https://github.com/{SLUG}\n')
    return {"GIT_CONFIG_GLOBAL": str(config), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def no_remote(tmp_path: Path) -> dict[str, str]:
    """The environment in which GitHub's address leads nowhere, as without a network."""
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "file://{tmp_path}/none"]\n\tinsteadOf = https://github.com/{SLUG}\n')
    return {"GIT_CONFIG_GLOBAL": str(config), "GIT_CONFIG_NOSYSTEM": "1"}


def test_inside_a_checkout_its_code_is_used(course: Course, no_remote: dict[str, str]) -> None:
    outcome = run(course, course.root / "exercises" / "01_names", **no_remote)
    assert (outcome.shown, outcome.failed) == (READY, "")
    assert outcome.main == str(course.root / "code" / "main.py")
    assert outcome.checks == str(course.root / "grader" / "checks.py")
    assert outcome.path[:2] == [str(course.root / "code"), str(course.root)]


def test_outside_of_a_checkout_the_code_is_cloned_and_nothing_else(
    course: Course, elsewhere: Path, remote: dict[str, str]
) -> None:
    outcome = run(course, elsewhere, **remote)
    assert (outcome.shown, outcome.failed) == (READY, "")
    clone = elsewhere / FOLDER
    assert outcome.main == str(clone / "code" / "main.py")
    files = {path.relative_to(clone).as_posix() for path in clone.rglob("*") if path.is_file()}
    files = {path for path in files if not path.startswith(".git/") and "__pycache__" not in path}
    assert files == {"code/main.py", "code/steps/step01_names.py", "grader/__init__.py", "grader/checks.py"}


def test_the_clone_is_used_again_without_a_network(course: Course, elsewhere: Path, remote: dict[str, str]) -> None:
    run(course, elsewhere, **remote)
    assert run(course, elsewhere, PATH="/none").shown == READY


def test_running_it_twice_changes_nothing(course: Course, elsewhere: Path, remote: dict[str, str]) -> None:
    outcome = run(course, elsewhere, times=2, **remote)
    assert (outcome.shown, outcome.failed) == (2 * READY, "")


def test_code_that_is_already_on_the_path_is_used(course: Course, elsewhere: Path) -> None:
    outcome = run(course, elsewhere, PYTHONPATH=str(course.root / "code"), PATH="/none")
    assert (outcome.shown, outcome.failed) == (READY, "")
    assert outcome.checks == str(course.root / "grader" / "checks.py")


@pytest.mark.parametrize("text", ["print('unrelated')\n", "COURSE = 'other/course'\n"])
def test_another_main_in_the_way_is_named_and_passed_by(
    course: Course, elsewhere: Path, remote: dict[str, str], text: str
) -> None:
    write(elsewhere, "main.py", text)
    outcome = run(course, elsewhere, **remote)
    assert f"Another main.py is in the way ({elsewhere / 'main.py'})" in outcome.shown
    assert outcome.shown.endswith(READY)
    assert outcome.main == str(elsewhere / FOLDER / "code" / "main.py")


def test_a_main_that_ends_the_program_does_not_end_the_notebook(
    course: Course, elsewhere: Path, remote: dict[str, str]
) -> None:
    write(elsewhere, "main.py", "raise SystemExit(3)\n")
    assert run(course, elsewhere, **remote).main == str(elsewhere / FOLDER / "code" / "main.py")


def test_the_checkout_of_another_course_is_not_taken(course: Course, elsewhere: Path, remote: dict[str, str]) -> None:
    write(elsewhere, "code/main.py", "COURSE = 'other/course'\n")
    assert run(course, elsewhere, **remote).main == str(elsewhere / FOLDER / "code" / "main.py")


def test_without_a_network_a_sentence_says_what_to_do(
    course: Course, elsewhere: Path, no_remote: dict[str, str]
) -> None:
    outcome = run(course, elsewhere, **no_remote)
    assert outcome.failed.startswith(
        f"SetupFailed: The course's code could not be fetched from https://github.com/{SLUG} ("
    )
    assert "Without one, download the repository as a zip file" in outcome.failed
    assert list(elsewhere.iterdir()) == []


def test_without_git_the_same_sentence_is_said(course: Course, elsewhere: Path) -> None:
    assert "could not be fetched" in run(course, elsewhere, PATH="/none").failed


def test_a_folder_of_the_same_name_is_left_alone(course: Course, elsewhere: Path, remote: dict[str, str]) -> None:
    write(elsewhere, f"{FOLDER}/thesis.txt", "mine")
    outcome = run(course, elsewhere, **remote)
    assert f"The folder {FOLDER} here is not this course" in outcome.failed
    assert (elsewhere / FOLDER / "thesis.txt").read_text() == "mine"


def test_a_clone_that_breaks_off_leaves_no_folder(course: Course, elsewhere: Path, remote: dict[str, str]) -> None:
    git = shutil.which("git")
    wrapper = elsewhere.parent / "bin" / "git"
    write(wrapper.parent, "git", f'#!/bin/sh\ncase "$*" in *checkout) exit 1;; esac\nexec {git} "$@"\n')
    wrapper.chmod(0o755)
    assert "could not be fetched" in run(course, elsewhere, **remote, PATH=f"{wrapper.parent}:/usr/bin:/bin").failed
    assert list(elsewhere.iterdir()) == []


def test_a_notebook_shows_the_sentence_and_no_stack(course: Course, elsewhere: Path, no_remote: dict[str, str]) -> None:
    cells = [setup_cell(course)]
    made = run_notebook(nbformat.v4.new_notebook(cells=cells), folder=elsewhere, env={**no_remote, "PYTHONPATH": ""})
    output = made.notebook.cells[0].outputs[-1]  # before it stands, perhaps, that this checkout's main is in the way
    assert output.output_type == "error"
    assert len(output.traceback) == 1
    assert output.traceback[0].startswith("The course's code could not be fetched")


def test_a_lessons_cell_needs_no_checks(course: Course) -> None:
    assert "checks" not in setup_source(course).replace("/grader/checks.py", "").replace("the checks.", "")
