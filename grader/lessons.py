"""From a lesson's Markdown to its notebook and its step of the small client.

    lessons/NN_slug.md → notebooks/NN_slug.ipynb, code/steps/stepNN_slug.py

The notebook holds the same text. A `python` fence becomes a cell; the others stay text.
"""

import hashlib
import html
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import jupytext
from nbformat import NotebookNode

from grader import notebook, regions
from grader.course import Course, Lesson
from grader.fences import RUN, Fence, anchor, fences, parse, plain
from grader.problem import BuildError
from grader.setup_cell import SETUP_ID, setup_cell
from grader.travel import outside_fences, require_travelling_links, travelling

MINUTES = re.compile(r"\s*<!-- minutes: (\d+) -->")

Image = Callable[[str], tuple[str, int]]  # path of a figure → data URI and width in pixels


@dataclass(frozen=True)
class Draft:
    """A lesson's notebook before its cells ran."""

    notebook: NotebookNode
    raises: dict[str, str]  # cell id → the one exception that this cell must raise


def with_header(course: Course, lesson: Lesson) -> str:
    """The lesson's page with its header region written; a page without one gets it below the title."""
    text = course.read(lesson.source)
    if regions.opening("header") not in text:
        title, _, rest = text.partition("\n")
        text = "\n".join([title, "", regions.opening("header"), regions.closing("header"), rest])
    return regions.fill(lesson.source, text, {"header": lambda: regions.lesson_header(course, lesson)})


def draft(course: Course, lesson: Lesson, text: str, image: Image) -> Draft:
    """The lesson as a notebook, not run yet."""
    fences_left = list(runnable(lesson, text).items())
    page = jupytext.reads(_for_notebook(course, lesson, text, image), fmt="md")
    cells: list[NotebookNode] = []
    counts: Counter[str] = Counter()
    heading, raises = "", {}
    for cell in page.cells:
        if cell.cell_type == "markdown":
            for part in split_at_headings(cell.source):
                heading = _first_heading(part) or heading
                counts[heading] += 1
                cells.append(notebook.markdown_cell(_cell_id(lesson, heading, f"text{counts[heading]}"), part))
        else:
            cell_id, fence = _fence_of(lesson, cell, fences_left)
            expected = fence.options.get("raises")
            tags = {"tags": ["raises-exception"]} if expected else {}
            raises |= {cell_id: expected} if expected else {}
            cells.append(notebook.code_cell(cell_id, cell.source, **tags))
    if fences_left:
        sentence = "jupytext does not see this fence as a code cell."
        raise BuildError(lesson.source, sentence, "put it at the left margin, outside lists", fences_left[0][1].line)
    cells.insert(1, setup_cell(course))
    require_travelling_links(lesson.source, cells)
    return Draft(notebook.new_notebook(cells, f"{lesson.slug}.ipynb"), raises)


def _fence_of(lesson: Lesson, cell: NotebookNode, left: list[tuple[str, Fence]]) -> tuple[str, Fence]:
    """The next fence, which must be what jupytext made this code cell of."""
    cell_id, fence = left.pop(0) if left else ("", None)
    if fence is None or fence.content.strip("\n") != cell.source.strip("\n"):
        sentence = f"jupytext sees a code cell that is no fence at the left margin: {cell.source[:50]!r}."
        raise BuildError(lesson.source, sentence, "write it as a ```python fence of its own")
    return cell_id, fence


def runnable(lesson: Lesson, text: str) -> dict[str, Fence]:
    """The `python` fences by cell id: the one given, else number, heading and a count."""
    found: dict[str, Fence] = {}
    counts: Counter[str] = Counter()
    for fence in fences(text):
        if fence.language != RUN or fence.in_details or fence.nested:
            continue
        counts[fence.heading] += 1
        cell_id = fence.options.get("id") or _cell_id(lesson, fence.heading, str(counts[fence.heading]))
        if cell_id in found or cell_id == SETUP_ID:
            taken = f"line {found[cell_id].line}" if cell_id in found else "the setup cell"
            raise BuildError(lesson.source, f"The id {cell_id!r} is taken by {taken}.", "choose another", fence.line)
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell_id):
            mend = "use 1 to 64 letters, digits, '-' or '_'"
            raise BuildError(lesson.source, f"The id {cell_id!r} is none for a cell.", mend, fence.line)
        found[cell_id] = fence
    return found


