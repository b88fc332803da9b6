"""nbgrader's gradebook, written by one hand: the coordinator's.

All that counts points is nbgrader's own: its preprocessors put the checks into a submission,
read the grades from the executed notebook, and take off what is late. Its stock commands and
formgrader work on the same database and the same folders.
"""

import contextlib
import copy
import logging
import os
import warnings
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.api
from alembic.script import ScriptDirectory
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.preprocessors import AssignLatePenalties, ClearHiddenTests, Execute, SaveAutoGrades
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SAWarning
from traitlets.config import Config, PyFileConfigLoader

from grader.assignment import Assignment
from grader.course import Course, CourseError

CONFIG = "nbgrader_config.py"
DATABASE = "gradebook.db"


@event.listens_for(Engine, "connect")
def _fast(connection: Any, record: Any) -> None:
    """Let SQLite write to a log first: nbgrader commits after every cell, and each would wait for the disk."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")


def _make(folder: Path) -> None:
    """Make an empty gradebook, whole or not at all."""
    new = folder / f"{DATABASE}.new"
    for rest in ("", "-wal", "-shm"):
        Path(f"{new}{rest}").unlink(missing_ok=True)
    original = nbgrader.api.get_alembic_version
    nbgrader.api.get_alembic_version = _schema_version  # the original starts a program for it, which takes seconds
    try:
        Gradebook(f"sqlite:///{new}").close()
    finally:
        nbgrader.api.get_alembic_version = original
    os.replace(new, folder / DATABASE)


def _schema_version() -> str:
    """The version of nbgrader's tables, as `alembic heads` says it."""
    return ScriptDirectory(str(Path(nbgrader.__file__).parent / "alembic")).get_current_head() or ""


@dataclass(frozen=True)
class Marks:
    """What the gradebook says about one submission. A score is None while a person still has to give points."""

    score: float | None
    max_score: float
    late_seconds: float
    cells: dict[str, float | None]  # check cell → points
    penalty: float = 0.0  # points taken off for being late; the score is without them
    comments: dict[str, str] = field(default_factory=dict)  # answer cell → what a person wrote about it


class Book:
    """The gradebook of one work folder."""

    def __init__(self, course: Course, folder: Path) -> None:
        warnings.filterwarnings("ignore", category=SAWarning)  # nbgrader's, about an order that does no harm
        self.url = f"sqlite:///{folder / DATABASE}"
        self.config = Config({"Exporter": {"default_preprocessors": []}})
        if course.exists(CONFIG):
            self.config.merge(PyFileConfigLoader(CONFIG, path=str(course.root)).load_config())
        self.log = logging.getLogger("grader.nbgrader")
        self.log.addHandler(logging.NullHandler())
        self.log.propagate = False
        if not (folder / DATABASE).exists():
            _make(folder)
        self.gradebook = Gradebook(self.url)

    def close(self) -> None:
        self.gradebook.close()

    def add_student(self, student: str, **names: str) -> None:
        """Enter a student; `names` are first_name, last_name and email."""
        self.gradebook.update_or_create_student(student, **names)

    def add_assignment(self, assignment: Assignment, due: datetime | None) -> None:
        """Enter an exercise as `nbgrader generate_assignment` does; without `due` its date stays."""
        slug = assignment.slug
        self.gradebook.update_or_create_assignment(slug, **({} if due is None else {"duedate": due}))
        steps = list(GenerateAssignment.preprocessors.default_args[0])
        steps = steps[: steps.index(ClearHiddenTests)]  # what comes after makes the release, which is there
        try:
            self._through(steps, copy.deepcopy(assignment.source), slug, ".")
        except RuntimeError as error:
            raise CourseError(
                f"The exercise {slug} has other cells than when this gradebook was made ({error}). "
                "Grade it into a new folder: --work ANOTHER_FOLDER."
            ) from None

    def with_checks(self, notebook: NotebookNode, slug: str, student: str) -> NotebookNode:
        """A repaired submission with the checks of the database, hidden ones too: nbgrader's own cleaning."""
        return self._through(Autograde(config=self.config).sanitize_preprocessors, notebook, slug, student)

    def save(self, notebook: NotebookNode, slug: str, student: str, handed_in: datetime | None) -> NotebookNode:
        """Enter the points of an executed notebook, and what is taken off for being late."""
        self.gradebook.update_or_create_submission(slug, student, timestamp=handed_in)
        steps = [step for step in Autograde(config=self.config).autograde_preprocessors if step is not Execute]
        return self._through(steps, notebook, slug, student)

    def late_again(self, path: Path, slug: str, student: str, handed_in: datetime | None) -> None:
        """Count again what is late, for an executed notebook whose points are in the book."""
        self.gradebook.update_or_create_submission(slug, student, timestamp=handed_in)
        self._through([SaveAutoGrades, AssignLatePenalties], nbformat.read(path, as_version=4), slug, student)

    def late_policy(self) -> str:
        """What the configuration says about being late, as a text that changes with it."""
        return repr([self.config.get(name) for name in ("LateSubmissionPlugin", "AssignLatePenalties")])

    def remove(self, slug: str, student: str) -> None:
        """Take a submission out, if it is there."""
        with contextlib.suppress(MissingEntry):
            self.gradebook.remove_submission(slug, student)

    def has(self, slug: str, student: str) -> bool:
        try:
            self.gradebook.find_submission(slug, student)
        except MissingEntry:
            return False
        return True

    def due(self, slug: str) -> datetime | None:
        try:
            return self.gradebook.find_assignment(slug).duedate
        except MissingEntry:
            return None

    def students(self) -> dict[str, tuple[str, str]]:
        """Each student's last and first name."""
        return {entry.id: (entry.last_name or "", entry.first_name or "") for entry in self.gradebook.students}

    def max_scores(self) -> dict[str, float]:
        return {entry.name: entry.max_score for entry in self.gradebook.assignments}

    def marks(self, slug: str, student: str) -> Marks | None:
        """What is in the book for one submission; None if it is not in there."""
        try:
            submission = self.gradebook.find_submission(slug, student)
        except MissingEntry:
            return None
        grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
        open_ = any(grade.auto_score is None and grade.manual_score is None for grade in grades)
        penalty = sum(notebook.late_submission_penalty or 0 for notebook in submission.notebooks)
        cells = {g.name: None if g.auto_score is None and g.manual_score is None else g.score for g in grades}
        score = None if open_ else max(0.0, submission.score - penalty)
        comments = {c.name: c.manual_comment for n in submission.notebooks for c in n.comments if c.manual_comment}
        return Marks(score, submission.max_score, submission.total_seconds_late, cells, penalty, comments)

    def _through(self, steps: list[Any], notebook: NotebookNode, slug: str, student: str) -> NotebookNode:
        """Hand a notebook through some of nbgrader's (or nbconvert's) preprocessors."""
        resources = {
            "unique_key": slug,
            "metadata": {},
            "nbgrader": {"student": student, "assignment": slug, "notebook": slug, "db_url": self.url},
        }
        made = copy.deepcopy(notebook)
        for step in steps:
            tool = step(config=self.config) if isinstance(step, type) else step
            tool.log = self.log
            if tool.enabled:
                made, resources = tool.preprocess(made, resources)
        self.gradebook.db.expire_all()  # nbgrader wrote through a connection of its own
        nbformat.validate(made)
        return made
