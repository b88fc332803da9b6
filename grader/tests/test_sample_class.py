"""The sample class: each student gets what the table says, and nothing else happens."""

import csv
import html
import json
import re

import pytest

from grader.assignment import load_assignments
from grader.course import Course
from grader.gallery import mistakes
from grader.sample_class.make_class import expected, make_class
from grader.tests.class_room import ROOT, SLUG
from grader.tests.graded_class import graded_class

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
CHEATS = [entry for entry in expected() if entry.student.startswith("cheat")]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return graded_class(tmp_path_factory)


@pytest.fixture(scope="session")
def marks(folder):
    text = (folder / "work" / "report" / "marks.csv").read_text(encoding="utf-8")
    return {row["student_id"]: row for row in csv.DictReader(text.splitlines())}


@pytest.fixture(scope="session")
def facts(folder):
    return json.loads((folder / "facts.json").read_text())


def test_the_table_names_every_student_of_the_class(tmp_path):
    assert sorted(make_class(tmp_path / "class", Course.load(ROOT))) == sorted(entry.student for entry in expected())


@pytest.mark.parametrize("entry", expected(), ids=lambda entry: entry.student)
def test_each_student_gets_what_the_table_says(entry, marks):
    row = marks[entry.student]
    points = tuple(float(row[f"{SLUG} task{n}"]) for n in (1, 2, 3, 4)) if row["score"] else None
    assert (row["status"], points) == (entry.status, entry.marks), row
    assert entry.flag in row["flags"]
    assert bool(entry.flag) == bool(row["flags"]), row["flags"]
    assert entry.says in row["repairs"] + row["reason"]


def test_no_cheat_earns_a_point(marks):
    assert {entry.student: marks[entry.student]["score"] for entry in CHEATS} == {e.student: "0" for e in CHEATS}


def test_no_process_is_alive_afterwards(facts):
    assert facts["alive"] == []


def test_nothing_outside_the_work_folder_changed(facts):
    assert not facts["changed"]


def test_the_grader_itself_failed_for_nobody(facts):
    assert facts["failed"] == []


def test_everything_that_is_kept_of_a_flood_is_small(folder):
    files = [path for path in (folder / "work").rglob("*floods*/**/*") if path.is_file()]
    assert files
    assert max(path.stat().st_size for path in files) < 500_000


def test_feedback_shows_no_text_of_a_hidden_check_and_not_the_seed(folder):
    assignment = load_assignments(Course.load(folder / "root"))[0]
    hidden = [
        line.strip()
        for cell in assignment.source.cells
        for part in re.findall(r"### BEGIN HIDDEN TESTS\n(.*?)### END HIDDEN TESTS", cell.source, re.DOTALL)
        for line in part.splitlines()
        if len(line.strip()) > 30 and "why=" not in line and "why =" not in line and "hidden(" not in line
    ]
    assert len(hidden) > 30
    for path in (folder / "work" / "report" / "feedback").rglob("*.html"):
        page = path.read_text(encoding="utf-8").replace("&#x27;", "'").replace("&quot;", '"')
        assert "HIDDEN" not in page
        assert "a seed" not in page
        assert [line for line in hidden if line in page] == []


def test_feedback_needs_no_network_and_no_script(folder):
    pages = list((folder / "work" / "report" / "feedback").rglob("*.html"))
    assert len(pages) == len([entry for entry in expected() if entry.status != "missing"])
    for path in pages:
        page = re.sub(r"<pre>.*?</pre>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"<script|<img|<link|@import|url\(|href=|src=", page), path


def test_the_same_sentence_stands_in_feedback_and_gallery(folder):
    mistake = next(entry for entry in mistakes(Course.load(folder / "root")) if entry.name == "forwards_exposed_name")
    page = (folder / "work" / "report" / "feedback" / f"wrong {mistake.name}" / f"{SLUG}.html").read_text("utf-8")
    assert f"0 of 3 points. {html.escape(mistake.lost[3])}</div>" in page


def test_the_plot_is_a_picture(folder):
    assert (folder / "work" / "report" / f"{SLUG}.png").read_bytes().startswith(b"\x89PNG")
