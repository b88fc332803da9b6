"""Behaviour of the coordinator: nothing stops the class, is done twice, or is lost. Most runs need no kernel."""

import copy
import csv
import os
import signal
import stat
from dataclasses import replace
from datetime import datetime

import nbformat
import psutil
import pytest
from typer.testing import CliRunner

from grader import grade as grading
from grader.assignment import is_check, load_assignments
from grader.attempt import Job, attempt
from grader.book import Book
from grader.cli import app
from grader.course import Course, CourseError
from grader.grade import grade
from grader.kit import make_kit
from grader.repair import repair, with_hidden_checks
from grader.report import as_csv, read_rows
from grader.roster import Student
from grader.run import Limits
from grader.sample_class.make_class import solved
from grader.tests import class_room
from grader.tests.class_room import SLUG, assignment_of, hand_in, options
from grader.work import Work


@pytest.fixture
def course(tmp_path):
    return class_room.small_root(tmp_path / "root")


@pytest.fixture
def submissions(tmp_path, course):
    return class_room.small_class(tmp_path / "class", course)


@pytest.fixture
def no_kernel(monkeypatch):
    """Runs that need no kernel, and a list of whose notebooks were run."""
    ran = []

    def attempt(job):
        ran.append(job.student)
        return class_room.no_kernel(job)

    monkeypatch.setattr(grading, "attempt", attempt)
    return ran


def rows(course, work):
    """marks.csv as student → row."""
    text = as_csv(read_rows(course, Work.open(work)), load_assignments(course))
    return {row["student_id"]: row for row in csv.DictReader(text.splitlines())}


def points(row):
    return [row[f"{SLUG} task{number}"] for number in (1, 2, 3, 4)]


def test_a_folder_of_submissions_becomes_marks(tmp_path, course, submissions, no_kernel):
    grade(course, options(submissions, tmp_path / "work"))
    marks = rows(course, tmp_path / "work")
    assert [(row["status"], row["score"], points(row)) for row in marks.values()] == [
        ("graded", "10", ["2", "2", "3", "3"]),
        ("graded", "4", ["2", "2", "0", "0"]),
        ("unreadable", "", ["", "", "", ""]),
    ]
    assert marks["eve"]["reason"] == f"“{SLUG}.ipynb” cannot be read: the file is empty."


def test_grading_changes_neither_the_submissions_nor_the_course(tmp_path, course, submissions, no_kernel):
    before = class_room.snapshot(submissions), class_room.snapshot(course.root)
    grade(course, options(submissions, tmp_path / "work"))
    assert (class_room.snapshot(submissions), class_room.snapshot(course.root)) == before


def test_the_work_folder_is_private_and_the_seed_is_kept(tmp_path, course, submissions, no_kernel):
    grade(course, options(submissions, tmp_path / "work", seed=None))
    assert stat.S_IMODE((tmp_path / "work").stat().st_mode) == 0o700
    seed = (tmp_path / "work" / "seed").read_text()
    assert stat.S_IMODE((tmp_path / "work" / "seed").stat().st_mode) == 0o600
    grade(course, options(submissions, tmp_path / "work", seed=None))
    assert (tmp_path / "work" / "seed").read_text() == seed


def test_a_second_run_keeps_everything_and_runs_nothing(tmp_path, course, submissions, no_kernel):
    grade(course, options(submissions, tmp_path / "work"))
    first = rows(course, tmp_path / "work")
    no_kernel.clear()
    summary = grade(course, options(submissions, tmp_path / "work"))
    assert (no_kernel, summary.kept) == ([], 2)
    assert rows(course, tmp_path / "work") == first


def test_a_changed_submission_alone_is_graded_again(tmp_path, course, submissions, no_kernel):
    grade(course, options(submissions, tmp_path / "work"))
    no_kernel.clear()
    hand_in(submissions, "bob [2]", solved(assignment_of(course), tasks=(1, 2, 3)))
    grade(course, options(submissions, tmp_path / "work"))
    assert no_kernel == ["bob [2]"]
    assert rows(course, tmp_path / "work")["bob [2]"]["score"] == "7"


