"""`grader build` makes each generated file from its source, and `--check` tells which ones differ."""

import ast
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from grader import build, exercises, pins
from grader.course import Course
from grader.tests.small_course import (
    FIGURES,
    LESSON,
    NOTEBOOK,
    PAGE,
    REAL_ROOT,
    RELEASE,
    SCRIPT,
    SLUG,
    SOLUTION,
    STEP,
    edit,
    make,
    write,
)


def sentences(result: build.Result) -> list[str]:
    return [str(problem) for problem in result.problems]


def notebook(course: Course, path: str = NOTEBOOK) -> nbformat.NotebookNode:
    return nbformat.read(course.root / path, as_version=4)


def cell(course: Course, cell_id: str, path: str = NOTEBOOK) -> nbformat.NotebookNode:
    return next(cell for cell in notebook(course, path).cells if cell.id == cell_id)


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


# --- the command as a whole ---


def test_a_built_course_has_no_problem(course: Course) -> None:
    assert sentences(build.check(course)) == []


def test_a_second_build_writes_nothing(course: Course) -> None:
    result = build.build(course)
    assert (result.written, sentences(result)) == ((), [])


def test_two_builds_from_nothing_give_the_same_bytes(built_once: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    build.build(make(other))
    assert snapshot(other) == snapshot(built_once)


def test_check_writes_nothing_even_when_everything_is_missing(tmp_path: Path) -> None:
    course = make(tmp_path)
    before = snapshot(tmp_path)
    assert not build.check(course).ok
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("path", [SOLUTION, RELEASE, STEP, "lessons/figures/01_names.svg", NOTEBOOK])
def test_check_names_a_changed_file_its_source_and_the_command(course: Course, path: str) -> None:
    with (course.root / path).open("a") as file:
        file.write("\n")
    source = {STEP: PAGE, NOTEBOOK: PAGE, "lessons/figures/01_names.svg": FIGURES}.get(path, SCRIPT)
    assert sentences(build.check(course)) == [
        f"{path}: It is not what {source} gives. To mend it: run `make build` (or `python -m grader build`)."
    ]
    assert build.build(course).written == (path,)
    assert build.check(course).ok


def test_check_names_a_missing_file(course: Course) -> None:
    (course.root / RELEASE).unlink()
    assert sentences(build.check(course)) == [
        f"{RELEASE}: It is missing; {SCRIPT} makes it. To mend it: run `make build` (or `python -m grader build`)."
    ]


def test_one_changed_character_in_an_exercise_is_noticed_in_both_notebooks(course: Course) -> None:
    edit(course, SCRIPT, "Three small functions.", "Three small functions!")
    assert [problem.path for problem in build.check(course).problems] == [SOLUTION, RELEASE]


def test_a_broken_source_costs_only_its_own_files(course: Course) -> None:
    edit(course, SCRIPT, "points=2", "pionts=2")
    edit(course, PAGE, "Without a name nobody is greeted.", "Nobody is greeted.")
    result = build.build(course)
    assert result.written == (PAGE, NOTEBOOK) or result.written == (NOTEBOOK,)
    assert [problem.path for problem in result.problems] == [SCRIPT]


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nbgrader.converters", None)
    assert sentences(build.check(course)) == [
        f"{SCRIPT}: Making files from it needs the package nbgrader.converters, which is not installed. "
        "To mend it: pip install -c constraints.txt -e '.[dev]'."
    ]


def test_with_another_version_of_a_tool_check_says_so_and_compares_the_rest(course: Course) -> None:
    edit(course, "constraints.txt", "nbgrader==", "nbgrader==0.")
    for path in (RELEASE, STEP):
        with (course.root / path).open("a") as file:
            file.write("\n")
    result = build.check(course)
    assert [problem.path for problem in result.problems] == [STEP]
    assert set(result.skipped) == {SOLUTION, RELEASE}
    assert [mismatch.tool for mismatch in result.mismatches] == ["nbgrader"]


def test_a_tool_that_is_not_installed_is_another_version(course: Course) -> None:
    with (course.root / "constraints.txt").open("a") as file:
        file.write("no-such-tool==1.0\n")
    assert str(pins.mismatches(course)["no-such-tool"]) == (
        "no-such-tool is not installed, but constraints.txt pins 1.0"
    )


def run_build(course: Course, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grader", "build", *options]
    environment = {**os.environ, "PYTHONPATH": str(REAL_ROOT), "PYTHONSAFEPATH": "1"}
    return subprocess.run(command, cwd=course.root, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_the_command_exits_with_0_when_all_is_well_and_with_1_when_not(course: Course) -> None:
    assert run_build(course, "--check").returncode == 0
    (course.root / RELEASE).unlink()
    done = run_build(course, "--check")
    assert done.returncode == 1
    assert f"{RELEASE}: It is missing" in done.stdout
    assert "make build" in done.stdout


def test_check_and_execute_together_are_refused(course: Course) -> None:
    done = run_build(course, "--check", "--execute")
    assert (done.returncode, done.stderr) == (2, "")
    assert "--check never runs a notebook" in done.stdout


# --- regions ---


def test_the_slug_reaches_main_the_readme_and_the_lesson(course: Course) -> None:
    edit(course, "course.toml", SLUG, "another/name")
    result = build.check(Course.load(course.root))
    assert {"code/main.py", "README.md", PAGE} <= {problem.path for problem in result.problems}
    build.build(Course.load(course.root))
    assert 'COURSE = "another/name"' in course.read("code/main.py")
    assert "another/name" in course.read(PAGE)
    assert SLUG not in course.read("README.md") + course.read(PAGE)


def test_the_map_links_what_is_written_and_says_what_is_in_preparation(course: Course) -> None:
    text = course.read("README.md")
    assert f"[Names]({PAGE})" in text
    assert f"[exercise]({RELEASE})" in text
    assert "| 12 + 12 | easy | a greeting |" in text
    assert "| 2 | Later (in preparation) |  |  |  |  |  | nothing yet |" in text
    assert "12 minutes to read and run, 12 minutes of exercises" in text


def test_a_region_that_nobody_writes_is_named_with_its_line(course: Course) -> None:
    edit(course, "README.md", "map: made", "mapp: made")
    assert sentences(build.check(course))[0].startswith("README.md:3: Nobody writes a region 'mapp' here.")


def test_a_region_without_an_end_is_named_with_its_line(course: Course) -> None:
    edit(course, "README.md", "<!-- end of map -->", "")
    assert sentences(build.check(course))[0].startswith("README.md:3: The region 'map' never ends.")


# --- lessons ---


def test_a_lesson_becomes_a_notebook_that_was_run(course: Course) -> None:
    cells = [cell for cell in notebook(course).cells if cell.cell_type == "code"]
    assert [(cell.id, cell.execution_count) for cell in cells] == [("setup", 1), ("hello", 2), ("01-your-turn-1", 3)]
    assert cells[1].outputs[0].text == "hello you\n"
    assert cells[2].metadata.tags == ["raises-exception"]
    assert cells[2].outputs[0].traceback == ["ValueError: no name"]


def test_a_notebook_holds_no_timings_and_no_version_of_this_python(course: Course) -> None:
    made = notebook(course)
    assert made.metadata.language_info == {"name": "python"}
    assert made.metadata.colab == {"name": "01_names.ipynb", "provenance": []}
    assert all("execution" not in cell.metadata for cell in made.cells)
    assert (made.nbformat, made.nbformat_minor) == (4, 5)


def test_an_output_fence_on_the_page_holds_what_the_cell_printed(course: Course) -> None:
    assert "```text output\nhello you\n```" in course.read(PAGE)
    edit(course, PAGE, "```text output\nhello you\n```", "```text output\nhello everybody\n```")
    assert [problem.path for problem in build.check(course).problems] == [PAGE]


def test_the_notebook_leaves_output_fences_and_minutes_out(course: Course) -> None:
    text = "\n".join(cell.source for cell in notebook(course).cells if cell.cell_type == "markdown")
    assert "text output" not in text
    assert "minutes:" not in text
    assert "```console" in text


def test_a_figure_is_svg_on_the_page_and_png_in_the_notebook(course: Course) -> None:
    text = cell(course, "01-it-fails-text1").source
    image = re.search(r'<img alt="Two boxes, one of them without a name" width="288" src="([^"]{40})', text)
    assert image
    assert image[1].startswith("data:image/png;base64,")
    svg = course.read("lessons/figures/01_names.svg")
    assert "<dc:date>" not in svg


def test_a_figure_that_is_not_made_is_named(course: Course) -> None:
    edit(course, PAGE, "figures/01_names.svg", "figures/01_other.svg")
    assert "which no figure of lessons/figures/01_names.py makes" in sentences(build.check(course))[0]


def test_links_of_the_notebook_lead_somewhere_from_anywhere(course: Course) -> None:
    text = "\n".join(cell.source for cell in notebook(course).cells)
    assert f"(https://github.com/{SLUG}/blob/main/lessons/troubleshooting.md#no-name)" in text
    assert f"(https://github.com/{SLUG}/blob/main/README.md)" in text


def test_a_link_to_another_lesson_leads_to_its_notebook_over_a_line_end_too(course: Course) -> None:
    write(course.root, "lessons/02_later.md", "# Lesson 2: Later\n")
    edit(course, PAGE, "Greet or not?", "Greet or not? [The\nnext](02_later.md) says.")
    build.build(course)
    assert "[The\nnext](02_later.ipynb)" in cell(course, "01-design-note-text1").source


def test_code_that_looks_like_a_link_stays_code(course: Course) -> None:
    edit(course, PAGE, "Greet or not?", "Call `table[name](README.md)`, or [`hello`](../README.md).")
    build.build(course)
    text = cell(course, "01-design-note-text1").source
    assert f"Call `table[name](README.md)`, or [`hello`](https://github.com/{SLUG}/blob/main/README.md)." in text


def test_a_link_in_a_form_that_is_not_rewritten_fails(course: Course) -> None:
    edit(course, PAGE, "Greet or not?", "Greet or [not][1]?\n\n[1]: troubleshooting.md")
    assert "written in a form the build does not rewrite" in sentences(build.check(course))[0]


def test_fences_marked_save_become_the_step(course: Course) -> None:
    text = course.read(STEP)
    assert (
        ast.get_docstring(ast.parse(text))
        == f"Step 1 of the small client: a greeting.\n\nMade by `grader build` from {PAGE}."
    )
    assert 'return f"hello {name}"' in text
    assert "no name" not in text


def test_a_changed_sentence_keeps_the_stored_outputs(course: Course) -> None:
    before = cell(course, "hello")
    edit(course, NOTEBOOK, "hello you", "hello from another run")
    edit(course, PAGE, "nobody is greeted", "no one is greeted")
    build.build(course)
    assert cell(course, "hello").outputs[0].text == "hello from another run\n"
    assert before.source == cell(course, "hello").source


@pytest.mark.slow
def test_a_changed_cell_is_stale_for_check_and_run_again_by_build(course: Course) -> None:
    edit(course, PAGE, 'print(hello("you"))', 'print(hello("all"))')
    assert sentences(build.check(course))[0].startswith(f"{PAGE}: Its code changed since {NOTEBOOK} was run")
    build.build(course)
    assert cell(course, "hello").outputs[0].text == "hello all\n"
    assert "hello all" in course.read(PAGE)
    assert build.check(course).ok


@pytest.mark.slow
def test_execute_runs_a_notebook_that_did_not_change(course: Course) -> None:
    edit(course, NOTEBOOK, "hello you", "hello from another run")
    build.build(course, "always")
    assert cell(course, "hello").outputs[0].text == "hello you\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('print(hello("you"))', "print(helo)", "The cell 'hello' raised NameError: name 'helo' is not defined."),
        ('raise ValueError("no name")', "pass", "is marked raises='ValueError' but raised nothing."),
        ('raise ValueError("no name")', "raise KeyError(1)", "is marked raises='ValueError' but raised KeyError."),
        (
            'raise ValueError("no name")',
            'raise ExceptionGroup("several", [ValueError(1)])',
            "is marked raises='ValueError' but raised ExceptionGroup.",
        ),
        ('print(hello("you"))', "print(object())", "The cell 'hello' shows a memory address (0x"),
        ('print(hello("you"))', "import os; print(os.getcwd())", "The cell 'hello' shows a path of this machine"),
    ],
)
def test_a_cell_that_does_not_do_what_it_should_fails_the_build(
    course: Course, old: str, new: str, sentence: str
) -> None:
    before = course.read(NOTEBOOK)
    edit(course, PAGE, old, new)
    result = build.build(course)
    assert sentence in sentences(result)[0]
    assert course.read(NOTEBOOK) == before


def test_output_that_comes_in_pieces_is_stored_in_one(course: Course) -> None:
    pieces = "import sys\nfor word in 'abc':\n    print(word, flush=True)\n    print(word, file=sys.stderr, flush=True)"
    edit(course, PAGE, 'print(hello("you"))', pieces)
    build.build(course)
    shown = [(output.name, output.text) for output in cell(course, "hello").outputs]
    assert shown == [("stdout", "a\nb\nc\n"), ("stderr", "a\nb\nc\n")]


def test_an_id_used_twice_is_named_with_both_lines(course: Course) -> None:
    edit(course, PAGE, '```python raises="ValueError"', '```python id="hello" raises="ValueError"')
    assert "The id 'hello' is taken by line" in sentences(build.check(course))[0]


def test_the_notebook_runs_under_pytest_as_outside(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "x")
    edit(
        course,
        PAGE,
        'print(hello("you"))',
        'import subprocess, sys, time; subprocess.run([sys.executable, "-c", "print(5)"]); time.sleep(0.5)',
    )
    build.build(course)
    assert cell(course, "hello").outputs[0].text == "5\n"  # a thread of the kernel reads it, hence the pause


# --- exercises ---


def test_an_exercise_becomes_nbgraders_source_notebook(course: Course) -> None:
    answer, check = (cell(course, name, SOLUTION).metadata.nbgrader for name in ("task1", "task1_check"))
    assert answer == {
        "grade": False, "grade_id": "task1", "locked": False, "schema_version": 3, "solution": True, "task": False,
    }  # fmt: skip
    assert check == {
        "grade": True, "grade_id": "task1_check", "locked": True, "points": 2, "schema_version": 3,
        "solution": False, "task": False,
    }  # fmt: skip


def test_the_build_adds_header_setup_and_hand_in(course: Course) -> None:
    cells = notebook(course, SOLUTION).cells
    assert [cell.id for cell in cells[:3]] == ["intro_markdown1", "header", "setup"]
    assert "from grader import checks" in cells[2].source
    assert cells[-1].id == "hand_in"
    assert cells[-1].source == f'checks.hand_in("{LESSON}", points=6)'


def test_a_task_says_its_minutes_difficulty_and_points(course: Course) -> None:
    assert cell(course, "task2_prompt", SOLUTION).source.startswith(
        "## Task 2: add 2\n\n*5 minutes · medium · 2 points*\n\nAs in [the lesson]"
    )
    assert f"(https://github.com/{SLUG}/blob/main/{PAGE})" in cell(course, "task2_prompt", SOLUTION).source


def test_the_release_shows_stubs_and_hides_the_rest(course: Course) -> None:
    text = course.read(RELEASE)
    assert cell(course, "task1", RELEASE).source == (
        'def add1(value):\n    # TODO: your code here\n    raise NotImplementedError("this part is yours to write")'
    )
    assert cell(course, "task1_check", RELEASE).source == "assert add1(1) == 1 + 1"
    assert "value + 1" not in text
    assert "1000" not in text


def test_a_whole_cell_can_be_hidden(course: Course) -> None:
    with (course.root / SCRIPT).open("a") as file:
        file.write('\n# %% id="task3_check2" points=1 hidden=true\nassert add3(77) == 80\n')
    build.build(course)
    assert "add3(77)" in cell(course, "task3_check2", SOLUTION).source
    assert cell(course, "task3_check2", RELEASE).source == ""


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('id="task1" answer=true', 'id="task1" anwser=true', "the option 'anwser', which nobody knows"),
        ('id="task1" answer=true', 'id="task 1" answer=true', "its id is not 1 to 64 letters"),
        ('id="task2" answer=true', 'id="task1" answer=true', "the id 'task1' is taken"),
        ('id="task2" answer=true', 'id="setup" answer=true', "the id 'setup' is taken"),
        ('id="task1" answer=true', 'id="task1" answer=true points=1', "an answer or a check, not both"),
        ('id="task1" answer=true', 'id="task1" answer=true hidden=true', "`hidden` belongs on a cell with `points`"),
        ("task=1 minutes=2", "task=1", "`task` and `minutes` go together"),
        ('difficulty="hard"', 'difficulty="cruel"', "`difficulty` is one of easy, medium, hard"),
        ("points=2", "points=-2", "`points` is a whole number from 1"),
        ("points=2", 'points="2"', "`points` is a whole number from 1"),
        ("# %% [markdown]\n# # Exercise 1", "# %%\n# # Exercise 1", "The first cell is not the exercise's title"),
    ],
)
def test_a_wrong_option_is_named_with_its_cell(course: Course, old: str, new: str, sentence: str) -> None:
    edit(course, SCRIPT, old, new)
    problem = build.check(course).problems[0]
    assert problem.path == SCRIPT
    assert problem.line
    assert sentence in problem.sentence


