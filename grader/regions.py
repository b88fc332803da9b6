"""Generated regions: stretches of a hand-written page that are written from `course.toml`.

A region stands between `<!-- NAME: made by grader build from course.toml -->` and
`<!-- end of NAME -->`, each on a line of its own. What stands between them is not edited.
"""

import re
from collections.abc import Callable, Mapping

from grader.course import Course, Lesson
from grader.problem import BUILD, BuildError
from grader.setup_cell import INVITATION

OPENING = re.compile(r"^<!-- (?P<name>[a-z-]+): made by grader build from course\.toml -->\s*$")
COLAB_BADGE = "https://colab.research.google.com/assets/colab-badge.svg"


def opening(name: str) -> str:
    return f"<!-- {name}: made by grader build from course.toml -->"


def closing(name: str) -> str:
    return f"<!-- end of {name} -->"


def fill(path: str, text: str, writers: Mapping[str, Callable[[], str]]) -> str:
    """The page with each of its regions written anew; a region nobody can write is an error."""
    lines, result = iter(enumerate(text.splitlines(), 1)), []
    for number, line in lines:
        result.append(line)
        found = OPENING.match(line)
        if not found:
            continue
        name = found["name"]
        if name not in writers:
            known = ", ".join(writers)
            raise BuildError(path, f"Nobody writes a region {name!r} here.", f"use one of: {known}", number)
        result += ["", writers[name](), "", closing(name)]
        if not any(rest.strip() == closing(name) for _, rest in lines):
            mend = f"put the line `{closing(name)}` where the region ends, then {BUILD}"
            raise BuildError(path, f"The region {name!r} never ends.", mend, number)
    return "\n".join(result) + "\n"


def generated_lines(text: str) -> set[int]:
    """The numbers of the lines that lie inside generated regions."""
    inside, end = set(), None
    for number, line in enumerate(text.splitlines(), 1):
        if end is not None:
            inside.add(number)
            end = None if line.strip() == end else end
        elif found := OPENING.match(line):
            end = closing(found["name"])
    return inside


def facts(*parts: object) -> str:
    """`45 minutes · easy`: the parts that are known, with dots between."""
    return " · ".join(str(part) for part in parts if part)


def minutes(count: int | None) -> str:
    return "" if count is None else "1 minute" if count == 1 else f"{count} minutes"


def badge(course: Course, notebook: str, what: str) -> str:
    return f"[![Open {what} in Google Colab]({COLAB_BADGE})]({course.colab(notebook)})"


def lesson_header(course: Course, lesson: Lesson) -> str:
    """What stands below a lesson's title on its page: links that work from `lessons/`."""
    links = [f"[Notebook](../{lesson.notebook})"]
    if course.exercise_ready(lesson):
        links.append(f"[Exercise](../{lesson.release})")
    if course.quiz_ready(lesson):
        links.append(f"[Quiz](quizzes/{lesson.slug}.md)")
    about = facts(minutes(lesson.minutes), lesson.difficulty, f"MCP revision {lesson.revision or course.revision}")
    neighbours = [
        f"{word}: [{other.title}]({other.slug}.md)"
        for word, other in zip(("Before", "Next"), around(course, lesson), strict=True)
        if other and course.lesson_ready(other)
    ]
    lines = [badge(course, lesson.notebook, f"lesson {lesson.number}"), facts(*links), about, facts(*neighbours)]
    return "\n\n".join(line for line in lines if line)


def notebook_header(course: Course, lesson: Lesson) -> str:
    """The same in the lesson's notebook, which may have been opened far from its checkout."""
    links = [f"[Page]({course.page(lesson.source)})"]
    if course.exercise_ready(lesson):
        links.append(f"[Exercise in Colab]({course.colab(lesson.release)})")
    if course.quiz_ready(lesson):
        links.append(f"[Quiz]({course.page(lesson.quiz_page)})")
    about = facts(minutes(lesson.minutes), lesson.difficulty, f"MCP revision {lesson.revision or course.revision}")
    return "\n\n".join([badge(course, lesson.notebook, f"lesson {lesson.number}"), facts(*links), about, INVITATION])


