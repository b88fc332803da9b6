"""`course.toml` is read once, and what is wrong in it is said in a sentence."""

from pathlib import Path

import pytest

from grader.course import Course, CourseError, Exercise
from grader.tests import small_course


def test_the_course_has_its_lessons_in_order_with_what_belongs_to_them(tmp_path: Path) -> None:
    course = small_course.make(tmp_path)
    first, second = course.lessons
    assert (first.number, first.slug, first.minutes) == (1, "01_names", 12)
    assert first.exercise == Exercise(minutes=12, difficulty="easy", points=6)
    assert (second.number, second.minutes, second.exercise) == (2, None, None)
    assert course.lesson_ready(first)
    assert not course.lesson_ready(second)


def test_the_root_is_found_from_a_folder_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_course.make(tmp_path)
    monkeypatch.chdir(tmp_path / "lessons" / "figures")
    assert Course.load().root == tmp_path


def test_the_root_is_this_checkout_when_we_stand_outside_of_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Course.load().root == small_course.REAL_ROOT


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('branch = "main"\n', "", "`branch` is missing"),
        ('title = "Later"', 'titel = "Later"', "`title` is missing"),
        ("minutes = 12\n", "minuets = 12\n", "nobody knows the key `minuets`"),
        ('slug = "02_later"', 'slug = "03_later"', "must begin with 02_"),
        ('difficulty = "easy"\n', 'difficulty = "trivial"\n', "'trivial' is none of easy, medium, hard"),
        ("points = 6", "point = 6", "`points` is missing"),
        (f'slug = "{small_course.SLUG}"', 'slug = "small"', "owner/name was expected"),
        ("[[lessons]]", "[[lessons", "not valid TOML"),
    ],
)
def test_a_mistake_in_the_facts_is_named(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    course = small_course.make(tmp_path)
    small_course.edit(course, "course.toml", old, new)
    with pytest.raises(CourseError, match=sentence):
        Course.load(tmp_path)


def test_a_folder_without_facts_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"no course\.toml in"):
        Course.load(tmp_path)
