"""`grader build`: make every generated file from its source, or say which ones differ.

All files are made in memory first. Then they are written where they changed, or, with
`--check`, compared. A source that is wrong costs its own files only.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import nbformat
from nbformat import NotebookNode

from grader import lessons, notebook
from grader.course import FACTS, Course, Lesson
from grader.pins import Mismatch, mismatches
from grader.problem import BUILD, BuildError, Problem

Execute = Literal["never", "stale", "always"]
Tell = Callable[[str], object]

MAIN = "code/main.py"
NOTEBOOK_TOOLS = ("jupytext", "nbformat", "markdown-it-py")
FIGURE_TOOLS = ("matplotlib", "numpy", "pillow")
RELEASE_TOOLS = ("jupytext", "nbformat", "nbgrader", "nbconvert")


@dataclass(frozen=True)
class Generated:
    """One generated file: where it belongs, what must be in it, and what that was made from."""

    path: str
    content: bytes
    source: str
    tools: tuple[str, ...] = ()  # the pinned packages whose version decides the bytes


@dataclass
class Plan:
    """Everything that the course's sources give."""

    files: dict[str, Generated] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def write(self, course: Course, path: str) -> None:
        """Write one of its files if the content changed."""
        there, content = course.root / path, self.files[path].content
        if there.is_file() and there.read_bytes() == content:
            return
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content)
        self.written.append(path)

    def add(self, path: str, content: bytes | str, source: str, tools: tuple[str, ...] = ()) -> None:
        data = content.encode("utf-8") if isinstance(content, str) else content
        self.files[path] = Generated(path, data, source, tools)


@dataclass(frozen=True)
class Result:
    """What a build did or found."""

    written: tuple[str, ...]
    problems: tuple[Problem, ...]
    skipped: tuple[str, ...]  # files we cannot compare with these versions of the tools
    mismatches: tuple[Mismatch, ...]
    count: int  # of generated files

    @property
    def ok(self) -> bool:
        return not self.problems


def make_plan(course: Course, execute: Execute = "never", tell: Tell = lambda step: None) -> Plan:
    """Make every generated file in memory."""
    plan = Plan()
    if course.exists(MAIN):  # before any notebook runs: the setup cell looks for this line
        _try(plan, MAIN, lambda: _add_main(plan, course, execute))
    for lesson in course.lessons:
        steps: list[tuple[bool, str, Callable[[Plan, Course, Lesson, Execute], None]]] = [
            (course.lesson_ready(lesson), lesson.source, _add_lesson),
            (course.exercise_ready(lesson), lesson.exercise_source, _add_exercise),
            (course.quiz_ready(lesson), lesson.quiz_source, _add_quiz),
        ]
        for ready, source, add in steps:
            if ready:
                tell(source)
                _try(plan, source, lambda add=add, lesson=lesson: add(plan, course, lesson, execute))
    _add_pages(plan, course)
    return plan


def _try(plan: Plan, source: str, step: Callable[[], None]) -> None:
    """Take a step; what goes wrong becomes a problem of its source, and the others go on."""
    try:
        step()
    except BuildError as error:
        plan.problems.append(error.problem)
    except ImportError as error:
        sentence = f"Making files from it needs the package {error.name}, which is not installed."
        plan.problems.append(Problem(source, sentence, "pip install -c constraints.txt -e '.[dev]'"))
    except Exception as error:  # a tool's own complaint about this source
        sentence = f"Making files from it failed with {type(error).__name__}: {error}."
        plan.problems.append(Problem(source, sentence, "look at what changed in it last"))


def _add_main(plan: Plan, course: Course, execute: Execute) -> None:
    """The one line of `code/main.py` that says which course it belongs to."""
    line = f'COURSE = "{course.slug}"  # written by `grader build` from course.toml'
    text, count = re.subn(r"^COURSE = .*$", line, course.read(MAIN), flags=re.MULTILINE)
    if count != 1:
        raise BuildError(MAIN, f"It has {count} lines `COURSE = …`.", "put one above the code; the build fills it in")
    plan.add(MAIN, text, FACTS)
    if execute != "never":
        plan.write(course, MAIN)


