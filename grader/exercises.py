"""From an exercise's percent script to the notebook with answers and the one without.

    solutions/NN_slug.py → solutions/NN_slug/NN_slug.ipynb → exercises/NN_slug/NN_slug.ipynb

The first step turns short cell options into nbgrader's metadata. The second is nbgrader's own:
the preprocessors of `nbgrader generate_assignment`, in its order, without its database.
"""

import copy
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import jupytext
from nbformat import NotebookNode

from grader import notebook, regions
from grader.checks import OURS
from grader.course import DIFFICULTIES, Course, Lesson
from grader.problem import BuildError
from grader.setup_cell import SETUP_ID, setup_cell
from grader.travel import require_travelling_links, travelling

HAND_IN_ID = "hand_in"
SCHEMA = 3  # of nbgrader's metadata
OPTIONS = ("id", "answer", "points", "task", "minutes", "difficulty", "locked", "hidden", "tags")
HIDDEN_BEGIN, HIDDEN_END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
SOLUTION_BEGIN, SOLUTION_END = "### BEGIN SOLUTION", "### END SOLUTION"


@dataclass(frozen=True)
class Cell:
    """One cell of the script, with its options read and checked."""

    kind: str  # "markdown" or "code"
    source: str
    line: int  # of its `# %%`
    id: str
    task: int | None = None  # the number, on the cell that opens a task
    minutes: int | None = None
    difficulty: str | None = None
    answer: bool = False
    points: int | None = None
    locked: bool = False
    hidden: bool = False
    tags: tuple[str, ...] = ()

    @property
    def checks_task(self) -> int | None:
        """The number of the task whose answer this cell checks."""
        found = re.match(r"task(\d+)_check", self.id)
        return int(found[1]) if found and self.points is not None else None


def read_cells(path: str, text: str) -> list[Cell]:
    """The cells of an exercise's script. A wrong or unknown option is a BuildError."""
    script = jupytext.reads(text, fmt="py:percent")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"# %%", line)]
    lines = [1] * (len(script.cells) - len(lines)) + lines
    cells: list[Cell] = []
    counts: Counter[str] = Counter()
    part = "intro"
    for raw, line in zip(script.cells, lines, strict=False):
        options = {key: value for key, value in raw.metadata.items() if key != "lines_to_next_cell"}
        for key in options:
            if key not in OPTIONS:
                place = f"cell {options.get('id', raw.source[:30])!r}"
                sentence = f"The {place} has the option {key!r}, which nobody knows."
                raise BuildError(path, sentence, f"use one of: {', '.join(OPTIONS)}", line)
        part = f"task{options['task']}" if "task" in options else part
        counts[part] += 1
        named = f"{part}_prompt" if "task" in options else f"{part}_{raw.cell_type}{counts[part]}"
        options["id"], options["tags"] = options.get("id", named), tuple(options.get("tags", ()))
        cell = Cell(kind=raw.cell_type, source=raw.source, line=line, **options)
        _check_options(path, cell, cells)
        cells.append(cell)
    return cells


def _check_options(path: str, cell: Cell, before: list[Cell]) -> None:
    """Raise for options that do not fit together."""
    code, opens = cell.kind == "code", cell.task is not None
    taken = {other.id for other in before} | {SETUP_ID, HAND_IN_ID, "header"}
    wrong = [
        (not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell.id), "its id is not 1 to 64 letters, digits, '-' or '_'"),
        (cell.id in taken, f"the id {cell.id!r} is taken"),
        (opens and code, "`task` belongs on the Markdown cell that opens the task"),
        (opens != (cell.minutes is not None), "`task` and `minutes` go together"),
        (opens != (cell.difficulty is not None), "`task` and `difficulty` go together"),
        (cell.difficulty not in (None, *DIFFICULTIES), f"`difficulty` is one of {', '.join(DIFFICULTIES)}"),
        (not _is_count(cell.task) or not _is_count(cell.minutes), "`task` and `minutes` are whole numbers from 1"),
        (not _is_count(cell.points), "`points` is a whole number from 1"),
        (cell.points is not None and not code, "`points` belongs on a code cell"),
        (cell.answer and cell.points is not None, "a cell is an answer or a check, not both"),
        (cell.hidden and cell.points is None, "`hidden` belongs on a cell with `points`"),
    ]
    for is_wrong, sentence in wrong:
        if is_wrong:
            raise BuildError(path, f"In the cell {cell.id!r}, {sentence}.", "change the options of the cell", cell.line)