def exercise_header(course: Course, lesson: Lesson) -> str:
    """What stands below the title of an exercise."""
    task = lesson.exercise
    there = course.lesson_ready(lesson)
    links = [f"[Lesson {lesson.number}: {lesson.title}]({course.page(lesson.source)})"] if there else []
    about = facts(minutes(task.minutes), task.difficulty, f"{task.points} points") if task else ""
    lines = [badge(course, lesson.release, f"exercise {lesson.number}"), facts(*links), about, INVITATION]
    return "\n\n".join(line for line in lines if line)


def around(course: Course, lesson: Lesson) -> tuple[Lesson | None, Lesson | None]:
    """The lessons before and after."""
    place = course.lessons.index(lesson)
    before = course.lessons[place - 1] if place else None
    return before, course.lessons[place + 1] if place + 1 < len(course.lessons) else None


def lesson_map(course: Course) -> str:
    """The table of the lessons, with links to whatever is written."""
    head = "| | Lesson | Notebook | Exercise | Quiz | Minutes (lesson + exercise) | Difficulty | What you build |"
    rows = [head, "|---|---|---|---|---|---|---|---|"]
    for lesson in course.lessons:
        rows.append(_row(course, lesson))
    ready = [lesson for lesson in course.lessons if course.lesson_ready(lesson)]
    reading = sum(lesson.minutes or 0 for lesson in ready)
    solving = sum(e.minutes for one in course.lessons if (e := one.exercise) and course.exercise_ready(one))
    whole = len(ready) == len(course.lessons)
    hours = f": about {round((reading + solving) / 60)} hours" if whole else ", in what is written so far"
    total = f"{reading} minutes to read and run, {solving} minutes of exercises{hours}."
    return "\n".join([*rows, "", total])


def _row(course: Course, lesson: Lesson) -> str:
    title, notebook, exercise, quiz = f"{lesson.title} (in preparation)", "", "", ""
    if course.lesson_ready(lesson):
        title = f"[{lesson.title}]({lesson.source})"
        notebook = f"[notebook]({lesson.notebook}) {badge(course, lesson.notebook, f'lesson {lesson.number}')}"
    if course.exercise_ready(lesson):
        what = badge(course, lesson.release, f"exercise {lesson.number}")
        exercise = f"[exercise]({lesson.release}) {what}"
    if course.quiz_ready(lesson):
        quiz = f"[quiz]({lesson.quiz_page})"
    times = [lesson.minutes if course.lesson_ready(lesson) else None]
    times += [lesson.exercise.minutes if lesson.exercise and course.exercise_ready(lesson) else None]
    spent = " + ".join(str(time) for time in times if time)
    cells = (lesson.number, title, notebook, exercise, quiz, spent, lesson.difficulty or "", lesson.builds)
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def badges(course: Course) -> str:
    """The badge that opens the first lesson and the one that opens the first exercise."""
    first = next((lesson for lesson in course.lessons if course.lesson_ready(lesson)), None)
    if first is None:
        return "No lesson is written yet."
    lines = [badge(course, first.notebook, f"lesson {first.number}") + " Open the first lesson in Google Colab."]
    if course.exercise_ready(first):
        lines.append(badge(course, first.release, f"exercise {first.number}") + " Open its exercise.")
    return "\n\n".join(lines)


def clone(course: Course) -> str:
    """The two lines that fetch the course."""
    lines = ["```console", f"git clone https://github.com/{course.slug}", f"cd {course.folder}", "```"]
    return "\n".join(lines)


def page_writers(course: Course) -> dict[str, Callable[[], str]]:
    """The regions any page may have."""
    return {
        "map": lambda: lesson_map(course),
        "badges": lambda: badges(course),
        "clone": lambda: clone(course),
    }
