"""From a folder of downloads to submissions: who handed in what, for which exercise.

    SUBMISSIONS/<student id>/*.ipynb           the folder's name is the student
    SUBMISSIONS/<student id>/NN_slug/*.ipynb   works too

Notebooks are known by their cells, never by their names. Links are not followed, and nothing in
the folder is changed. A file that cannot be read is its student's alone, with the reason.
"""

import os
import stat
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import dateutil.parser
from nbformat import NotebookNode

from grader.assignment import Assignment
from grader.matching import find_assignment
from grader.reading import MAX_BYTES, Unreadable, read_cells
from grader.repair import repair

TIMESTAMP = "timestamp.txt"  # nbgrader's file for the moment of handing in; without an offset it is UTC
DEPTH = 4  # folders below a student's
FILES = 1000  # of one student; more is no submission
UNKNOWN = "unknown"  # the exercise of a file that nobody can read


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one exercise: cells, or the reason why there are none."""

    student: str
    assignment: Assignment | None
    path: Path
    data: bytes = field(default=b"", repr=False)
    cells: tuple[NotebookNode, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()  # what was mended on the way, as sentences
    reason: str = ""  # why it cannot be read
    handed_in: datetime | None = None  # UTC, without a zone
    answered: int = 0
    changed: float = 0.0

    @property
    def slug(self) -> str:
        return self.assignment.slug if self.assignment else UNKNOWN


@dataclass(frozen=True)
class Collection:
    """All submissions, all students that have a folder, and what was passed over."""

    submissions: tuple[Submission, ...]
    students: tuple[str, ...]
    passed_over: tuple[str, ...]


def collect(folder: Path, assignments: list[Assignment], only: str | None = None) -> Collection:
    """Read a folder of submissions; with `only`, one student's."""
    submissions, students, passed_over = [], [], []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith((".", "__MACOSX")):
            continue
        if entry.is_symlink():
            passed_over.append(f"{_text(entry.name)} is a link; it was not followed.")
        elif entry.is_dir(follow_symlinks=False):
            student = student_id(entry.name)
            if only is None or student == student_id(only):
                students.append(student)
                found, passed = _student(student, Path(entry.path), assignments)
                submissions += found
                passed_over += passed
        elif ".ipynb" in entry.name.lower():
            passed_over.append(f"{_text(entry.name)} lies in no student's folder.")
    return Collection(tuple(submissions), tuple(students), tuple(passed_over))


def student_id(name: str) -> str:
    """The id of a student from the name of a folder: the same text, however a system composes its accents."""
    return unicodedata.normalize("NFC", _text(name))


def _text(name: str) -> str:
    """A file name as text that can be written anywhere."""
    return os.fsencode(name).decode("utf-8", "replace")


def _student(student: str, folder: Path, assignments: list[Assignment]) -> tuple[list[Submission], list[str]]:
    """The best notebook of one student for each exercise."""
    files, passed_over = _files(folder)
    found: dict[str, list[Submission]] = {}
    for path in files:
        submission = _read(student, path, folder, assignments)
        found.setdefault(submission.slug, []).append(submission)
    if len(found) > 1:  # something can be read: a file that nobody can place is only mentioned
        passed_over += [submission.reason for submission in found.pop(UNKNOWN, [])]
    chosen = [_best(several) for slug, several in sorted(found.items())]
    return chosen, [f"{student}: {sentence}" for sentence in passed_over]


def _best(several: list[Submission]) -> Submission:
    """The submission with most answers, of these the newest; it says which others there were."""
    ranked = sorted(several, key=lambda one: (not one.reason, one.answered, one.changed, one.path.name))
    best = ranked[-1]
    if len(ranked) == 1:
        return best
    others = ", ".join(f"“{_text(one.path.name)}”" for one in ranked[:-1][:3])
    note = f"There were {len(ranked)} notebooks; “{_text(best.path.name)}” counts, with most answers (not {others})."
    return Submission(**{**vars(best), "notes": (*best.notes, note)})


def _files(folder: Path) -> tuple[list[Path], list[str]]:
    """The notebook files of one student, and what was passed over."""
    found: list[Path] = []
    passed_over: list[str] = []
    waiting = [(folder, 0)]
    while waiting and len(found) < FILES:
        here, depth = waiting.pop(0)
        for entry in sorted(os.scandir(here), key=lambda entry: entry.name):
            if entry.name.startswith(".") or entry.name == "__MACOSX":
                continue
            if entry.is_symlink():
                passed_over.append(f"{_text(entry.name)} is a link; it was not followed.")
            elif entry.is_dir(follow_symlinks=False):
                waiting += [(Path(entry.path), depth + 1)] if depth < DEPTH else []
            elif ".ipynb" in entry.name.lower():
                if entry.is_file(follow_symlinks=False):
                    found.append(Path(entry.path))
                else:
                    passed_over.append(f"{_text(entry.name)} is no ordinary file.")
    return found, passed_over


def _read(student: str, path: Path, folder: Path, assignments: list[Assignment]) -> Submission:
    """One file as a submission."""
    guess = _by_name(path, folder, assignments)
    handed_in = _handed_in(path, folder)
    try:
        data, changed = _bytes(path)
        notebook, notes = read_cells(data)
        assignment = find_assignment(notebook.cells, assignments)
        if assignment is None:
            raise Unreadable("it is a notebook, but no cell of it belongs to an exercise of this course")
        answered = repair(notebook.cells, assignment).answered
    except Unreadable as error:
        reason = f"“{_text(path.name)}” cannot be read: {error}."
        return Submission(student, guess, path, reason=reason, handed_in=handed_in)
    except Exception as error:  # whatever a file holds, it stops nobody else's marks
        reason = f"“{_text(path.name)}” cannot be read: {type(error).__name__}."
        return Submission(student, guess, path, reason=reason, handed_in=handed_in)
    cells = tuple(notebook.cells)
    return Submission(student, assignment, path, data, cells, tuple(notes), "", handed_in, answered, changed)


def _bytes(path: Path) -> tuple[bytes, float]:
    """What is in the file, and when it was changed. Opens no link, and waits for no pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Unreadable(f"the system says {error.strerror}") from None
    with open(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise Unreadable("it is no ordinary file")
        if facts.st_size > MAX_BYTES:
            raise Unreadable(f"it has {facts.st_size // 1_000_000} MB, and {MAX_BYTES // 1_000_000} are the limit")
        return file.read(), facts.st_mtime


def _by_name(path: Path, folder: Path, assignments: list[Assignment]) -> Assignment | None:
    """The exercise that a file seems to belong to, where its content cannot say it."""
    name = _text(str(path.relative_to(folder))).lower()
    named = [assignment for assignment in assignments if assignment.slug.lower() in name]
    return named[0] if named else assignments[0] if len(assignments) == 1 else None


def _handed_in(path: Path, folder: Path) -> datetime | None:
    """The moment in the nearest timestamp.txt; None if there is none, or nobody can read it."""
    here = path.parent
    while True:
        file = here / TIMESTAMP
        if file.is_file() and not file.is_symlink():
            try:
                moment = dateutil.parser.parse(file.read_text(encoding="utf-8")[:100].strip())
            except (OSError, ValueError, OverflowError):
                return None
            return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
        if here == folder:
            return None
        here = here.parent
