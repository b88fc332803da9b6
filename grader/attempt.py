"""One guarded run: the pure step between repair and score. A job goes in, an outcome comes out.

No database and no course folder is touched, so a job can be run by a thread here, by a process,
or on another machine. The cells that the grader puts in (`kernel_guard.py`) are gone from the outcome.
"""

import base64
import builtins
import copy
import json
import secrets
import types
import zlib
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.assignment import is_check, is_locked
from grader.kernel_guard import MIME, seal
from grader.kit import Kit
from grader.run import HELPER, NOT_RUN, Limits, run_notebook

GUARD = Path(__file__).with_name("kernel_guard.py")
NO_STAGE = ("setup", "hand_in")  # locked cells that define nothing for the checks
BUILTINS = sorted(  # all but `input`, which the kernel sets anew for each cell
    name
    for name, value in vars(builtins).items()
    if isinstance(value, (type, types.BuiltinFunctionType)) and name not in ("input", "__loader__")
)
CELL = 'exec(__import__("zlib").decompress(__import__("base64").b64decode("{}")), '
CELL += '{{"SHELL": __import__("IPython").get_ipython(), "JOB": {!r}, "__name__": "course_guard"}})'


@dataclass(frozen=True)
class Job:
    """A repaired notebook with all checks, and what its run needs."""

    student: str
    slug: str
    notebook: NotebookNode
    kit: Kit
    limits: Limits
    env: dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """An executed notebook. `clean` has the check cells whose guard found all in order after them."""

    notebook: NotebookNode
    reason: str  # what cut the run short; empty if nothing did
    clean: frozenset[str]
    problems: tuple[str, ...]  # what a guard found wrong: nothing in this notebook can be believed
    restored: tuple[str, ...]  # names of the course that answers had taken, given back before the checks
    seconds: float


def attempt(job: Job) -> Outcome:
    """Run the notebook with guards around its checks."""
    guarded, words = _with_guards(job)
    run = run_notebook(guarded, limits=job.limits, env={**job.kit.env, **job.env}, bare=True)
    clean: set[str] = set()
    problems: list[str] = []
    restored: list[str] = []
    check, before = None, True
    for cell in run.notebook.cells:
        if is_check(cell):
            check = cell.id
        word = words.get(cell.id)
        if word is None:
            continue
        record = _record(cell, word)
        problems += record["problems"] if record else _silent(cell)
        restored += record["restored"] if record else []
        if record and not record["problems"] and before and check is not None:
            clean.add(check)
        before = bool(record) and not record["problems"]
        check = None
    run.notebook.cells = [cell for cell in run.notebook.cells if HELPER not in cell.metadata]
    unique = tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(restored))
    return Outcome(run.notebook, run.reason, frozenset(clean), *unique, run.seconds)


def _with_guards(job: Job) -> tuple[NotebookNode, dict[str, str]]:
    """The notebook with stubs on top, a guard before and after each check, and one at the end; id → its word."""
    made = copy.deepcopy(job.notebook)
    text = base64.b64encode(zlib.compress(GUARD.read_bytes())).decode()
    stage = [cell.source for cell in made.cells if is_locked(cell) and not is_check(cell) and cell.id not in NO_STAGE]
    words: dict[str, str] = {}

    def helper(do: str, **more: object) -> NotebookNode:
        cell = nbformat.v4.new_code_cell(CELL.format(text, {"do": do, **more}), metadata={HELPER: True})
        return cell

    def guard(last: bool = False) -> NotebookNode:
        word = secrets.token_hex(8)
        known: dict[str, object] = {"builtins": BUILTINS, "prints": job.kit.prints, "stage": stage}
        cell = helper("guard", word=word, last=last, checks=job.kit.checks if last else "", **known)
        words[cell.id] = word
        return cell

    cells = [helper("stubs")]
    for cell in made.cells:
        cells += [guard(), cell, guard()] if is_check(cell) else [cell]
    made.cells = [*cells, guard(last=True)]
    return made, words


def _record(cell: NotebookNode, word: str) -> dict | None:
    """What this guard left, if it is really this guard's."""
    found = [output.data[MIME] for output in cell.outputs if MIME in output.get("data", {})]
    if len(found) != 1 or not isinstance(found[0], dict):
        return None
    text = str(found[0].get("text"))
    return json.loads(text) if found[0].get("seal") == seal(word, text) else None


def _silent(cell: NotebookNode) -> list[str]:
    """A guard that said nothing: something silenced it, unless the run had ended before."""
    ended = any(output.output_type == "error" and output.ename == NOT_RUN for output in cell.outputs)
    return [] if ended else ["the look at the checks was silenced."]