def test_an_unknown_option_is_answered_with_the_list(course: Course) -> None:
    edit(course, SCRIPT, 'id="task1" answer=true', 'id="task1" anwser=true')
    problem = build.check(course).problems[0]
    assert problem.mend == "use one of: " + ", ".join(exercises.OPTIONS)
    assert course.read(SCRIPT).splitlines()[problem.line - 1] == '# %% id="task1" anwser=true'


def stock_nbgrader(root: Path, *arguments: str) -> None:
    program = Path(sys.executable).with_name("nbgrader")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "JUPYTER_CONFIG_DIR": str(root / "no-config")}
    done = subprocess.run([program, *arguments], cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def copy_for_nbgrader(source: Path, root: Path) -> Path:
    """The parts of a course that nbgrader needs, without the release."""
    for path in ("solutions", "nbgrader_config.py", "code", "grader/__init__.py", "grader/checks.py"):
        there = root / path
        there.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (source / path).is_dir() else shutil.copy)(source / path, there)
    return root


@pytest.mark.slow
def test_every_release_is_what_stock_nbgrader_makes_of_the_same_source(tmp_path: Path) -> None:
    root = copy_for_nbgrader(REAL_ROOT, tmp_path / "course")
    releases = sorted(REAL_ROOT.glob("exercises/*/*.ipynb"))
    assert releases
    stock_nbgrader(root, "generate_assignment", "--assignment=*")
    for release in releases:
        made = root / release.relative_to(REAL_ROOT)
        assert made.read_bytes() == release.read_bytes()
        assert [path.name for path in made.parent.iterdir()] == [release.name]