@pytest.mark.slow
@pytest.mark.parametrize("change", ["seed", "checks", "source", "limits", "gradebook", "autograded"])
def test_what_a_verdict_depends_on_makes_all_graded_again(tmp_path, course, submissions, no_kernel, change):
    work = tmp_path / "work"
    asked = options(submissions, work)
    grade(course, asked)
    no_kernel.clear()
    if change == "seed":
        asked = replace(asked, seed="another")
    elif change == "limits":
        asked = replace(asked, limits=Limits(cell_seconds=1))
    elif change == "gradebook":
        (work / "gradebook.db").unlink()
    elif change == "autograded":
        for path in work.glob("autograded/*/*/*.ipynb"):
            path.unlink()
    else:
        path = course.root / ("grader/checks.py" if change == "checks" else f"solutions/{SLUG}/{SLUG}.ipynb")
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\n# changed\n" if change == "checks" else text.replace("a call went astray", "changed"))
    grade(course, asked)
    assert sorted(no_kernel) == ["ada", "bob [2]"]


def test_one_student_is_graded_again_on_demand(tmp_path, course, submissions, no_kernel):
    grade(course, options(submissions, tmp_path / "work"))
    no_kernel.clear()
    grade(course, options(submissions, tmp_path / "work", student="ada"))
    assert no_kernel == ["ada"]
    assert len(rows(course, tmp_path / "work")) == 3


def test_an_unknown_student_is_named_in_a_sentence(tmp_path, course, submissions, no_kernel):
    with pytest.raises(CourseError, match="no folder 'zoe'"):
        grade(course, options(submissions, tmp_path / "work", student="zoe"))


def test_a_notebook_that_is_taken_away_takes_its_marks_along(tmp_path, course, submissions, no_kernel):
    grade(course, options(submissions, tmp_path / "work"))
    (submissions / "ada" / f"{SLUG}.ipynb").unlink()
    summary = grade(course, options(submissions, tmp_path / "work"))
    assert summary.gone == [f"ada: the notebook of {SLUG} is gone, its marks too."]
    assert rows(course, tmp_path / "work")["ada"]["status"] == "missing"


@pytest.mark.slow
def test_a_student_of_the_roster_without_a_notebook_is_missing_and_not_zero(tmp_path, course, submissions, no_kernel):
    roster = (Student("kim", "Kim", "Jo", "jo@example.org"), Student("ada", "Lovelace", "Ada"))
    grade(course, options(submissions, tmp_path / "work", roster=roster))
    marks = rows(course, tmp_path / "work")
    kim = marks["kim"]
    assert (kim["last_name"], kim["status"], kim["score"], points(kim)) == ("Kim", "missing", "", [""] * 4)
    assert (marks["ada"]["last_name"], marks["ada"]["first_name"]) == ("Lovelace", "Ada")


def test_an_error_of_the_grader_itself_is_written_down_and_the_others_go_on(tmp_path, course, submissions, monkeypatch):
    def attempt(job):
        if job.student == "ada":
            raise ZeroDivisionError("a mistake of ours")
        return class_room.no_kernel(job)

    monkeypatch.setattr(grading, "attempt", attempt)
    summary = grade(course, options(submissions, tmp_path / "work"))
    marks = rows(course, tmp_path / "work")
    assert len(summary.failed) == 1
    assert (marks["ada"]["status"], marks["ada"]["score"]) == ("partial", "")
    assert "ZeroDivisionError: a mistake of ours" in marks["ada"]["reason"]
    assert marks["bob [2]"]["score"] == "4"


@pytest.mark.slow
def test_late_hand_ins_are_counted_and_cost_what_the_instructors_plugin_says(tmp_path, course, submissions, no_kernel):
    (submissions / "ada" / "timestamp.txt").write_text("2026-12-02 00:00:00 UTC")
    due, work = {SLUG: datetime(2026, 12, 1, 23)}, tmp_path / "work"
    grade(course, options(submissions, work, due=due))
    assert (rows(course, work)["ada"]["late_seconds"], rows(course, work)["ada"]["score"]) == ("3600", "10")
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    no_kernel.clear()
    grade(course, options(submissions, work))  # the date is kept, the penalty is counted again without a run
    marks = rows(course, work)
    assert (no_kernel, marks["ada"]["score"], points(marks["ada"])) == ([], "0", ["2", "2", "3", "3"])
    assert marks["bob [2]"]["score"] == "4"


