"""From an executed notebook to verdicts, and to a notebook of which nbgrader makes the same points.

Silence is no pass: a check earns points only with its own record, and only if the guards around
it found the checks as the course made them. What else a check cell printed is dropped, because
nbgrader would read a number there as points, and because answers can print hidden data.
"""

import ast
import copy
import math
import re
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader import checks
from grader.assignment import Assignment, is_check, is_locked, label
from grader.attempt import Outcome
from grader.run import NOT_RUN, TIMEOUT

TASK = re.compile(r"checks\.task\(\s*(\d+)\s*,\s*(['\"])(.*?)\2")
LINE = 2000  # characters of a message that are kept


@dataclass(frozen=True)
class Verdict:
    """What became of one check cell. `line` is the sentence that everybody sees."""

    cell: str
    task: int
    title: str
    points: float
    earned: float
    line: str


@dataclass(frozen=True)
class Score:
    """The verdicts on one notebook. `reason` says what was cut short; `flags` ask the instructor to look."""

    notebook: NotebookNode
    verdicts: tuple[Verdict, ...]
    reason: str
    flags: tuple[str, ...]


def score(outcome: Outcome, assignment: Assignment) -> Score:
    """Judge each check cell of an executed notebook."""
    notebook = copy.deepcopy(outcome.notebook)
    source = {cell.id: cell for cell in assignment.source.cells}
    flags = [f"No points: {problem}" for problem in outcome.problems]
    flags += [
        f"An answer replaced the course's own {name!r}; the checks used the course's." for name in outcome.restored
    ]
    flags += _claims(notebook)
    verdicts, reasons = [], [_sentence(outcome.reason)] * bool(outcome.reason)
    for number, cell in enumerate([cell for cell in notebook.cells if is_check(cell)], 1):
        verdict, flag = _judge(cell, number, source[cell.id], outcome)
        verdicts.append(verdict)
        flags += flag
        _leave_the_verdict(cell, verdict)
    timeouts = [cell for cell in outcome.notebook.cells if _error(cell, TIMEOUT) is not None]
    reasons += [f"{_sentence(label(cell.id))[:-1]} was stopped: it did not end in time." for cell in timeouts]
    return Score(notebook, tuple(verdicts), " ".join(reasons), tuple(dict.fromkeys(flags)))


def _judge(cell: NotebookNode, number: int, source: NotebookNode, outcome: Outcome) -> tuple[Verdict, list[str]]:
    """The verdict on one check cell, and what is strange about it."""
    points = float(cell.metadata["nbgrader"]["points"])
    declared = TASK.search(source.source)
    task, title = (int(declared[1]), declared[3]) if declared else (number, cell.id)
    error = next((output for output in cell.outputs if output.output_type == "error"), None)
    records = [output.data[checks.MIME] for output in cell.outputs if checks.MIME in output.get("data", {})]
    record = records[-1] if records and _is_record(records[-1], task) else None

    def lost(message: str, *flags: str) -> tuple[Verdict, list[str]]:
        line = checks.Result(task, title, points, False, message).line()
        return Verdict(cell.id, task, title, points, 0.0, line[:LINE]), list(flags)

    if outcome.problems:
        return lost("No points: the checks in this notebook were changed from inside.")
    if error is not None and error.ename == NOT_RUN:
        return lost(error.evalue)
    if declared is None:
        return _plain_check(cell, number, points, error), []
    if error is None and record is None:
        return lost("The check ended without a verdict.", f"{_sentence(label(cell.id))[:-1]} ended without a verdict.")
    if error is None and len(records) > 1:
        return lost("The check showed two verdicts.", f"{_sentence(label(cell.id))[:-1]} showed a forged verdict.")
    if error is not None and (record is None or record["passed"]):
        return lost(_stopped(error))
    if record["passed"] and cell.id not in outcome.clean:
        return lost("The kernel ended before this verdict could be confirmed.")
    flags = [f"In {label(cell.id)}, a result was forged; it was left out."] * _forged(cell, records)
    earned = points if record["passed"] else 0.0
    return Verdict(cell.id, task, title, points, earned, record["line"][:LINE]), flags


def _is_record(record: Any, task: int) -> bool:
    """Whether this is a record of the checks for this task."""
    fields = isinstance(record, dict) and isinstance(record.get("line"), str) and isinstance(record.get("passed"), bool)
    return fields and record.get("task") == task


def _stopped(error: NotebookNode) -> str:
    """Why a check ended with something else than its verdict. Shows no value: it could be a hidden one."""
    if error.ename in (TIMEOUT, "KeyboardInterrupt"):
        return "The check was stopped: it did not end in time."
    name = error.ename if re.fullmatch(r"[A-Za-z]\w{0,40}", str(error.ename)) else "an error"
    return f"The check ended with {name}."


def _forged(cell: NotebookNode, records: list[Any]) -> bool:
    """Whether a check cell shows a result that no check makes: a number, or a second record."""
    return len(records) > 1 or any(output.output_type == "execute_result" for output in cell.outputs)


def _plain_check(cell: NotebookNode, number: int, points: float, error: NotebookNode | None) -> Verdict:
    """A check that uses plain asserts: an error is no points, a number at its end is partial credit, clamped."""
    earned = 0.0 if error is not None else points
    results = [output.data.get("text/plain", "") for output in cell.outputs if output.output_type == "execute_result"]
    if results and error is None:
        try:
            value = float(results[-1])
        except (TypeError, ValueError):
            value = points
        earned = min(max(value, 0.0), points) if math.isfinite(value) else 0.0
    mark = "✓" if earned == points else "✗"
    line = f"{mark} Task {number} ({cell.id}): {earned:g} of {points:g} points."
    return Verdict(
        cell.id, number, cell.id, points, earned, line + (f" {_stopped(error)}" if error is not None else "")
    )


def _leave_the_verdict(cell: NotebookNode, verdict: Verdict) -> None:
    """Put only the verdict into the outputs, in the form from which nbgrader makes these points."""
    lines = {"text/plain": verdict.line, "text/html": f"<div>{checks.html.escape(verdict.line)}</div>"}
    cell.outputs = [nbformat.v4.new_output("display_data", data=lines)]
    if 0 < verdict.earned < verdict.points:
        cell.outputs.append(nbformat.v4.new_output("execute_result", data={"text/plain": repr(verdict.earned)}))
    elif not verdict.earned:
        error = {"ename": "NoPoints", "evalue": verdict.line, "traceback": [verdict.line]}
        cell.outputs.append(nbformat.v4.new_output("error", **error))


def _claims(notebook: NotebookNode) -> list[str]:
    """Classes that say they are equal to everything. They deceive no check; the instructor may want to know."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or is_locked(cell):
            continue
        try:
            tree = ast.parse(cell.source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(_always_true(item) for item in node.body):
                found.append(f"The class {node.name!r} claims to be equal to everything; that deceives no check.")
    return found


def _always_true(node: ast.stmt) -> bool:
    """Whether this is an `__eq__` that only returns True."""
    if not isinstance(node, ast.FunctionDef) or node.name != "__eq__":
        return False
    last = node.body[-1]
    return isinstance(last, ast.Return) and isinstance(last.value, ast.Constant) and last.value.value is True


def _error(cell: NotebookNode, name: str) -> NotebookNode | None:
    """The error output of this name."""
    outputs = cell.get("outputs", [])
    return next((output for output in outputs if output.output_type == "error" and output.ename == name), None)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
