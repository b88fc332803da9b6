"""The list of students: a CSV with the columns id, last_name, first_name, email (only id is needed)."""

import csv
from dataclasses import dataclass
from pathlib import Path

from grader.collect import student_id
from grader.course import CourseError

COLUMNS = ("last_name", "first_name", "email")


@dataclass(frozen=True)
class Student:
    """One line of the roster."""

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""


def read_roster(path: Path) -> list[Student]:
    """The students in this file. Raises CourseError with a sentence."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            sample = file.read(4096)
            file.seek(0)
            rows = list(csv.DictReader(file, delimiter=";" if sample.count(";") > sample.count(",") else ","))
    except OSError as error:
        raise CourseError(f"The roster {path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise CourseError(f"The roster {path} is no CSV in UTF-8: save it again as “CSV UTF-8”.") from None
    if not rows or "id" not in rows[0]:
        found = ", ".join(key for key in rows[0] if key) if rows else "nothing"
        raise CourseError(f"The roster {path} has no column `id`; its first line has: {found}.")
    students = []
    for row in rows:
        if (row["id"] or "").strip():
            students.append(Student(student_id(row["id"].strip()), *((row.get(key) or "").strip() for key in COLUMNS)))
    return students
