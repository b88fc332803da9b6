"""From the gradebook and the records to what people read: a table, `marks.csv`, feedback, plots.

Reads, and changes neither gradebook nor records: what an instructor changed in formgrader is in
the next report.
"""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.assignment import Assignment, is_check, load_assignments
from grader.book import Book, Marks
from grader.course import Course, CourseError
from grader.work import Record, Work

COLUMNS = ("assignment", "student_id", "last_name", "first_name", "status", "score", "max_score")
COLUMNS += ("late_seconds", "flags", "repairs", "reason")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet takes a text that begins so for a program


@dataclass(frozen=True)
class Row:
    """One student and one exercise. `marks` is None where nothing was graded."""

    record: Record
    last_name: str
    first_name: str
    max_score: float | None
    marks: Marks | None

    @property
    def late_seconds(self) -> float:
        return self.marks.late_seconds if self.marks else 0.0


@dataclass(frozen=True)
class Report:
    """What was written, and the rows it was made from."""

    rows: tuple[Row, ...]
    marks: Path
    feedback: tuple[Path, ...]
    plots: tuple[Path, ...]


def report(course: Course, folder: Path, tell: Callable[[str], None] = lambda text: None) -> Report:
    """Write the CSV, the feedback pages and the plots of a work folder."""
    if not (folder / "gradebook.db").is_file():
        raise CourseError(f"There is no gradebook in {folder}: run `python -m grader grade SUBMISSIONS` first.")
    from grader.feedback import write_feedback
    from grader.plots import write_plots

    work, assignments = Work.open(folder), load_assignments(course)
    rows = read_rows(course, work)
    marks = work.folder / "report" / "marks.csv"
    work.write(marks, as_csv(rows, assignments))
    tell("feedback")
    pages = write_feedback(rows, work, assignments)
    tell("plots")
    plots = write_plots(rows, work, assignments)
    return Report(tuple(rows), marks, tuple(pages), tuple(plots))


def read_rows(course: Course, work: Work) -> list[Row]:
    """One row for each student and each exercise that anybody handed in, in a fixed order."""
    book = Book(course, work.folder)
    try:
        records = {(record.assignment, record.student): record for record in work.records()}
        students, maxima = book.students(), book.max_scores()
        slugs = sorted({*maxima, *(slug for slug, _ in records)})
        rows = []
        for slug in slugs:
            for student, (last, first) in sorted(students.items(), key=lambda item: (*item[1], item[0])):
                record = records.get((slug, student))
                if record is None and slug not in maxima:
                    continue
                record = record or Record(student, slug, "missing", "", "No notebook of this exercise was handed in.")
                rows.append(Row(record, last, first, maxima.get(slug), book.marks(slug, student)))
        return rows
    finally:
        book.close()


def as_csv(rows: list[Row], assignments: list[Assignment]) -> str:
    """The table as CSV: nothing graded is empty and not 0, and no text can act as a formula."""
    tasks = [(a.slug, cell.id) for a in assignments for cell in a.source.cells if is_check(cell)]
    tasks = [task for task in tasks if any(row.record.assignment == task[0] for row in rows)]
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
    writer.writerow([*COLUMNS, *(column(slug, cell) for slug, cell in tasks)])
    for row in rows:
        record, marks = row.record, row.marks
        texts = [record.assignment, record.student, row.last_name, row.first_name, record.status]
        numbers = [_number(marks.score if marks else None), _number(row.max_score)]
        late = _number(marks.late_seconds) if marks else ""
        lists = ["; ".join(record.flags), "; ".join(record.repairs), record.reason]
        cells = marks.cells if marks else {}
        points = [_number(cells.get(cell) if slug == record.assignment else None) for slug, cell in tasks]
        writer.writerow([*map(harmless, texts), *numbers, late, *map(harmless, lists), *points])
    return out.getvalue()


def column(slug: str, cell: str) -> str:
    """The name of a task's column: `01_namespace task1`."""
    return f"{slug} {cell.replace('_check', '', 1)}"


def harmless(text: str) -> str:
    """A text that a spreadsheet shows and does not run; on one line."""
    text = " ".join(text.split())
    return f"'{text}" if text.startswith(FORMULA) else text


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
