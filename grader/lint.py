"""Rules for the course as a whole: what may lie where, and what may be written where.

The rules for one lesson, one exercise and for links have modules of their own.
"""

import ast
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.course import FACTS, Course, Lesson
from grader.lint_exercises import lint_exercise
from grader.lint_lessons import lint_lesson
from grader.lint_links import lint_links
from grader.problem import BUILD, BuildError, Problem
from grader.regions import generated_lines

NOT_OURS = {"__pycache__", "node_modules", "work", "build", "dist"}  # folders whose files nobody edits
SEEN_DOT_FOLDERS = {".ci", ".github"}
STUDENT_FILES = ("grader/__init__.py", "grader/checks.py")  # all of `grader` that a student's notebook has
HOST_PACKAGES = {"google"}  # Colab's own, imported only where it is there
WRONG_ANSWERS = 4  # at least, for each exercise
# Folders that hold generated files, as (folder, pattern); whatever matches must be in the plan.
GENERATED = (
    ("notebooks", "*"),
    ("exercises", "*/*"),
    ("code/steps", "*"),
    ("solutions", "*/*"),
    ("lessons/figures", "*.svg"),
    ("lessons/quizzes", "*.md"),
    ("lessons/quizzes/figures", "*"),
)


def lint(course: Course, plan: Mapping[str, Any], failed: frozenset[str] = frozenset()) -> list[Problem]:
    """Every broken rule. `plan` has the generated files by path; `failed` the sources that gave none."""
    found = [*_orphans(course, plan, failed), *_package_named_code(course), *_student_imports(course)]
    found += _slug_literals(course, plan)
    for lesson in course.lessons:
        if course.lesson_ready(lesson):
            found += lint_lesson(course, lesson)
        if course.exercise_ready(lesson):
            try:
                release = plan.get(lesson.release)
                found += lint_exercise(course, lesson, release and release.content)
            except BuildError as error:
                found += [] if lesson.exercise_source in failed else [error.problem]
            found += _wrong_answers(course, lesson)
    return found + lint_links(course, plan)


def _orphans(course: Course, plan: Mapping[str, Any], failed: frozenset[str]) -> Iterator[Problem]:
    """A generated file without a source, or any other file in a folder of generated ones."""
    broken = [lesson.slug for lesson in course.lessons if failed & _sources(lesson)]
    for folder, pattern in GENERATED:
        for there in sorted((course.root / folder).glob(pattern)):
            path = there.relative_to(course.root).as_posix()
            hidden = any(part.startswith(".") or part in NOT_OURS for part in there.parts[len(course.root.parts) :])
            if there.is_dir() or hidden or path in plan or any(slug in path for slug in broken):
                continue
            place = f"{folder}/{pattern.removesuffix('*')}".rstrip("/")
            sentence = f"No source makes this file, and {place} holds generated files only."
            yield Problem(path, sentence, f"remove it (`git rm {path}`), or write its source and {BUILD}")


def _sources(lesson: Lesson) -> set[str]:
    return {lesson.source, lesson.figures, lesson.quiz_source, lesson.exercise_source}


def _package_named_code(course: Course) -> Iterator[Problem]:
    if course.exists("code/__init__.py"):
        sentence = "It makes `code` a package that hides the standard library's module `code`, and pdb breaks."
        yield Problem("code/__init__.py", sentence, "remove it: code/ is an import root, like src/")


def _student_imports(course: Course) -> Iterator[Problem]:
    """A student's notebook has nothing installed, so what it imports needs the standard library only."""
    for path in STUDENT_FILES:
        if not course.exists(path):
            continue
        for node in ast.walk(ast.parse(course.read(path))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                top = name.split(".")[0]
                ours = name in ("grader", "grader.checks")
                if not ours and top not in sys.stdlib_module_names and top not in HOST_PACKAGES:
                    sentence = f"It imports {name!r}, which a student's notebook may not have."
                    yield Problem(path, sentence, "use the standard library", node.lineno)


def _slug_literals(course: Course, plan: Mapping[str, Any]) -> Iterator[Problem]:
    """The name of the repository stands in `course.toml`; everything else gets it from there."""
    for path in _text_files(course.root):
        file = plan.get(path)
        folder_of_generated = any(Path(path).match(f"{folder}/{pattern}") for folder, pattern in GENERATED)
        if path == FACTS or folder_of_generated or (file is not None and file.source != FACTS):
            continue
        text = (course.root / path).read_bytes().decode("utf-8", errors="replace")
        if course.slug not in text:
            continue
        inside = generated_lines(text)
        for number, line in enumerate(text.splitlines(), 1):
            ours = number in inside or (path == "code/main.py" and line.startswith("COURSE = "))
            if course.slug in line and not ours:
                sentence = f"It says {course.slug!r}, which belongs in {FACTS} alone."
                mend = "put a generated region there (map, badges, clone), or read it with Course.load()"
                yield Problem(path, sentence, mend, number)


def _text_files(root: Path) -> Iterator[str]:
    """Files that somebody edits, relative to the root."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in NOT_OURS and (name in SEEN_DOT_FOLDERS or not name.startswith(".")) and ".egg" not in name
        )
        for name in sorted(files):
            there = Path(folder) / name
            if not name.startswith(".") and there.stat().st_size < 1_000_000:
                yield there.relative_to(root).as_posix()


def _wrong_answers(course: Course, lesson: Lesson) -> Iterator[Problem]:
    """Each exercise has a gallery of plausible mistakes, each with the message it must get."""
    folder = f"grader/wrong/{lesson.slug}"
    expected = f"{folder}/expected.toml"
    names = {there.stem for there in (course.root / folder).glob("*.py")}
    if len(names) < WRONG_ANSWERS:
        sentence = f"There are {len(names)} wrong answers for {lesson.exercise_source}; {WRONG_ANSWERS} are the least."
        yield Problem(folder, sentence, "write another plausible mistake")
    if not course.exists(expected):
        yield Problem(expected, "It is missing.", "write it: one table for each wrong answer, with its messages")
        return
    try:
        listed = set(tomllib.loads(course.read(expected)))
    except tomllib.TOMLDecodeError as error:
        yield Problem(expected, f"It is not valid TOML: {error}.", "correct that line")
        return
    for name in sorted(names - listed):
        yield Problem(f"{folder}/{name}.py", f"{expected} does not name it.", f"add [{name}] with its messages")
    for name in sorted(listed - names):
        yield Problem(expected, f"It names {name!r}, and there is no {folder}/{name}.py.", "remove the entry")