@pytest.mark.slow
def test_points_given_by_hand_survive_a_second_run_and_are_in_the_next_report(tmp_path, course, submissions, no_kernel):
    work = tmp_path / "work"
    grade(course, options(submissions, work))
    book = Book(course, work)
    book.gradebook.find_grade("task4_check", SLUG, SLUG, "bob [2]").manual_score = 2
    book.gradebook.db.commit()
    book.close()
    grade(course, options(submissions, work, student="bob [2]"))
    marks = rows(course, work)["bob [2]"]
    assert (marks["score"], points(marks)) == ("6", ["2", "2", "0", "2"])


@pytest.mark.slow
def test_other_points_in_the_source_are_taken_over(tmp_path, course, submissions, no_kernel):
    work = tmp_path / "work"
    grade(course, options(submissions, work))
    for path in (f"solutions/{SLUG}/{SLUG}.ipynb", f"exercises/{SLUG}/{SLUG}.ipynb"):
        notebook = nbformat.read(course.root / path, as_version=4)
        next(cell for cell in notebook.cells if cell.id == "task4_check").metadata["nbgrader"]["points"] = 5
        nbformat.write(notebook, course.root / path)
    grade(course, options(submissions, work))
    assert (rows(course, work)["ada"]["score"], rows(course, work)["ada"]["max_score"]) == ("12", "12")


MOMENTS = ["kit", "a record", "the gradebook", "the notebook", "the receipt"]


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_killed_at_any_moment_and_started_again_gives_the_same_marks(
    tmp_path, course, submissions, no_kernel, monkeypatch, moment
):
    grade(course, options(submissions, tmp_path / "whole"))
    child = os.fork()
    if child == 0:
        _die_at(moment)
        grade(course, options(submissions, tmp_path / "work"))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    grade(course, options(submissions, tmp_path / "work"))
    assert rows(course, tmp_path / "work") == rows(course, tmp_path / "whole")


def _die_at(moment):
    """End this process without any clean-up when the second student's work is at this moment."""

    def die(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGKILL)

    def second(target, name, condition=lambda *args, **kwargs: True):
        original, calls = getattr(target, name), []

        def call(*args, **kwargs):
            if condition(*args, **kwargs):
                calls.append(1)
                if len(calls) == 2:
                    die()
            return original(*args, **kwargs)

        setattr(target, name, call)

    if moment == "kit":
        grading.make_kit = die
    elif moment == "the gradebook":
        second(Book, "save")
    elif moment == "the notebook":
        second(Work, "save_notebook", lambda self, kind, *rest: kind == "autograded")
    else:
        second(Work, "save_record", lambda self, record: bool(record.done) == (moment == "the receipt"))


def test_two_runs_in_one_work_folder_are_refused(tmp_path, course, submissions):
    work = Work.open(tmp_path / "work")
    with work.locked(), pytest.raises(CourseError, match="Another run is at work"):
        grade(course, options(submissions, tmp_path / "work"))


