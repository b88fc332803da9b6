"""A feedback page for each student and exercise: own code, a sentence for each task, points, repairs.

One HTML file, readable on a phone, without a network and without scripts. It shows what the
student wrote and the verdicts; no text of hidden checks, and nothing that a cell printed, because
an answer can print what a hidden check gave it.
"""

import ast
import builtins
import html
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.assignment import Assignment, is_answer, is_check, is_graded
from grader.report import Row
from grader.run import NOT_RUN, TIMEOUT
from grader.work import Work

SHOWN = 20_000  # characters of one cell's code
STATUS = {
    "graded": "Your notebook was read and run.",
    "repaired": "Your notebook was run after something in it was mended; see below.",
    "partial": "Your notebook ran only in part; what ran has its points.",
    "unreadable": "Your file could not be read, so nothing was graded.",
}
STYLE = """
:root{color-scheme:light dark;--line:#8884;--good:#0072b2;--bad:#b34700;--soft:#8881}
@media(prefers-color-scheme:dark){:root{--good:#6cb6ea;--bad:#f0975a}}
body{font:1rem/1.5 system-ui,sans-serif;max-width:50rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}
h1{font-size:1.4rem;line-height:1.25;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.35rem .5rem .35rem 0;vertical-align:top}
tr+tr td,tr+tr th{border-top:1px solid var(--line)}td:last-child{text-align:right;white-space:nowrap}
th{font-weight:400}.sum th,.sum td{font-weight:700}
.verdict{border-left:.4rem solid var(--bad);background:var(--soft);padding:.5rem .8rem;margin:.5rem 0}
.good{border-color:var(--good)}.note{font-size:.92rem}
pre{background:var(--soft);padding:.6rem .8rem;margin:.5rem 0;font:.85rem/1.4 ui-monospace,monospace;
overflow-x:auto;tab-size:4}
@media(max-width:30rem){pre{font-size:.75rem}}
"""


def write_feedback(rows: list[Row], work: Work, assignments: list[Assignment]) -> list[Path]:
    """Write the page of each row that has something to say; pages of former runs go."""
    folder = work.folder / "report" / "feedback"
    known = {assignment.slug: assignment for assignment in assignments}
    written = []
    for row in rows:
        if row.record.status != "missing":
            path = folder / row.record.student / f"{row.record.assignment}.html"
            work.write(path, page(row, work, known.get(row.record.assignment)))
            written.append(path)
    for path in sorted(folder.glob("*/*.html")):
        if path not in written:
            path.unlink()
    return written


def page(row: Row, work: Work, assignment: Assignment | None) -> str:
    """The whole page of one student for one exercise."""
    record = row.record
    title = assignment.lesson.title if assignment else "a file"
    exercise = f"Exercise {assignment.lesson.number}: {title}" if assignment else "What you handed in"
    name = " ".join(part for part in (row.first_name, row.last_name) if part)
    parts = [f"<h1>{_e(exercise)}</h1>", f"<p>{_e(name or record.student)}</p>", _facts(row), _points(row)]
    if record.repairs:
        parts.append(
            "<h2>What was mended</h2><ul>" + "".join(f"<li>{_e(text)}</li>" for text in record.repairs) + "</ul>"
        )
    if record.status != "unreadable" and assignment is not None:
        parts.append(_work_of(row, work))
    head = "<meta charset='utf-8'><meta name='viewport' content='width=device-width,initial-scale=1'>"
    head += "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none';style-src 'unsafe-inline'\">"
    head += f"<title>{_e(exercise)}</title><style>{STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>{''.join(parts)}</body></html>\n"


def _facts(row: Row) -> str:
    """The status in a sentence, with its reason, and what being late cost."""
    record, lines = row.record, [STATUS[row.record.status]]
    if record.reason:
        lines.append(record.reason)
    if record.status == "unreadable":
        lines.append("Download your notebook again, open it once to see that it is whole, and hand it in again.")
    if row.marks and row.marks.late_seconds:
        lost = f" {row.marks.penalty:g} points were taken off." if row.marks.penalty else ""
        lines.append(f"It was handed in {_duration(row.marks.late_seconds)} late.{lost}")
    return "".join(f"<p>{_e(line)}</p>" for line in lines)