def _is_count(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0)


def solution_notebook(course: Course, lesson: Lesson) -> NotebookNode:
    """nbgrader's source notebook: answers, checks and hidden checks, nothing run."""
    path = lesson.exercise_source
    cells = read_cells(path, course.read(path))
    if not cells or cells[0].kind != "markdown":
        sentence = "The first cell is not the exercise's title."
        raise BuildError(path, sentence, "begin with a Markdown cell `# Exercise …`", 1)
    points = Counter[int]()
    for cell in cells:
        if cell.checks_task is not None:
            points[cell.checks_task] += cell.points or 0
    made = [_notebook_cell(course, cell, points) for cell in cells]
    made[1:1] = [
        notebook.markdown_cell("header", regions.exercise_header(course, lesson)),
        _graded(setup_cell(course, checks=True), locked=True),
    ]
    hand_in = f'checks.hand_in("{lesson.slug}", points={sum(points.values())})'
    made.append(_graded(notebook.code_cell(HAND_IN_ID, hand_in), locked=True))
    require_travelling_links(path, made)
    return notebook.new_notebook(made, f"{lesson.slug}.ipynb")


def _notebook_cell(course: Course, cell: Cell, points: Counter[int]) -> NotebookNode:
    if cell.kind == "markdown":
        source = _with_facts(cell, points[cell.task]) if cell.task is not None else cell.source
        made = notebook.markdown_cell(cell.id, travelling(course, "solutions", source))
    else:
        source = f"{HIDDEN_BEGIN}\n{cell.source}\n{HIDDEN_END}" if cell.hidden else cell.source
        source = f"{OURS}\n{source}" if cell.locked else source
        made = notebook.code_cell(cell.id, source)
    if cell.tags:
        made.metadata["tags"] = list(cell.tags)
    if cell.answer or cell.points is not None or cell.locked:
        made = _graded(made, answer=cell.answer, points=cell.points, locked=cell.locked or cell.points is not None)
    return made


def _graded(
    cell: NotebookNode, *, answer: bool = False, points: int | None = None, locked: bool = False
) -> NotebookNode:
    """The cell with nbgrader's metadata."""
    mark: dict[str, Any] = {"grade": points is not None, "grade_id": cell.id, "locked": locked, "solution": answer}
    mark |= {"schema_version": SCHEMA, "task": False}
    if points is not None:
        mark["points"] = points
    cell.metadata["nbgrader"] = NotebookNode(mark)
    return cell


def _with_facts(cell: Cell, points: int) -> str:
    """The prompt of a task with a line of facts below its heading."""
    heading, _, prompt = cell.source.partition("\n")
    worth = "1 point" if points == 1 else f"{points} points"
    return f"{heading}\n\n*{regions.facts(regions.minutes(cell.minutes), cell.difficulty, worth)}*\n{prompt}"


def release_notebook(course: Course, lesson: Lesson, solution: NotebookNode) -> bytes:
    """What students get: the bytes that `nbgrader generate_assignment` makes of the same notebook."""
    from nbconvert.exporters import NotebookExporter
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import SaveCells
    from traitlets.config import Config, PyFileConfigLoader

    config = Config({"Exporter": {"default_preprocessors": []}})
    config.merge(PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config())
    exporter = NotebookExporter(config=config)
    for preprocessor in GenerateAssignment.preprocessors.default_args[0]:
        if preprocessor is not SaveCells:  # the only one that needs the database
            exporter.register_preprocessor(preprocessor, enabled=True)
    names = {"student": ".", "assignment": lesson.slug, "notebook": lesson.slug, "db_url": ""}
    resources = {"unique_key": lesson.slug, "output_files_dir": f"{lesson.slug}_files", "nbgrader": names}
    output, _ = exporter.from_notebook_node(copy.deepcopy(solution), resources=resources)
    return output.encode("utf-8")
