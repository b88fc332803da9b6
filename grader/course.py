"""Facts about the course, read from `course.toml`: the one place where they are written."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DIFFICULTIES = ("easy", "medium", "hard")
FACTS = "course.toml"


class CourseError(Exception):
    """`course.toml` is missing or says something we cannot use; the message is a sentence."""


@dataclass(frozen=True)
class Exercise:
    """What a reader is told before starting an exercise."""

    minutes: int
    difficulty: str
    points: int


@dataclass(frozen=True)
class Lesson:
    """One entry of the course. `slug` is the stem of every file that belongs to it."""

    slug: str  # "01_namespace"
    number: int
    title: str
    builds: str
    minutes: int | None = None
    difficulty: str | None = None
    exercise: Exercise | None = None
    revision: str | None = None  # of the protocol, where it is not the course's

    @property
    def source(self) -> str:
        return f"lessons/{self.slug}.md"

    @property
    def notebook(self) -> str:
        return f"notebooks/{self.slug}.ipynb"

    @property
    def figures(self) -> str:
        return f"lessons/figures/{self.slug}.py"

    @property
    def quiz_source(self) -> str:
        return f"lessons/quizzes/{self.slug}.yaml"

    @property
    def quiz_page(self) -> str:
        return f"lessons/quizzes/{self.slug}.md"

    @property
    def step(self) -> str:
        return f"code/steps/step{self.slug}.py"

    @property
    def exercise_source(self) -> str:
        return f"solutions/{self.slug}.py"

    @property
    def solution_notebook(self) -> str:
        return f"solutions/{self.slug}/{self.slug}.ipynb"

    @property
    def release(self) -> str:
        return f"exercises/{self.slug}/{self.slug}.ipynb"


@dataclass(frozen=True)
class Course:
    """The whole course. A lesson or exercise that is planned but not written yet is in here too."""

    slug: str  # owner/name of the public repository
    branch: str
    title: str
    revision: str
    lessons: tuple[Lesson, ...]
    root: Path = field(default=Path(), compare=False)

    @classmethod
    def load(cls, root: Path | str | None = None) -> "Course":
        """Read `course.toml` in `root`; without one, look upwards from here, then beside this package."""
        folder = Path(root).resolve() if root is not None else find_root()
        try:
            facts = tomllib.loads((folder / FACTS).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise CourseError(f"There is no {FACTS} in {folder}: give the folder that holds it.") from None
        except tomllib.TOMLDecodeError as error:
            raise CourseError(f"{FACTS} is not valid TOML: {error}.") from None
        entries = facts.pop("lessons", [])
        lessons = tuple(_lesson(number, entry) for number, entry in enumerate(entries, 1))
        wanted = {"slug", "branch", "title", "revision"}
        _complain(f"the top of {FACTS}", facts, wanted, wanted)
        if facts["slug"].count("/") != 1:
            raise CourseError(f"{FACTS}: `slug` is {facts['slug']!r}, but owner/name was expected.")
        return cls(**facts, lessons=lessons, root=folder)

    @property
    def folder(self) -> str:
        """The name of a clone's folder."""
        return self.slug.split("/")[1]

    def exists(self, path: str) -> bool:
        return (self.root / path).is_file()

    def read(self, path: str) -> str:
        """The text of a file of the course; line ends are always \\n."""
        return (self.root / path).read_text(encoding="utf-8")

    def lesson_ready(self, lesson: Lesson) -> bool:
        return self.exists(lesson.source)

    def exercise_ready(self, lesson: Lesson) -> bool:
        return self.exists(lesson.exercise_source)

    def quiz_ready(self, lesson: Lesson) -> bool:
        return self.exists(lesson.quiz_source)

    def find(self, slug: str) -> Lesson | None:
        return next((lesson for lesson in self.lessons if lesson.slug == slug), None)

    def page(self, path: str) -> str:
        """The address of a file on GitHub, for whoever does not sit in a checkout."""
        return f"https://github.com/{self.slug}/blob/{self.branch}/{path}"

    def colab(self, path: str) -> str:
        """The address that opens a notebook in Google Colab."""
        return f"https://colab.research.google.com/github/{self.slug}/blob/{self.branch}/{path}"


def find_root() -> Path:
    """The nearest folder with a `course.toml`: upwards from here, else from this file."""
    here = Path.cwd()
    beside = Path(__file__).resolve().parent.parent
    for folder in (here, *here.parents, beside):
        if (folder / FACTS).is_file():
            return folder
    raise CourseError(f"There is no {FACTS} in {here} or above it: go to a checkout of the course first.")


def _lesson(number: int, entry: dict[str, Any]) -> Lesson:
    place = f"lesson {number} in {FACTS}"
    _complain(place, entry, {"slug", "title", "builds"}, set(Lesson.__dataclass_fields__) - {"number"})
    if not entry["slug"].startswith(f"{number:02}_"):
        raise CourseError(f"{place}: its slug {entry['slug']!r} must begin with {number:02}_.")
    exercise = entry.get("exercise")
    if exercise is not None:
        fields = set(Exercise.__dataclass_fields__)
        _complain(f"the exercise of {place}", exercise, fields, fields)
        exercise = Exercise(**exercise)
    for difficulty in (entry.get("difficulty"), exercise and exercise.difficulty):
        if difficulty is not None and difficulty not in DIFFICULTIES:
            raise CourseError(f"{place}: difficulty {difficulty!r} is none of {', '.join(DIFFICULTIES)}.")
    return Lesson(**{**entry, "number": number, "exercise": exercise})


def _complain(place: str, entry: dict[str, Any], needed: set[str], allowed: set[str]) -> None:
    for key in sorted(needed - set(entry)):
        raise CourseError(f"In {place}, `{key}` is missing.")
    for key in sorted(set(entry) - allowed):
        raise CourseError(f"In {place}, nobody knows the key `{key}`; there are {', '.join(sorted(allowed))}.")
