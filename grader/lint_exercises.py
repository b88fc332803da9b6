"""Rules for one exercise: each task is complete, and its release gives nothing away."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat

from grader.course import FACTS, Course, Lesson
from grader.exercises import (
    HIDDEN_BEGIN,
    HIDDEN_END,
    SOLUTION_BEGIN,
    SOLUTION_END,
    Cell,
    read_cells,
)
from grader.problem import Problem

TASKS = range(3, 6)  # how many an exercise may have
FIRST_TASK_MINUTES = 5  # it goes green at once
HINTS = ["Hint 1", "Hint 2", "Hint 3"]
TODO = "TODO"
TELLING = 15  # characters; a shorter piece of a solution may stand in a release by chance


@dataclass(frozen=True)
class Task:
    """A task: the cell that opens it, and the cells up to the next one."""

    opening: Cell
    cells: tuple[Cell, ...]

    @property
    def number(self) -> int:
        return self.opening.task or 0

    @property
    def answers(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.answer]

    @property
    def checks(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.checks_task == self.number]


def lint_exercise(course: Course, lesson: Lesson, release: bytes | None) -> list[Problem]:
    """Every broken rule in an exercise's script and its release. Raises BuildError if it cannot be read."""
    path = lesson.exercise_source
    cells = read_cells(path, course.read(path))
    tasks = tasks_of(cells)
    found = [*_whole(course, lesson, cells, tasks)]
    for task in tasks:
        found += [*_opening(path, task), *_hints(path, task), *_answer(path, task), *_checks(path, task)]
    return found if release is None else [*found, *_release(lesson, cells, release)]


def tasks_of(cells: list[Cell]) -> list[Task]:
    """The tasks in the order of the script."""
    starts = [place for place, cell in enumerate(cells) if cell.task is not None]
    ends = [*starts[1:], len(cells)]
    return [Task(cells[a], tuple(cells[a + 1 : b])) for a, b in zip(starts, ends, strict=True)]


def _whole(course: Course, lesson: Lesson, cells: list[Cell], tasks: list[Task]) -> Iterator[Problem]:
    path, facts = lesson.exercise_source, lesson.exercise
    numbers = [task.number for task in tasks]
    if numbers != list(range(1, len(tasks) + 1)) or len(tasks) not in TASKS:
        sentence = f"Its tasks have the numbers {numbers}; an exercise has 3 to 5 tasks, numbered from 1."
        yield Problem(path, sentence, "number its tasks, or change how many there are")
    if facts is None:
        yield Problem(FACTS, f"The lesson {lesson.slug} has no `exercise`.", "add its minutes, difficulty and points")
        return
    points = sum(cell.points or 0 for cell in cells)
    minutes = sum(task.opening.minutes or 0 for task in tasks)
    for what, there, wanted in (("points", points, facts.points), ("minutes", minutes, facts.minutes)):
        if there != wanted:
            sentence = f"Its {what} add up to {there}, but {FACTS} says {wanted}."
            yield Problem(path, sentence, f"change the tasks, or {FACTS}")
    if tasks and (tasks[0].opening.difficulty != "easy" or (tasks[0].opening.minutes or 0) > FIRST_TASK_MINUTES):
        sentence = f"The first task is not easy, or takes more than {FIRST_TASK_MINUTES} minutes."
        yield Problem(path, sentence, "begin with one that goes green at once", tasks[0].opening.line)
    if not course.exists(f"solutions/{lesson.slug}.md"):
        sentence = f"Nobody discusses the solution of {path}."
        yield Problem(f"solutions/{lesson.slug}.md", sentence, "write it: the solution, another way, the mistakes")
    tested = {cell.id for task in tasks for cell in task.checks}
    for cell in cells:
        if cell.points is not None and cell.id not in tested:
            sentence = f"The cell {cell.id!r} gives points to no task."
            yield Problem(path, sentence, "give it the id `taskN_check` below its task", cell.line)


def _opening(path: str, task: Task) -> Iterator[Problem]:
    first = task.opening.source.split("\n", 1)[0]
    if not re.fullmatch(rf"## Task {task.number}: \S.*", first):
        sentence = f"Task {task.number} begins with {first!r}."
        yield Problem(path, sentence, f"write `## Task {task.number}: its title`", task.opening.line)


