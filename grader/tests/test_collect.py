"""Behaviour of collect: who handed in what, from a folder of downloads."""

import os
import unicodedata
from datetime import datetime

import pytest

from grader.collect import collect
from grader.course import Course, CourseError
from grader.roster import Student, read_roster
from grader.sample_class.make_class import solved
from grader.tests.class_room import ROOT, SLUG, assignment_of, hand_in, snapshot

ASSIGNMENT = assignment_of(Course.load(ROOT))
FULL = solved(ASSIGNMENT)


def found(folder, **more):
    return {submission.student: submission for submission in collect(folder, [ASSIGNMENT], **more).submissions}


@pytest.mark.parametrize("name", ["Copy of X.ipynb", "X (1).ipynb", "exercises_X.IPYNB", "01.ipynb.json", "作业.ipynb"])
def test_a_notebook_is_known_by_its_cells_and_not_by_its_name(tmp_path, name):
    hand_in(tmp_path, "ada", FULL, name)
    assert found(tmp_path)["ada"].slug == SLUG


@pytest.mark.parametrize("student", ["with space", "Zoë", "李雷", "o'neill", '"quoted"', "[a-z]", "*", "a;b,c", "-x"])
def test_every_name_of_a_folder_is_a_student(tmp_path, student):
    hand_in(tmp_path, student, FULL)
    assert list(found(tmp_path)) == [student]


def test_the_same_accent_written_in_two_ways_is_the_same_student(tmp_path):
    hand_in(tmp_path, unicodedata.normalize("NFD", "Zoë"), FULL)
    assert list(found(tmp_path)) == [unicodedata.normalize("NFC", "Zoë")]


def test_a_folder_per_exercise_inside_a_students_folder_works_too(tmp_path):
    hand_in(tmp_path, f"ada/{SLUG}", FULL)
    assert list(found(tmp_path)) == ["ada"]


def test_links_are_not_followed_and_reported(tmp_path):
    outside = hand_in(tmp_path / "outside", "secret", FULL)
    inside = tmp_path / "class"
    (inside / "eve").mkdir(parents=True)
    (inside / "eve" / "x.ipynb").symlink_to(outside)
    (inside / "mallory").symlink_to(outside.parent)
    collection = collect(inside, [ASSIGNMENT])
    assert collection.submissions == ()
    assert collection.students == ("eve",)
    assert collection.passed_over == (
        "eve: x.ipynb is a link; it was not followed.",
        "mallory is a link; it was not followed.",
    )


def test_a_pipe_that_is_called_a_notebook_stops_nothing(tmp_path):
    (tmp_path / "eve").mkdir()
    os.mkfifo(tmp_path / "eve" / "x.ipynb")
    hand_in(tmp_path, "ada", FULL)
    assert list(found(tmp_path)) == ["ada"]


def test_of_two_notebooks_the_one_with_most_answers_counts_and_the_student_is_told(tmp_path):
    newer = hand_in(tmp_path, "ada", solved(ASSIGNMENT, tasks=(1,)), "b.ipynb")
    older = hand_in(tmp_path, "ada", FULL, "a.ipynb")
    os.utime(older, (0, 0))
    submission = found(tmp_path)["ada"]
    assert submission.path.name == "a.ipynb"
    assert submission.notes == ("There were 2 notebooks; “a.ipynb” counts, with most answers (not “b.ipynb”).",)
    assert newer.exists()


def test_of_two_notebooks_with_as_many_answers_the_newest_counts(tmp_path):
    os.utime(hand_in(tmp_path, "ada", FULL, "z.ipynb"), (1000, 1000))
    os.utime(hand_in(tmp_path, "ada", FULL, "a.ipynb"), (2000, 2000))
    assert found(tmp_path)["ada"].path.name == "a.ipynb"


def test_a_readable_notebook_wins_over_an_unreadable_one(tmp_path):
    hand_in(tmp_path, "ada", FULL, "a.ipynb")
    hand_in(tmp_path, "ada", b"", f"{SLUG}.ipynb")
    assert found(tmp_path)["ada"].reason == ""


def test_a_file_that_cannot_be_read_is_its_students_alone(tmp_path):
    hand_in(tmp_path, "ada", FULL)
    hand_in(tmp_path, "eve", b"<html>")
    assert found(tmp_path)["eve"].reason.startswith(f"“{SLUG}.ipynb” cannot be read: it is a web page")
    assert found(tmp_path)["ada"].reason == ""


def test_only_one_student_is_read_if_asked(tmp_path):
    hand_in(tmp_path, "ada", FULL)
    hand_in(tmp_path, "bob", FULL)
    assert list(found(tmp_path, only="bob")) == ["bob"]


def test_the_moment_of_handing_in_stands_in_a_timestamp_file(tmp_path):
    path = hand_in(tmp_path, "ada", FULL)
    (path.parent / "timestamp.txt").write_text("2026-12-01 12:00:00 +0200")
    hand_in(tmp_path, "bob", FULL)
    assert found(tmp_path)["ada"].handed_in == datetime(2026, 12, 1, 10)
    assert found(tmp_path)["bob"].handed_in is None


def test_collecting_changes_nothing(tmp_path):
    hand_in(tmp_path, "ada", FULL)
    before = snapshot(tmp_path)
    collect(tmp_path, [ASSIGNMENT])
    assert snapshot(tmp_path) == before


def test_hidden_folders_and_loose_files_are_no_students(tmp_path):
    hand_in(tmp_path, ".ipynb_checkpoints", FULL)
    hand_in(tmp_path, "__MACOSX", FULL)
    hand_in(tmp_path, ".", FULL, "loose.ipynb")
    collection = collect(tmp_path, [ASSIGNMENT])
    assert collection.students == ()
    assert collection.passed_over == ("loose.ipynb lies in no student's folder.",)


@pytest.mark.parametrize("text", ["id,last_name\nada,Lovelace\n", "﻿id;last_name;email\nada;Lovelace;\n"])
def test_a_roster_is_read_with_commas_or_semicolons(tmp_path, text):
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    assert read_roster(tmp_path / "r.csv") == [Student("ada", "Lovelace")]


def test_a_roster_without_ids_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "r.csv").write_text("name\nada\n")
    with pytest.raises(CourseError, match="no column `id`; its first line has: name"):
        read_roster(tmp_path / "r.csv")
