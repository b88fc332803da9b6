"""Rules that hold for the whole course."""

from collections.abc import Mapping
from typing import Any

from grader.course import Course
from grader.problem import Problem


def lint(course: Course, generated: Mapping[str, Any]) -> list[Problem]:
    """Every broken rule, as a problem."""
    return []
