"""When an exercise is due, as an instructor writes it on the command line."""

from datetime import UTC, datetime

from grader.course import Course, CourseError


def parse_due(texts: list[str], course: Course) -> dict[str, datetime]:
    """`01=2026-12-01T23:59` as exercise → UTC without a zone, which nbgrader keeps.

    A time without an offset is meant in the zone of this machine.
    """
    found = {}
    for text in texts:
        name, _, moment = text.partition("=")
        lesson = next((lesson for lesson in course.lessons if name in (lesson.slug, lesson.slug[:2])), None)
        if lesson is None:
            raise CourseError(f"--due {text}: there is no exercise {name!r}; write it as 01=2026-12-01T23:59.")
        try:
            found[lesson.slug] = datetime.fromisoformat(moment).astimezone(UTC).replace(tzinfo=None)
        except ValueError:
            raise CourseError(f"--due {text}: {moment!r} is no time; write it as 01=2026-12-01T23:59.") from None
    return found
