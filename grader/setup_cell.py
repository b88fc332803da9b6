"""The first cell of every notebook: it finds the course's code, or fetches it.

The cell must work alone in Colab, inside a checkout, and offline in the grader, with a git as
old as 2.34; so it writes the sparse-checkout file itself, whose commands changed since.
"""

from nbformat import NotebookNode

from grader.course import Course
from grader.notebook import code_cell

SETUP_ID = "setup"
INVITATION = "Run the cell below first: it finds the course's code, or fetches it."

SETUP = '''\
# @title Setup: run this cell first. It finds the course's code here, or fetches it from GitHub.
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

COURSE, BRANCH = "@SLUG@", "@BRANCH@"
CLONE = Path.cwd() / Path(COURSE).name


class SetupFailed(Exception):
    def _render_traceback_(self):  # Jupyter then shows the sentence and no stack
        return [str(self)]


def import_main():
    """The course's `main`; None if there is none on the path, or only somebody else's."""
    try:
        module = importlib.import_module("main")
    except (Exception, SystemExit):
        return None
    if getattr(module, "COURSE", None) == COURSE:
        return module
    where = getattr(module, "__file__", "no file")
    print(f"Another main.py is in the way ({where}): the course's own comes first from here on.")
    del sys.modules["main"]


def find_course():
    """The checkout around us or the clone beside us; None if there is neither."""
    for folder in (Path.cwd(), *Path.cwd().parents, CLONE):
        file = folder / "code" / "main.py"
        if file.is_file() and f'COURSE = "{COURSE}"' in file.read_text(encoding="utf-8"):
            return folder


def clone_course():
    """Fetch what a notebook needs and no more: code/ and the checks."""
    if CLONE.exists():
        raise SetupFailed(f"The folder {CLONE.name} here is not this course: rename it, then run this cell again.")
    address, sparse = f"https://github.com/{COURSE}", CLONE / ".git" / "info" / "sparse-checkout"
    options = ["--depth=1", f"--branch={BRANCH}", "--filter=blob:none", "--no-checkout"]
    options += ["--config=core.sparseCheckout=true", "--config=core.sparseCheckoutCone=false"]
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    quiet = {"check": True, "capture_output": True, "text": True, "timeout": 300, "env": environment}
    try:
        subprocess.run(["git", "clone", *options, address, str(CLONE)], **quiet)
        sparse.parent.mkdir(exist_ok=True)
        sparse.write_text("/code/\\n/grader/__init__.py\\n/grader/checks.py\\n")
        subprocess.run(["git", "-C", str(CLONE), "checkout"], **quiet)
        return CLONE
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(CLONE, ignore_errors=True)
        reason = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
    raise SetupFailed(
        f"The course's code could not be fetched from {address} ({reason}). With a network, run this cell again. "
        "Without one, download the repository as a zip file elsewhere, unpack it here, and open the notebook inside it."
    )


main = import_main()
root = Path(main.__file__).resolve().parents[1] if main else find_course() or clone_course()
sys.path[:0] = [str(root / "code"), str(root)]
importlib.invalidate_caches()
main = main or import_main()
if main is None:
    raise SetupFailed(f"{root / 'code' / 'main.py'} cannot be imported: fetch the course again.")
@CHECKS@
print("The course's code is ready.")
'''


def setup_source(course: Course, *, checks: bool = False) -> str:
    """The source of the setup cell; with `checks`, an exercise's, which imports the checks too."""
    cell = SETUP.replace("@SLUG@", course.slug).replace("@BRANCH@", course.branch)
    return cell.replace("@CHECKS@\n", "from grader import checks\n\n" if checks else "").rstrip("\n")


def setup_cell(course: Course, *, checks: bool = False) -> NotebookNode:
    """The setup cell itself. Colab and JupyterLab fold its code away; the header says what it is."""
    hidden = {"cellView": "form", "jupyter": {"source_hidden": True}}
    return code_cell(SETUP_ID, setup_source(course, checks=checks), **hidden)
