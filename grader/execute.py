"""Run a lesson's notebook and keep what it shows in a form that is the same on every machine."""

import copy
import itertools
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.lessons import Draft, code_hash
from grader.notebook import OURS
from grader.problem import BuildError
from grader.run import run_notebook

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
# Nothing may help a notebook here that is not there elsewhere: the setup cell finds the code.
ENVIRONMENT = {"PYTHONPATH": "", "PYTHONHASHSEED": "0"}


def execute(made: Draft, path: str, folder: Path) -> NotebookNode:
    """Run all cells in `folder`. An unexpected exception, or an expected one that stays out, is a BuildError."""
    folder.mkdir(parents=True, exist_ok=True)
    run = run_notebook(made.notebook, folder=folder, env=ENVIRONMENT)
    if run.reason:
        raise BuildError(path, f"Running it failed: {run.reason}.", "look at what that cell does")
    for cell in run.notebook.cells:
        if cell.cell_type == "code":
            _check_exception(cell, made.raises.get(cell.id), path)
            cell.outputs = _normal(cell.outputs)
            _check_portable(cell, path, folder)
    run.notebook.metadata = copy.deepcopy(made.notebook.metadata)
    run.notebook.metadata[OURS] = {"executed": code_hash(made)}
    return run.notebook


def _check_exception(cell: NotebookNode, expected: str | None, path: str) -> None:
    """A cell raises what its fence says, and nothing else."""
    errors = [output for output in cell.outputs if output.output_type == "error"]
    raised = errors[0].ename if errors else None
    if raised == expected:
        return
    if expected is None:
        sentence = f"The cell {cell.id!r} raised {raised}: {errors[0].evalue}."
        raise BuildError(path, sentence, f'mend the cell, or mark its fence raises="{raised}"')
    sentence = f"The cell {cell.id!r} is marked raises={expected!r} but raised {raised or 'nothing'}."
    raise BuildError(path, sentence, "mend the cell or its mark")


def _normal(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The same outputs for the same run, however the kernel happened to cut and order its messages."""
    kept: list[NotebookNode] = []
    for is_stream, group in itertools.groupby(outputs, lambda output: output.output_type == "stream"):
        if is_stream:
            pieces = list(group)
            for name in ("stdout", "stderr"):
                text = "".join(piece.text for piece in pieces if piece.name == name)
                kept += [nbformat.v4.new_output("stream", name=name, text=text)] if text else []
        else:
            kept += [_last_line(output) if output.output_type == "error" else output for output in group]
    return kept


def _last_line(error: NotebookNode) -> NotebookNode:
    """A traceback shows files and line numbers of this machine; its last line says what happened."""
    error.traceback = [f"{error.ename}: {error.evalue}"]
    return error


def _check_portable(cell: NotebookNode, path: str, folder: Path) -> None:
    """What a cell shows is the same on every machine."""
    for output in cell.outputs:
        shown = output.get("text") or "\n".join(output.get("traceback", []))
        shown += "\n".join(str(value) for kind, value in output.get("data", {}).items() if kind.startswith("text/"))
        found = ADDRESS.search(shown)
        if found:
            sentence = f"The cell {cell.id!r} shows a memory address ({found[0]}), another one in each run."
            raise BuildError(path, sentence, "print something that stays the same")
        for place in {str(folder.parent), str(Path.home()), "/tmp/"}:
            if len(place) > 3 and place in shown:
                sentence = f"The cell {cell.id!r} shows a path of this machine ({place})."
                raise BuildError(path, sentence, "print a relative path or only its name")


def with_stored_outputs(made: Draft, stored: NotebookNode | None) -> NotebookNode:
    """The notebook as it is now, with the outputs it had, matched by cell id."""
    result = copy.deepcopy(made.notebook)
    if stored is None:
        return result
    before = {cell.get("id"): cell for cell in stored.cells if cell.cell_type == "code"}
    for cell in result.cells:
        old = before.get(cell.id)
        if cell.cell_type == "code" and old is not None:
            cell.outputs, cell.execution_count = old.outputs, old.execution_count
    if OURS in stored.metadata:
        result.metadata[OURS] = stored.metadata[OURS]
    return result


def is_stale(made: Draft, stored: NotebookNode | None) -> bool:
    """Whether the stored outputs belong to other code than the lesson's."""
    return stored is None or stored.metadata.get(OURS, {}).get("executed") != code_hash(made)
