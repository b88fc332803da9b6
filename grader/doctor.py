"""What this machine can do: each thing the course needs, tried and not guessed."""

import importlib.util
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from grader.course import Course, CourseError

PYTHONS = ((3, 11), (3, 13))  # the first and the last version that the course is tried with
FREE_MB = 500  # of disk space that a class of some hundred needs


@dataclass(frozen=True)
class Finding:
    """One thing: fine, missing but not needed by all, or broken."""

    what: str
    state: str  # "fine", "missing" or "broken"
    text: str


def examine() -> list[Finding]:
    """Try everything. One thing that is broken does not keep us from the others."""
    looks = (_python, _course, _packages, _versions, _kernel, _gradebook, _processes, _git, _isolation, _disk)
    return [_safely(look) for look in looks]


def _safely(look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except Exception as error:
        return Finding(look.__name__.strip("_"), "broken", f"{type(error).__name__}: {error}")


def _python() -> Finding:
    first, last = PYTHONS
    found = f"{platform.python_version()} on {platform.system()}"
    if not first <= sys.version_info[:2] <= last:
        wanted = f"{first[0]}.{first[1]} to {last[0]}.{last[1]}"
        return Finding("Python", "broken", f"{found}; the course is tried with {wanted}.")
    if sys.platform == "win32":
        return Finding("Python", "broken", f"{found}; use WSL, the course's processes need Linux or macOS.")
    return Finding("Python", "fine", found)


def _course() -> Finding:
    try:
        course = Course.load()
    except CourseError as error:
        return Finding("course", "broken", str(error))
    ready = [lesson.slug for lesson in course.lessons if course.exists(lesson.release)]
    if not ready:
        return Finding("course", "broken", f"{course.root} has no exercises: run `python -m grader build`.")
    return Finding("course", "fine", f"{course.root}, {len(ready)} exercises")


def _packages() -> Finding:
    needed = ("nbgrader", "nbclient", "jupytext", "ipykernel", "psutil", "matplotlib", "rich", "typer")
    lost = [name for name in needed if importlib.util.find_spec(name) is None]
    if lost:
        return Finding("packages", "broken", f"missing: {', '.join(lost)}. Run: pip install -e '.[grader]'")
    return Finding("packages", "fine", ", ".join(f"{name} {version(name)}" for name in needed[:3]))


def _versions() -> Finding:
    from grader.pins import mismatches

    wrong = list(map(str, mismatches(Course.load()).values()))
    if wrong:
        return Finding("pinned tools", "missing", f"{'; '.join(wrong)}. Only `build --check` needs them exactly.")
    return Finding("pinned tools", "fine", "as in constraints.txt: the build makes the same bytes")


def _kernel() -> Finding:
    import nbformat

    from grader.run import Limits, run_notebook

    cell = nbformat.v4.new_code_cell("print(6 * 7)")
    run = run_notebook(nbformat.v4.new_notebook(cells=[cell]), limits=Limits(30, 60), bare=True)
    outputs = run.notebook.cells[0].outputs
    if run.reason or not outputs or outputs[0].get("text") != "42\n":
        return Finding("kernel", "broken", run.reason or "a kernel started, but gave no answer")
    return Finding("kernel", "fine", f"a notebook ran in {run.seconds:.1f} s")


def _gradebook() -> Finding:
    from grader.book import Book

    with tempfile.TemporaryDirectory() as folder:
        book = Book(Course.load(), Path(folder))
        book.add_student("somebody")
        book.close()
    return Finding("gradebook", "fine", f"nbgrader {version('nbgrader')} made one (SQLite {sqlite3.sqlite_version})")


def _processes() -> Finding:
    import psutil

    if sys.platform == "linux" and not Path("/proc/self/environ").is_file():
        return Finding("processes", "broken", "/proc is not there: what a notebook leaves running cannot be found.")
    mine = psutil.Process().environ()
    return Finding("processes", "fine" if mine else "broken", "what a notebook leaves running can be found and ended")


def _git() -> Finding:
    program = shutil.which("git")
    if program is None:
        return Finding("git", "missing", "only the setup cell outside of a checkout needs it. apt install git")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20)
    return Finding("git", "fine" if done.returncode == 0 else "broken", done.stdout.strip() or done.stderr.strip())


def _isolation() -> Finding:
    program = shutil.which("bwrap")
    if program is None:
        text = "bubblewrap is not here; `grade` runs students' code with your rights and asks for --no-sandbox."
        return Finding("isolation", "missing", f"{text} apt install bubblewrap")
    words = [program, "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "true"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    if done.returncode != 0:
        return Finding("isolation", "missing", f"bubblewrap is here, but cannot isolate: {done.stderr.strip()[:120]}")
    return Finding("isolation", "fine", "bubblewrap works (`grade` does not use it yet: it asks for --no-sandbox)")


def _disk() -> Finding:
    here = Path(tempfile.gettempdir())
    free = shutil.disk_usage(here).free // 1_000_000
    if not os.access(here, os.W_OK):
        return Finding("disk", "broken", f"{here} cannot be written")
    if free < FREE_MB:
        return Finding("disk", "broken", f"{free} MB free in {here}; a class needs about {FREE_MB}")
    return Finding("disk", "fine", f"{free // 1000} GB free in {here}")
