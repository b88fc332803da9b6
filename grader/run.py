"""Run a notebook: a notebook goes in, an executed notebook comes out. No database, no grading.

Guarantees: it ends within its limits, whatever the cells do. An error in a cell does not
stop the next one. A kernel that dies or hangs leaves the outputs it had, and each code
cell that did not run says so in an error output. No process outlives the run: the kernel
goes with its group, and so does everything that carries the run's mark in its environment.

Left out: protection of the machine. The cells run with the rights of the caller.
"""

import asyncio
import contextlib
import copy
import os
import secrets
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import psutil
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

MARK = "COURSE_RUN"  # environment variable that all processes of one run inherit
START_SECONDS = 60.0  # a kernel that needs longer to start will not come
GRACE_SECONDS = 5.0  # for a cell to end after it was interrupted
NOT_RUN = "NotRun"  # ename of the error output of a cell that did not run
TIMEOUT = "CellTimeout"  # ename of the error output of a cell that was stopped
HELPER = "course_helper"  # metadata key of a cell that the grader put in: it is not counted, nor in the history
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH")  # what a bare environment keeps of ours
RECORD_BYTES = 50_000  # of a record of the checks, which passes the cap on output


@dataclass(frozen=True)
class Limits:
    """Bounds of one run."""

    cell_seconds: float = 60.0
    notebook_seconds: float = 600.0
    cell_bytes: int = 200_000  # of output kept for one cell


@dataclass(frozen=True)
class Run:
    """An executed notebook, and what cut it short (empty if nothing did)."""

    notebook: NotebookNode
    reason: str
    seconds: float


class BoundedClient(NotebookClient):
    """nbclient, with a cap on the output of a cell and an error output for each failed cell."""

    def __init__(self, notebook: NotebookNode, manager: AsyncKernelManager, limits: Limits, folder: Path) -> None:
        resources = {"metadata": {"path": str(folder)}}
        super().__init__(
            notebook, km=manager, resources=resources, allow_errors=True, record_timing=False, timeout=None
        )
        self.limits, self.seen, self.failed = limits, 0, {}
        self.on_cell_execute = lambda cell, cell_index: setattr(self, "seen", 0)
        self.on_cell_executed = self._remember_failure

    def output(self, outs: list[NotebookNode], msg: dict[str, Any], display_id: str, cell_index: int) -> Any:
        """Keep an output while the cell is below its cap, then a note, then nothing."""
        size, before = _size(msg["content"]), self.seen
        self.seen += size
        record = size <= RECORD_BYTES and any("vnd.mcp-course" in kind for kind in msg["content"].get("data", {}))
        if self.seen <= self.limits.cell_bytes or record:
            return super().output(outs, msg, display_id, cell_index)
        if before <= self.limits.cell_bytes:
            text = f"\n[more than {self.limits.cell_bytes} bytes of output: the rest was dropped]\n"
            outs.append(nbformat.v4.new_output("stream", name="stdout", text=text))
        return None

    def _remember_failure(self, cell: NotebookNode, cell_index: int, execute_reply: dict[str, Any]) -> None:
        """An error without an error output (an ExceptionGroup, a silenced handler) gets one."""
        content = execute_reply["content"]
        if content["status"] != "ok" and not any(output.output_type == "error" for output in cell.outputs):
            cell.outputs.append(_error(content.get("ename", "Error"), content.get("evalue", "the cell failed")))


def run_notebook(
    notebook: NotebookNode,
    *,
    folder: Path | None = None,
    limits: Limits | None = None,
    env: Mapping[str, str] = {},
    bare: bool = False,
) -> Run:
    """Run all cells in order in a new kernel and a folder (by default an empty one); the input stays as it is.

    `env` is added to the environment of this process for the kernel. With `bare`, next to nothing of that
    environment is handed on (`KEPT`), and the home and temporary folders are empty ones that go with the run.
    """
    executed = copy.deepcopy(notebook)
    for cell in executed.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="course-") as runtime, tempfile.TemporaryDirectory() as empty:
        connection = Path(runtime) / "kernel.json"
        environment = {**(_bare(Path(runtime)) if bare else os.environ), **env}
        reason = asyncio.run(_run(executed, connection, folder or Path(empty), limits or Limits(), environment))
    return Run(executed, reason, time.monotonic() - started)


