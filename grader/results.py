"""Read the verdicts of the checks out of an executed notebook.

A check cell that ran leaves a record under the mime type `checks.MIME`. Silence is not a
pass: a check cell without a record has failed, and the reason says what happened.
"""

from dataclasses import dataclass

from nbformat import NotebookNode

from grader import checks
from grader.assignment import is_check


@dataclass(frozen=True)
class TaskResult:
    """The verdict on one check cell. `line` is what the student sees, in a notebook, a terminal and on a page."""

    cell: str  # id of the check cell
    task: int
    title: str
    points: float
    earned: float
    message: str
    line: str


def read_results(notebook: NotebookNode) -> list[TaskResult]:
    """One verdict for each check cell, in the order of the notebook."""
    cells = [cell for cell in notebook.cells if is_check(cell)]
    return [_read(cell, number) for number, cell in enumerate(cells, 1)]


def _read(cell: NotebookNode, number: int) -> TaskResult:
    """The record of a check cell, or a failure that says why there is none."""
    points = float(cell.metadata["nbgrader"]["points"])
    records = [output.data[checks.MIME] for output in cell.outputs if checks.MIME in output.get("data", {})]
    error = next((output for output in cell.outputs if output.output_type == "error"), None)
    if records and (error is None) == records[-1]["passed"]:
        record = records[-1]
        earned = points if record["passed"] else 0.0
        return TaskResult(cell.id, record["task"], record["title"], points, earned, record["message"], record["line"])
    reason = f"{error.ename}: {error.evalue}" if error is not None else "The check left no result."
    reason = error.evalue if error is not None and error.ename == "NotRun" else reason
    result = checks.Result(number, cell.id, points, False, reason)
    return TaskResult(cell.id, number, cell.id, points, 0.0, reason, result.line())
