"""What a student's kernel may import: a copy of the course's code and of the checks, and nothing else.

Solutions, gradebook and other submissions are not in it. It is also what an isolated run binds in.
"""

import compileall
import hashlib
import shutil
import sys
import types
from dataclasses import dataclass
from pathlib import Path

from grader.course import Course
from grader.kernel_guard import prints

LEFT_OUT = ("tests", "__pycache__", "*.ipynb", ".*")
CHECKS = "grader/checks.py"
JUDGES = {  # modules that a verdict rests on, as far as a course has them
    "grader.checks": CHECKS,
    "main": "code/main.py",
    "mcp_harness.acceptance": "code/mcp_harness/acceptance.py",
    "mcp_harness.acceptance_stage": "code/mcp_harness/acceptance_stage.py",
}


@dataclass(frozen=True)
class Kit:
    """A folder to put on the path of a kernel. `digest` changes with any of its files."""

    folder: Path
    checks: str  # the text of the checks
    prints: dict[str, dict[str, str]]  # module → what its functions are, for the guards
    digest: str

    @property
    def env(self) -> dict[str, str]:
        return {"PYTHONPATH": f"{self.folder / 'code'}:{self.folder}"}


def make_kit(course: Course, folder: Path) -> Kit:
    """Make the folder anew from the course's files."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(course.root / "code", folder / "code", ignore=shutil.ignore_patterns(*LEFT_OUT))
    (folder / "grader").mkdir()
    for name in ("grader/__init__.py", CHECKS):
        shutil.copy(course.root / name, folder / name)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    compileall.compile_dir(folder, quiet=2, legacy=False)
    judges = {name: folder / path for name, path in JUDGES.items() if (folder / path).exists()}
    known = {name: _prints(name, file) for name, file in judges.items()}
    return Kit(folder, course.read(CHECKS), known, digest.hexdigest())


def _prints(name: str, file: Path) -> dict[str, str]:
    """What a guard must find in this module."""
    module = types.ModuleType(name)
    module.__package__, module.__file__ = name.rpartition(".")[0], str(file)  # for what it imports, and reads beside it
    before = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        exec(compile(file.read_text(encoding="utf-8"), f"{name}.py", "exec"), vars(module))
    finally:
        sys.modules.pop(name)
        if before is not None:
            sys.modules[name] = before
    return prints(module)
