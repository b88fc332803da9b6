"""The notebooks in a simulated Google Colab: nothing but the notebook, Colab's versions, a clone over the network."""

import importlib.util
import os
from pathlib import Path

import nbformat
import pytest

from grader.course import Course
from grader.gallery import source_of

pytestmark = pytest.mark.slow
COURSE = Course.load(Path(__file__).parents[2])
PYTHON = Path(os.environ.get("COLAB_PYTHON", COURSE.root / ".venv-colab" / "bin" / "python"))
LESSONS = [lesson for lesson in COURSE.lessons if COURSE.lesson_ready(lesson)]
EXERCISES = [lesson for lesson in COURSE.lessons if COURSE.exercise_ready(lesson)]

spec = importlib.util.spec_from_file_location("simulated", Path(__file__).parent / "colab" / "simulated.py")
simulated = importlib.util.module_from_spec(spec)
spec.loader.exec_module(simulated)


@pytest.fixture
def colab(tmp_path):
    """A new runtime of Colab."""
    assert PYTHON.exists(), "The simulated Colab has no Python yet: run `make .venv-colab`, then try again."
    return simulated.SimulatedColab(python=PYTHON, root=COURSE.root, slug=COURSE.slug, folder=tmp_path / "colab")


def unexpected(run, notebook):
    """The errors in cells that are not there to show an error."""
    shown = {cell.id for cell in notebook.cells if "raises-exception" in cell.metadata.get("tags", [])}
    return [error for error in run.errors if error[0] not in shown]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_a_lesson_runs_alone_in_an_empty_folder(lesson, colab):
    path = COURSE.root / lesson.notebook
    run = colab.run(path)
    assert unexpected(run, nbformat.read(path, as_version=4)) == []
    clone = run.content / COURSE.folder
    assert (clone / "code" / "main.py").is_file()


@pytest.mark.parametrize("lesson", EXERCISES, ids=lambda lesson: lesson.slug)
def test_a_solved_exercise_gets_all_points_there_and_downloads_itself(lesson, colab, tmp_path):
    solved = source_of(lesson, COURSE)
    path = tmp_path / "my work.ipynb"
    nbformat.write(solved, path)
    run = colab.run(path)
    assert run.errors == []
    assert f"Points so far: {lesson.exercise.points} of {lesson.exercise.points}" in run.text
    assert [file.name for file in run.downloads] == [f"{lesson.slug}.ipynb"]
    assert nbformat.read(run.downloads[0], as_version=4).cells == solved.cells


def test_the_runtime_of_a_student_holds_no_solutions(colab):
    run = colab.run(COURSE.root / EXERCISES[0].release)
    files = {path.relative_to(run.content / COURSE.folder) for path in (run.content / COURSE.folder).rglob("*")}
    names = {path.as_posix() for path in files if ".git" not in path.parts}
    assert "grader/checks.py" in names
    assert not [name for name in names if name.startswith(("solutions", "exercises", "grader/wrong", "lessons"))]


@pytest.mark.timeout(900)
def test_the_whole_course_runs_in_order_in_one_runtime(colab, tmp_path):
    for lesson in COURSE.lessons:
        path = COURSE.root / lesson.notebook
        assert (lesson.slug, unexpected(colab.run(path), nbformat.read(path, as_version=4))) == (lesson.slug, [])
        solved = tmp_path / f"{lesson.slug} solved.ipynb"
        nbformat.write(source_of(lesson, COURSE), solved)
        run = colab.run(solved)
        assert (lesson.slug, run.errors) == (lesson.slug, [])
        assert f"Points so far: {lesson.exercise.points} of {lesson.exercise.points}" in run.text
        assert f"{lesson.slug}.ipynb" in [file.name for file in run.downloads]
    clones = [path.name for path in colab.content.iterdir() if path.is_dir() and path.name != "sample_data"]
    assert COURSE.folder in clones