@pytest.mark.slow
def test_an_interrupt_ends_what_runs_and_leaves_a_work_folder_that_goes_on(
    tmp_path, course, submissions, no_kernel, monkeypatch
):
    def tell(text, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(course, options(submissions, tmp_path / "work"), tell)
    grade(course, options(submissions, tmp_path / "work"))
    assert rows(course, tmp_path / "work")["ada"]["score"] == "10"


def test_without_the_words_no_sandbox_nothing_is_run_and_the_reason_is_said(tmp_path, submissions):
    result = CliRunner().invoke(app, ["grade", str(submissions), "--work", str(tmp_path / "work")])
    assert result.exit_code == 2
    assert "has your rights" in result.output
    assert "--no-sandbox" in result.output
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("due", ["01=soon", "99=2026-12-01", "2026-12-01"])
def test_a_wrong_due_time_is_a_sentence(tmp_path, submissions, due):
    result = CliRunner().invoke(app, ["grade", str(submissions), "--no-sandbox", "--due", due])
    assert result.exit_code == 2
    assert "01=2026-12-01T23:59" in result.output


def test_a_folder_without_students_is_a_sentence(tmp_path, course):
    (tmp_path / "class").mkdir()
    with pytest.raises(CourseError, match=r"expected .*/STUDENT_ID/\*\.ipynb"):
        grade(course, options(tmp_path / "class", tmp_path / "work"))


@pytest.mark.slow
def test_a_kernel_sees_no_solutions_no_gradebook_and_no_secrets_of_ours(tmp_path, course, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "of the instructor")
    assignment, kit = assignment_of(course), make_kit(course, tmp_path / "kit")
    spy = "import os, sys\nprint(dict(os.environ), sys.path, os.listdir('.'), os.listdir(os.path.expanduser('~')))"
    notebook = solved(assignment)
    notebook.cells.append(nbformat.v4.new_code_cell(spy, id="spy"))
    ready = with_hidden_checks(repair(notebook.cells, assignment).notebook, assignment)
    outcome = attempt(Job("ada", SLUG, ready, kit, Limits(), {"COURSE_SEED": "a seed"}))
    seen = next(cell for cell in outcome.notebook.cells if "listdir" in cell.source).outputs[0].text
    assert "of the instructor" not in seen
    assert str(course.root) not in seen
    assert not any("solution" in path.name or path.suffix == ".ipynb" for path in kit.folder.rglob("*"))
    assert outcome.problems == ()
    assert len(outcome.clean) == 4


@pytest.mark.slow
def test_no_process_of_a_class_outlives_its_run(tmp_path, course):
    assignment = assignment_of(course)
    notebook = solved(assignment)
    source = "import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 86398 & exit'], start_new_session=True, env={})"
    notebook.cells.append(nbformat.v4.new_code_cell(source, id="spawn"))
    hand_in(tmp_path / "class", "ada", notebook)
    grade(course, options(tmp_path / "class", tmp_path / "work"))
    assert not [p for p in psutil.process_iter(["cmdline"]) if "86398" in " ".join(p.info["cmdline"] or [])]


EXERCISES = load_assignments(Course.load(class_room.ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("assignment", EXERCISES, ids=lambda assignment: assignment.lesson.slug)
def test_an_honest_solution_is_graded_with_all_points_and_nothing_to_flag(tmp_path, assignment):
    course = Course.load(class_room.ROOT)
    ready = with_hidden_checks(repair(solved(assignment).cells, assignment).notebook, assignment)
    job = Job(
        "ada", assignment.lesson.slug, ready, make_kit(course, tmp_path / "kit"), Limits(), {"COURSE_SEED": "a seed"}
    )
    outcome = attempt(job)
    assert (outcome.reason, outcome.problems, outcome.restored) == ("", (), ())
    assert outcome.clean == {cell.id for cell in ready.cells if is_check(cell)}


HELD = "class Held:\n    passed, title = True, ''\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cheat", "restored", "problem"),
    [
        (f"{HELD}def accept(*a, **k):\n    return [Held()] * len(FACTS)", "accept", ""),
        ("import mcp_harness.acceptance as a\na.FACTS = (lambda run: None,)", "", "FACTS"),
        ("import mcp_harness.acceptance as a\na.examine = lambda run, ask: (None, True)", "", "examine"),
    ],
    ids=["the name", "the facts", "a function"],
)
def test_the_acceptance_run_of_an_exercise_cannot_be_replaced(tmp_path, cheat, restored, problem):
    course = Course.load(class_room.ROOT)
    assignment = next(one for one in load_assignments(course) if one.lesson.slug == "10_ship_it")
    notebook = copy.deepcopy(assignment.release)
    answer = next(cell for cell in notebook.cells if cell.id == "task4")
    answer.source = f"{cheat}\n\n\nclass Harness:\n    def __init__(self, *words):\n        pass"
    ready = with_hidden_checks(repair(notebook.cells, assignment).notebook, assignment)
    kit = make_kit(course, tmp_path / "kit")
    outcome = attempt(Job("eve", "10_ship_it", ready, kit, Limits(), {"COURSE_SEED": "a seed"}))
    assert restored in outcome.restored if restored else outcome.restored == ()
    assert outcome.problems == ((f"the course's mcp_harness.acceptance.py was changed: {problem}.",) if problem else ())
    row = next(cell for cell in outcome.notebook.cells if cell.id == "task4_check")
    assert problem or any(output.output_type == "error" for output in row.outputs)
