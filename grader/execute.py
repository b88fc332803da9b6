"""Run a lesson's notebook and keep what it shows in a form that is the same on every machine."""

import copy
import os
import re
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from grader.lessons import Draft, code_hash
from grader.notebook import OURS
from grader.problem import BuildError

CELL_SECONDS = 60  # a lesson's cell shows something small
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


def execute(made: Draft, path: str, folder: Path) -> NotebookNode:
    """Run all cells in `folder`. An unexpected exception, or an expected one that stays out, is a BuildError."""
    folder.mkdir(parents=True, exist_ok=True)
    raised: dict[str, str] = {}

    def note(cell: NotebookNode, cell_index: int, execute_reply: dict[str, Any]) -> None:
        # the reply knows of every exception; the outputs do not (an ExceptionGroup leaves none)
        if execute_reply["content"]["status"] == "error":
            raised[cell.id] = execute_reply["content"]["ename"]

    result = copy.deepcopy(made.notebook)
    client = NotebookClient(
        result,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
        on_cell_executed=note,
    )
    try:
        client.execute(env=kernel_environment())
    except CellExecutionError as error:
        cell_id = next(reversed(raised), "?")
        sentence = f"The cell {cell_id!r} raised {error.ename}: {error.evalue}."
        raise BuildError(path, sentence, f'mend the cell, or mark its fence raises="{error.ename}"') from None
    except CellTimeoutError:
        raise BuildError(path, f"A cell ran for more than {CELL_SECONDS} seconds.", "make it shorter") from None
    except DeadKernelError:
        raise BuildError(path, "The kernel died while the notebook ran.", "look at what the last cell does") from None
    for cell_id, expected in made.raises.items():
        if raised.get(cell_id) != expected:
            happened = f"raised {raised[cell_id]}" if cell_id in raised else "raised nothing"
            sentence = f"The cell {cell_id!r} is marked raises={expected!r} but {happened}."
            raise BuildError(path, sentence, "mend the cell or its mark")
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            cell.outputs = [_normal(output) for output in cell.outputs]
            _complain_about(cell, path, folder)
    result.metadata = copy.deepcopy(made.notebook.metadata)
    result.metadata[OURS] = {"executed": code_hash(made)}
    return result


def kernel_environment() -> dict[str, str]:
    """Our environment, without what would help a notebook here and not elsewhere."""
    # ipykernel behaves differently when it believes that pytest runs it
    dropped = ("PYTHONPATH", "PYTEST_CURRENT_TEST", "MPLBACKEND", "COURSE_SEED")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "PYTHONHASHSEED": "0", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


def _normal(output: NotebookNode) -> NotebookNode:
    """A traceback shows files and line numbers of this machine; its last line says what happened."""
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]
    return output


def _complain_about(cell: NotebookNode, path: str, folder: Path) -> None:
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
