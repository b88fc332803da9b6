"""Whether this machine has the versions that `constraints.txt` pins."""

import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from grader.course import Course

CONSTRAINTS = "constraints.txt"


@dataclass(frozen=True)
class Mismatch:
    """A tool of another version than the pinned one; `found` is None if it is not installed."""

    tool: str
    pinned: str
    found: str | None

    def __str__(self) -> str:
        return f"{self.tool} is {self.found or 'not installed'}, but {CONSTRAINTS} pins {self.pinned}"


def mismatches(course: Course) -> dict[str, Mismatch]:
    """The tools whose installed version is not the pinned one, by name."""
    if not course.exists(CONSTRAINTS):
        return {}
    found = {}
    for tool, pinned in re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", course.read(CONSTRAINTS), re.MULTILINE):
        installed = _installed(tool)
        if installed != pinned:
            found[tool] = Mismatch(tool, pinned, installed)
    return found


def _installed(tool: str) -> str | None:
    try:
        return version(tool)
    except PackageNotFoundError:
        return None