def _cell_id(lesson: Lesson, heading: str, suffix: str) -> str:
    number = f"{lesson.number:02}"
    short = re.sub(r"[^a-z0-9-]", "", heading)[:40].strip("-") or "top"
    return f"{number}-{short}-{suffix}"


def _first_heading(part: str) -> str | None:
    tokens = parse(part)
    return anchor(plain(tokens[1])) if tokens and tokens[0].type == "heading_open" else None


def split_at_headings(source: str) -> list[str]:
    """A Markdown cell in pieces, one for each section."""
    lines = source.split("\n")
    starts = [t.map[0] for t in parse(source) if t.type == "heading_open" and t.tag == "h2" and t.level == 0]
    cuts = [0, *[start for start in starts if start > 0], len(lines)]
    pieces = ["\n".join(lines[a:b]).strip("\n") for a, b in itertools.pairwise(cuts)]
    return [piece for piece in pieces if piece]


def _for_notebook(course: Course, lesson: Lesson, text: str, image: Image) -> str:
    """The page as the notebook shows it: its own header, images inside, links that lead somewhere."""
    text = regions.fill(lesson.source, text, {"header": lambda: regions.notebook_header(course, lesson)})
    lines = text.split("\n")
    for fence in reversed([fence for fence in fences(text) if fence.is_output]):
        del lines[fence.line - 1 : fence.end]
    marks = (regions.opening("header"), regions.closing("header"))
    text = "\n".join(line for line in lines if line.strip() not in marks)
    text = outside_fences(_single_blank_lines(text), lambda part: MINUTES.sub("", part))

    def picture(alt: str, path: str) -> str:
        data, width = image(path)
        return f'<img alt="{html.escape(alt)}" width="{width}" src="{data}">'

    return travelling(course, "lessons", text, picture)


def _single_blank_lines(text: str) -> str:
    """At most one blank line in a row, outside fences: jupytext splits a text cell at two."""
    inside = {number for fence in fences(text) for number in range(fence.line, fence.end + 1)}
    kept: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if number in inside or line.strip() or (kept and kept[-1].strip()):
            kept.append(line)
    return "\n".join(kept)


def code_hash(made: Draft) -> str:
    """Changes when, and only when, what the notebook runs changes."""
    cells = [(c.id, c.source, made.raises.get(c.id)) for c in made.notebook.cells if c.cell_type == "code"]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def step_module(lesson: Lesson, text: str) -> str | None:
    """The small client's new code in this lesson: its fences marked `save`, one below the other."""
    saved = [fence.content.strip("\n") for fence in runnable(lesson, text).values() if "save" in fence.options]
    if not saved:
        return None
    head = (
        f'"""Step {lesson.number} of the small client: {lesson.builds}.\n\nMade by `grader build` from {lesson.source}.'
    )
    return f'{head}\n"""\n\n' + "\n\n\n".join(saved) + "\n"


def with_outputs(lesson: Lesson, text: str, executed: NotebookNode) -> str:
    """The page with each `text output` fence holding what the cell above it printed."""
    outputs = {cell.id: text_output(cell) for cell in executed.cells if cell.cell_type == "code"}
    run = {fence.end: cell_id for cell_id, fence in runnable(lesson, text).items()}
    lines = text.split("\n")
    for fence in reversed([fence for fence in fences(text) if fence.is_output]):
        above = fence.line - 1
        while above > 0 and not lines[above - 1].strip():
            above -= 1
        if above not in run:
            sentence = "This `text output` fence does not directly follow a `python` fence."
            raise BuildError(lesson.source, sentence, "move it below the fence whose output it shows", fence.line)
        shown = outputs.get(run[above], "").rstrip("\n")
        if "```" in shown:
            sentence = f"The output of the cell {run[above]!r} holds three backticks, which would end its fence."
            raise BuildError(lesson.source, sentence, "print something else, or leave this fence out", fence.line)
        lines[fence.line : fence.end - 1] = shown.split("\n") if shown else []
    return "\n".join(lines)


def text_output(cell: NotebookNode) -> str:
    """What a cell shows, as plain text."""
    shown = []
    for output in cell.outputs:
        if output.output_type == "stream":
            shown.append(output.text)
        elif output.output_type == "error":
            shown.append(f"{output.ename}: {output.evalue}\n" if output.evalue else f"{output.ename}\n")
        elif "text/plain" in output.data:
            shown.append(output.data["text/plain"].rstrip("\n") + "\n")
    return "".join(shown)