def _hints(path: str, task: Task) -> Iterator[Problem]:
    """Three hints unfold one after another, between the prompt and the answer."""
    before = []
    for cell in task.cells:
        if cell.kind == "code":
            break
        before.append(cell.source)
    text = "\n".join([task.opening.source, *before])
    found = re.findall(r"<summary>\s*(Hint \d)\b", text)
    if found != HINTS or text.count("<details>") != text.count("</details>"):
        sentence = f"Task {task.number} has the hints {found or 'none'} above its answer, not {', '.join(HINTS)}."
        mend = "write three `<details><summary>Hint 1: …</summary> … </details>` in order"
        yield Problem(path, sentence, mend, task.opening.line)


def _answer(path: str, task: Task) -> Iterator[Problem]:
    name = f"task{task.number}"
    if not any(cell.id == name for cell in task.answers):
        mend = f'mark it `# %% id="{name}" answer=true`'
        yield Problem(path, f"Task {task.number} has no answer cell {name!r}.", mend, task.opening.line)
    for cell in task.answers:
        if SOLUTION_BEGIN not in cell.source or SOLUTION_END not in cell.source:
            sentence = f"The answer cell {cell.id!r} has no solution in it, so its release has no {TODO}."
            yield Problem(path, sentence, f"put it between {SOLUTION_BEGIN} and {SOLUTION_END}", cell.line)


def _checks(path: str, task: Task) -> Iterator[Problem]:
    name = f"task{task.number}_check"
    if not any(cell.id == name for cell in task.checks):
        mend = f'mark it `# %% id="{name}" points=2`'
        yield Problem(path, f"Task {task.number} has no check cell {name!r}.", mend, task.opening.line)
    for cell in task.checks:
        if not cell.hidden and HIDDEN_BEGIN not in cell.source:
            sentence = f"The check {cell.id!r} has no hidden part, so a hard-coded answer passes."
            yield Problem(path, sentence, f"add one between {HIDDEN_BEGIN} and {HIDDEN_END}", cell.line)
        said = re.search(r"checks\.task\(\s*(\d+)\s*,.*?\bpoints\s*=\s*(\d+)", cell.source, re.DOTALL)
        if said and (int(said[1]), int(said[2])) != (task.number, cell.points):
            sentence = f"The check {cell.id!r} is worth {cell.points} points, but its checks.task(…) says otherwise."
            yield Problem(path, sentence, "write the same task number and points in both", cell.line)


def _release(lesson: Lesson, cells: list[Cell], release: bytes) -> Iterator[Problem]:
    """A student's notebook has a TODO for each answer, and neither solutions nor hidden checks."""
    shown = {cell.id: cell.source for cell in nbformat.reads(release.decode(), as_version=4).cells}
    everything = _flat("\n".join(shown.values()))
    for cell in cells:
        if cell.answer and TODO not in shown.get(cell.id, ""):
            sentence = f"The release of the answer cell {cell.id!r} has no {TODO}."
            yield Problem(lesson.exercise_source, sentence, "see code_stub in nbgrader_config.py", cell.line)
        for what, text in secrets(cell):
            if len(text) > TELLING and text in everything:
                sentence = f"The release shows {what} of the cell {cell.id!r}."
                mend = "take the same text out of the other cell"
                yield Problem(lesson.exercise_source, sentence, mend, cell.line)
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN", "END HIDDEN"):
        if mark in everything:
            yield Problem(lesson.exercise_source, f"The release still says {mark!r}.", "write each marker alone")


def secrets(cell: Cell) -> Iterator[tuple[str, str]]:
    """What a student must not see of a cell: (what it is, its text)."""
    for begin, end, what in (
        (SOLUTION_BEGIN, SOLUTION_END, "the solution"),
        (HIDDEN_BEGIN, HIDDEN_END, "the hidden checks"),
    ):
        for piece in re.findall(rf"{begin}\n(.*?)^\s*{end}", cell.source, re.DOTALL | re.MULTILINE):
            yield what, _flat(piece)
    if cell.hidden:
        yield "the hidden checks", _flat(cell.source)


def _flat(text: str) -> str:
    """The text without indentation and blank lines, so that moved code is found."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