def _points(row: Row) -> str:
    """A table of the tasks with their points."""
    if row.marks is None:
        return ""
    lines = []
    for verdict in row.record.verdicts:
        earned = row.marks.cells.get(verdict.cell)
        shown = "to be graded" if earned is None else f"{earned:g} of {verdict.points:g}"
        lines.append(f"<tr><th>Task {verdict.task}: {_e(verdict.title)}</th><td>{shown}</td></tr>")
    total = "to be graded" if row.marks.score is None else f"{row.marks.score:g} of {row.marks.max_score:g}"
    return f"<table>{''.join(lines)}<tr class='sum'><th>Points</th><td>{total}</td></tr></table>"


def _work_of(row: Row, work: Work) -> str:
    """The student's own cells in their order, each check with its verdict in its place."""
    student, slug = row.record.student, row.record.assignment
    try:
        mine = nbformat.read(work.notebook_path("submitted", student, slug), as_version=4)
        run = nbformat.read(work.notebook_path("autograded", student, slug), as_version=4)
    except OSError:
        return ""
    executed = {cell.id: cell for cell in run.cells}
    verdicts = {verdict.cell: verdict for verdict in row.record.verdicts}
    parts = ["<h2>Your answers</h2>"]
    for cell in mine.cells:
        if is_check(cell) and cell.id in verdicts:
            verdict = verdicts[cell.id]
            given = row.marks.cells.get(cell.id) if row.marks else None
            changed = "" if given in (None, verdict.earned) else f" Your instructor gave {given:g} points."
            good = " good" if verdict.earned == verdict.points else ""
            parts.append(f"<div class='verdict{good}'>{_e(verdict.line + changed)}</div>")
        elif cell.cell_type == "code" and (is_answer(cell) or not is_graded(cell)) and cell.source.strip():
            parts.append(_code(cell, executed.get(cell.id)))
            comment = row.marks.comments.get(cell.id) if row.marks else None
            if comment:
                parts.append(f"<p class='note'>From your instructor: {_e(comment)}</p>")
    return "".join(parts)


def _code(cell: NotebookNode, executed: NotebookNode | None) -> str:
    """One cell of the student's, and where it stopped if it did."""
    source = cell.source if len(cell.source) <= SHOWN else cell.source[:SHOWN] + "\n[the rest is left out]"
    stopped = where_it_stopped(cell.source, executed)
    note = f"<p class='note'>{_e(stopped)}</p>" if stopped else ""
    return f"<pre>{_e(source)}</pre>{note}"


def where_it_stopped(source: str, executed: NotebookNode | None) -> str:
    """A sentence about the error of a student's cell: kind and line, never its text, which can carry hidden data."""
    error = next((out for out in (executed or {}).get("outputs", []) if out.output_type == "error"), None)
    if error is None or error.ename == NOT_RUN:
        return ""
    if error.ename in (TIMEOUT, "KeyboardInterrupt"):
        return "This cell was stopped: it did not end in time."
    try:
        compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as problem:
        if not re.search(r"^\s*[%!]", source, re.MULTILINE):
            return f"Python could not read this cell: {problem.msg} (line {problem.lineno})."
    except ValueError:
        return "Python could not read this cell."
    known = isinstance(getattr(builtins, error.ename, None), type)
    arrow = re.search(r"-+> (\d+)", re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback)))
    lines = source.splitlines()
    number = int(arrow[1]) if arrow and len(arrow[1]) < 7 else 0
    at = f" at line {number}: {lines[number - 1].strip()[:120]}" if 0 < number <= len(lines) else "."
    return f"This cell stopped with {error.ename if known else 'an error of its own'}{at}"


def _duration(seconds: float) -> str:
    """A time in the units in which people speak of it."""
    minutes = int(seconds // 60)
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [(days, "day"), (hours, "hour"), (rest, "minute")]
    said = [f"{count} {unit}{'s' * (count != 1)}" for count, unit in parts if count]
    return " ".join(said[:2]) or "less than a minute"


def _e(text: str) -> str:
    return html.escape(text)
