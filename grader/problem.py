"""One thing that is wrong with the course's files, said so that somebody can mend it."""

from dataclasses import dataclass

BUILD = "run `make build` (or `python -m grader build`)"


@dataclass(frozen=True)
class Problem:
    """Where it is, what it is, and what mends it."""

    path: str  # relative to the root of the course
    sentence: str
    mend: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.sentence} To mend it: {self.mend}."


class BuildError(Exception):
    """A source so wrong that nothing can be made from it. Carries the problem."""

    def __init__(self, path: str, sentence: str, mend: str, line: int | None = None):
        self.problem = Problem(path, sentence, mend, line)
        super().__init__(str(self.problem))