async def _run(notebook: NotebookNode, connection: Path, folder: Path, limits: Limits, env: dict[str, str]) -> str:
    """Run the cells; the reason why it stopped early, or an empty string."""
    mark = secrets.token_hex(16)
    manager = AsyncKernelManager(kernel_name="python3", transport="ipc", connection_file=str(connection))
    client = BoundedClient(notebook, manager, limits, folder)
    inherited = {key: value for key, value in env.items() if key != "PYTEST_CURRENT_TEST"}
    environment = {"PYDEVD_DISABLE_FILE_VALIDATION": "1", **inherited, MARK: mark}
    deadline, index, reason = time.monotonic() + limits.notebook_seconds, -1, ""
    try:
        await asyncio.wait_for(_start(client, environment, folder), START_SECONDS)
        for index, cell in enumerate(notebook.cells):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if cell.cell_type == "code" and cell.source.strip():
                await _run_cell(client, cell, index, min(limits.cell_seconds, left))
    except TimeoutError:
        reason = f"the notebook was stopped {_in(notebook, index)}: it did not end in time"
    except (DeadKernelError, RuntimeError) as error:
        reason = f"the kernel died {_in(notebook, index)}" if index >= 0 else f"no kernel started: {error}"
    finally:
        with contextlib.suppress(Exception):
            client.kc.stop_channels()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(manager.shutdown_kernel(now=True), GRACE_SECONDS)
        await asyncio.to_thread(kill_marked, mark)
    if reason:
        _say_not_run(notebook, max(index, 0), reason)
    return reason


def _bare(runtime: Path) -> dict[str, str]:
    """An environment that holds nothing of the caller's but what a program needs to run."""
    folders = {"HOME": runtime / "home", "TMPDIR": runtime / "tmp"}
    for folder in folders.values():
        folder.mkdir()
    kept = {key: os.environ[key] for key in KEPT if key in os.environ}
    return {**kept, **{key: str(folder) for key, folder in folders.items()}}


async def _start(client: BoundedClient, environment: dict[str, str], folder: Path) -> None:
    """Start the kernel and wait until it answers."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}  # what a kernel says beside its cells
    await client.async_start_new_kernel(env=environment, cwd=str(folder), **quiet)
    await client.async_start_new_kernel_client()


async def _run_cell(client: BoundedClient, cell: NotebookNode, index: int, seconds: float) -> None:
    """Run one cell; interrupt it at its limit. Raises TimeoutError if it does not end even then."""
    helper = HELPER in cell.metadata
    task = asyncio.ensure_future(client.async_execute_cell(cell, index, store_history=not helper))
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if not done:
        await client.km.interrupt_kernel()
        done, _ = await asyncio.wait({task}, timeout=GRACE_SECONDS)
        if not done:
            task.cancel()
            done, _ = await asyncio.wait({task}, timeout=GRACE_SECONDS)
            _ = [ended.exception() for ended in done if not ended.cancelled()]  # asked for, or asyncio complains
            raise TimeoutError
        cell.outputs.append(_error(TIMEOUT, f"The cell was stopped after {seconds:.0f} seconds."))
    task.result()


def _say_not_run(notebook: NotebookNode, first: int, reason: str) -> None:
    """Give each code cell from this one on an error output that says why it has no result."""
    for cell in notebook.cells[first:]:
        if cell.cell_type == "code" and cell.source.strip():
            cell.outputs.append(_error(NOT_RUN, f"Not run to its end: {reason}."))


def _in(notebook: NotebookNode, index: int) -> str:
    """Where it happened, as a person finds it: the cells that the grader put in are not counted."""
    theirs = [cell for cell in notebook.cells[: index + 1] if HELPER not in cell.metadata]
    if not theirs:
        return "at its start"
    where = "in" if HELPER not in notebook.cells[index].metadata else "after"
    return f"{where} cell {len(theirs)} ({theirs[-1].get('id', 'no id')})"


def _error(name: str, text: str) -> NotebookNode:
    """An error output with one line of traceback."""
    return nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])


def _size(content: dict[str, Any]) -> int:
    """About how many bytes an output message adds to the notebook."""
    if "text" in content:
        return len(content["text"])
    return sum(len(str(item)) for item in content.get("data", {}).values()) + len(str(content.get("evalue", "")))


def kill_marked(mark: str, variable: str = MARK) -> None:
    """Kill every process that carries the mark in its environment, until none is left (children may start others)."""
    for _ in range(10):
        found = [process for process in psutil.process_iter() if _carries(process, mark, variable)]
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(found, timeout=1)
        if not found:
            return


def _carries(process: psutil.Process, mark: str, variable: str) -> bool:
    """Whether this process inherited the mark; a process we may not read is not ours."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE and process.environ().get(variable) == mark
    except (psutil.Error, OSError):
        return False