def _add_lesson(plan: Plan, course: Course, lesson: Lesson, execute: Execute) -> None:
    from grader.execute import execute as run
    from grader.execute import is_stale, with_stored_outputs
    from grader.figures import draw, figure_path, stem_of

    drawings = draw(course, lesson)
    for stem, drawing in drawings.items():
        plan.add(figure_path(stem), drawing.svg, lesson.figures, FIGURE_TOOLS)

    def image(path: str) -> tuple[str, int]:
        drawing = drawings.get(stem_of(path))
        if drawing is None:
            sentence = f"The page shows {path}, which no figure of {lesson.figures} makes."
            raise BuildError(lesson.source, sentence, f"add {stem_of(path)!r} to FIGURES, or correct the name")
        return drawing.data_uri, drawing.width

    text = lessons.with_header(course, lesson)
    made = lessons.draft(course, lesson, text, image)
    stored = _stored_notebook(course, lesson)
    stale = is_stale(made, stored)
    step = lessons.step_module(lesson, text)
    if step is not None:
        plan.add(lesson.step, step, lesson.source)
        if execute != "never":
            plan.write(course, lesson.step)  # the notebook, and the next ones, may import it
    if execute == "always" or (execute == "stale" and stale):
        done = run(made, lesson.source, course.root / "notebooks")
    else:
        done = with_stored_outputs(made, stored)
        if stale:
            sentence = f"Its code changed since {lesson.notebook} was run, so the stored outputs may be wrong."
            plan.problems.append(Problem(lesson.source, sentence, BUILD))
            return
    plan.add(lesson.source, lessons.with_outputs(lesson, text, done), FACTS, NOTEBOOK_TOOLS)
    tools = NOTEBOOK_TOOLS + (FIGURE_TOOLS if drawings else ())
    plan.add(lesson.notebook, notebook.to_bytes(done), lesson.source, tools)


def _stored_notebook(course: Course, lesson: Lesson) -> NotebookNode | None:
    if not course.exists(lesson.notebook):
        return None
    try:
        return nbformat.read(course.root / lesson.notebook, as_version=4)
    except Exception:  # half written, or a merge conflict: as good as none
        return None


def _add_exercise(plan: Plan, course: Course, lesson: Lesson, execute: Execute) -> None:
    from grader.exercises import release_notebook, solution_notebook

    solution = solution_notebook(course, lesson)
    plan.add(lesson.solution_notebook, notebook.to_bytes(solution), lesson.exercise_source, RELEASE_TOOLS)
    release = release_notebook(course, lesson, solution)
    plan.add(lesson.release, release, lesson.exercise_source, RELEASE_TOOLS)


def _add_quiz(plan: Plan, course: Course, lesson: Lesson, execute: Execute) -> None:
    from grader import quiz_format

    path = course.root / lesson.quiz_source
    complaints = quiz_format.lint(path)
    for complaint in complaints:
        sentence = complaint.removeprefix(f"{lesson.quiz_source}: ")
        plan.problems.append(Problem(lesson.quiz_source, sentence, "change the question"))
    if complaints:
        return
    plan.add(lesson.quiz_page, quiz_format.render_page(path), lesson.quiz_source, ("pyyaml",))
    for name, drawing in quiz_format.figures(path).items():
        plan.add(f"lessons/quizzes/figures/{name}", drawing, lesson.quiz_source, FIGURE_TOOLS)


def _add_pages(plan: Plan, course: Course) -> None:
    """The skill, and the pages with regions."""
    from grader import skill
    from grader.regions import OPENING, fill, page_writers

    if course.exists(skill.PAGE):
        _try(plan, skill.PAGE, lambda: plan.add(skill.PAGE, skill.with_code(course), skill.CODE))
    lesson_pages = {lesson.source for lesson in course.lessons}
    for folder in (".", "lessons", "solutions"):
        for page in sorted((course.root / folder).glob("*.md")):
            path = page.relative_to(course.root).as_posix()
            text = course.read(path)
            if path not in lesson_pages and any(OPENING.match(line) for line in text.splitlines()):
                _try(plan, path, lambda p=path, t=text: plan.add(p, fill(p, t, page_writers(course)), FACTS))


def build(course: Course, execute: Execute = "stale", tell: Tell = lambda step: None) -> Result:
    """Write every generated file that changed, then lint."""
    plan = make_plan(course, execute, tell)
    for path in plan.files:
        plan.write(course, path)
    return _result(course, plan, mismatches(course))


def check(course: Course, tell: Tell = lambda step: None) -> Result:
    """Write nothing; find every generated file that is not what its source gives, then lint."""
    plan = make_plan(course, "never", tell)
    other = mismatches(course)
    skipped = [one.path for one in plan.files.values() if set(one.tools) & set(other)]
    for one in plan.files.values():
        there = course.root / one.path
        if not there.is_file():
            plan.problems.append(Problem(one.path, f"It is missing; {one.source} makes it.", BUILD))
        elif one.path not in skipped and there.read_bytes() != one.content:
            plan.problems.append(Problem(one.path, f"It is not what {one.source} gives.", BUILD))
    return _result(course, plan, other, skipped)


def _result(course: Course, plan: Plan, other: dict[str, Mismatch], skipped: Sequence[str] = ()) -> Result:
    from grader.lint import lint

    failed = frozenset(problem.path for problem in plan.problems)
    problems = [*plan.problems, *lint(course, plan.files, failed)]
    return Result(tuple(plan.written), tuple(problems), tuple(skipped), tuple(other.values()), len(plan.files))
