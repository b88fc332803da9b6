"""Fixtures for the tests of the build."""

import shutil
from pathlib import Path

import pytest

from grader import build
from grader.course import Course
from grader.tests import small_course


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small course, built. Running its notebook takes a second, so all tests share this one; copy it."""
    root = tmp_path_factory.mktemp("small") / "course"
    result = build.build(small_course.make(root))
    assert result.ok, [str(problem) for problem in result.problems]
    return root


@pytest.fixture
def course(built_once: Path, tmp_path: Path) -> Course:
    """A built small course of one's own."""
    root = tmp_path / "course"
    shutil.copytree(built_once, root)
    return Course.load(root)