@pytest.mark.slow
def test_stock_nbgrader_grades_a_solved_notebook_with_all_points(built_once: Path, tmp_path: Path) -> None:
    root = copy_for_nbgrader(built_once, tmp_path / "course")
    stock_nbgrader(root, "generate_assignment", LESSON)
    submitted = root / "grader" / "work" / "submitted" / "ada" / LESSON
    submitted.mkdir(parents=True)
    shutil.copy(root / SOLUTION, submitted)
    stock_nbgrader(root, "autograde", LESSON)
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root}/grader/work/gradebook.db") as gradebook:
        (submission,) = gradebook.assignment_submissions(LESSON)
        assert (submission.score, submission.max_score) == (6, 6)


# --- the real course ---


@pytest.mark.slow
def test_the_checked_in_files_are_what_their_sources_give() -> None:
    assert sentences(build.check(Course.load(REAL_ROOT))) == []


MEASURED = {"timelines", "death-lanes", "fleet-plot", "plot"}  # cells whose pictures show what was measured just now


def without_measured_pictures(path: Path) -> list[str]:
    """The lines of a notebook, without the pictures that differ from run to run."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["id"] in MEASURED:
            drawn = [output["data"].pop("image/png", None) for output in cell["outputs"] if "data" in output]
            assert any(drawn), f"the cell {cell['id']} of {path.name} shows no picture: take it out of MEASURED"
    return json.dumps(notebook, indent=1, ensure_ascii=False).splitlines()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_stored_outputs_are_what_the_notebooks_show_today(tmp_path: Path) -> None:
    root = tmp_path / "course"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "work", "tests")
    shutil.copytree(REAL_ROOT, root, ignore=ignored)
    notebooks = sorted(root.glob("notebooks/*.ipynb"))
    before = [without_measured_pictures(path) for path in notebooks]
    build.build(Course.load(root), "always")
    for path, lines in zip(notebooks, before, strict=True):
        changed = list(difflib.unified_diff(lines, without_measured_pictures(path), lineterm="", n=1))
        assert not changed, f"run `python -m grader build --execute`; {path.name} shows: " + "\n".join(changed)[:2000]
