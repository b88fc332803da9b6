"""The work folder: everything that grading makes, and nothing outside of it.

    DIR/gradebook.db        nbgrader's
    DIR/submitted/…         repaired submissions in the form of the release, in nbgrader's layout
    DIR/autograded/…        executed notebooks, in nbgrader's layout
    DIR/records/…           for each submission its status, repairs, flags and verdicts
    DIR/report/…            what `grader report` makes
    DIR/seed                of the hidden data, one for the whole class
    DIR/kit/                what a student's kernel may import

Guarantees: a file is there whole or not at all, so that a run killed at any moment goes on where
it was. Two runs never work in one folder at the same time.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.course import CourseError
from grader.score import Verdict

STATUSES = ("graded", "repaired", "partial", "unreadable", "missing")


@dataclass(frozen=True)
class Record:
    """All that is known of one submission beside its points. `done` is what was entered into the gradebook."""

    student: str
    assignment: str
    status: str
    file: str
    reason: str = ""
    flags: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    digest: str = ""  # of everything that the verdicts depend on
    done: str = ""  # of the above and of what makes it late
    seconds: float = 0.0

    @classmethod
    def read(cls, text: str) -> "Record":
        fields: dict[str, Any] = json.loads(text)
        verdicts = tuple(Verdict(**verdict) for verdict in fields.pop("verdicts"))
        lists = {key: tuple(fields.pop(key)) for key in ("flags", "repairs")}
        return cls(**fields, **lists, verdicts=verdicts)

    def write(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)


@dataclass(frozen=True)
class Work:
    """One work folder."""

    folder: Path
    mark: str = field(default="", compare=False)

    @classmethod
    def open(cls, folder: Path) -> "Work":
        """Use this folder, and make it if need be. Others on this machine may not look into it."""
        folder = folder.resolve()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return cls(folder, hashlib.sha256(os.fsencode(folder)).hexdigest()[:16])

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other run out of this folder."""
        with open(self.folder / "lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise CourseError(
                    f"Another run is at work in {self.folder}: wait for it, or give another --work."
                ) from None
            yield

    def seed(self, wanted: str | None = None) -> str:
        """The seed of this class: the wanted one, else the one from before, else a new one."""
        path = self.folder / "seed"
        if wanted is None and path.is_file():
            return path.read_text(encoding="utf-8").strip()
        seed = wanted or secrets.token_hex(16)
        self.write(path, seed + "\n")
        return seed

    def notebook_path(self, kind: str, student: str, slug: str) -> Path:
        return self.folder / kind / student / slug / f"{slug}.ipynb"

    def record_path(self, student: str, slug: str) -> Path:
        return self.folder / "records" / student / f"{slug}.json"

    def save_notebook(self, kind: str, student: str, slug: str, notebook: NotebookNode) -> None:
        self.write(self.notebook_path(kind, student, slug), nbformat.writes(notebook) + "\n")

    def save_timestamp(self, student: str, slug: str, moment: datetime | None) -> None:
        """Keep the moment of handing in beside the notebook, where stock `nbgrader autograde` looks for it."""
        path = self.notebook_path("submitted", student, slug).with_name("timestamp.txt")
        if moment is None:
            path.unlink(missing_ok=True)
        else:
            self.write(path, f"{moment:%Y-%m-%d %H:%M:%S} UTC\n")

    def save_record(self, record: Record) -> None:
        self.write(self.record_path(record.student, record.assignment), record.write())

    def record(self, student: str, slug: str) -> Record | None:
        """The record of one submission; None if there is none that can be read."""
        try:
            return Record.read(self.record_path(student, slug).read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def records(self) -> list[Record]:
        """All records, in a fixed order."""
        found = []
        for path in sorted((self.folder / "records").glob("*/*.json")):
            with contextlib.suppress(ValueError, TypeError, KeyError):
                found.append(Record.read(path.read_text(encoding="utf-8")))
        return found

    def forget(self, student: str, slug: str) -> None:
        """Remove what is kept of one submission."""
        self.record_path(student, slug).unlink(missing_ok=True)
        for kind in ("submitted", "autograded"):
            self.notebook_path(kind, student, slug).unlink(missing_ok=True)

    def write(self, path: Path, text: str) -> None:
        """Write a file at once: whoever reads it sees the old text or the new one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
