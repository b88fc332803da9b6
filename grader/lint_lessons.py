"""Rules for one lesson: its parts, its fences, its minutes."""

import re
from collections.abc import Iterator

from markdown_it.token import Token

from grader.course import FACTS, Course, Lesson
from grader.fences import FLAGS, LANGUAGES, OPTIONS, RUN, Fence, fences, parse, plain
from grader.lessons import MINUTES
from grader.problem import Problem

TROUBLESHOOTING = "troubleshooting.md"


def required_parts(lesson: Lesson) -> list[str]:
    """The sections that each lesson has, in this order; others may stand between them."""
    recall = "What you should know" if lesson.number == 1 else "Recall"
    start = ["Questions", recall]
    end = ["Design note", "Keypoints", "Key terms", "Further reading"]
    return [*start, "Your turn", "What the real client adds", "When it goes wrong", *end]


def lint_lesson(course: Course, lesson: Lesson) -> list[Problem]:
    """Every broken rule in a lesson's page."""
    text = course.read(lesson.source)
    page = Page(lesson.source, text)
    return [
        *_title(lesson, page),
        *(problem for fence in fences(text) for problem in _fence(lesson.source, fence)),
        *_parts(lesson, page),
        *_answers(page),
        *_minutes(lesson, page),
    ]


class Page:
    """A page in sections: (title, first line, tokens) for each second-level heading."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.sections: list[tuple[str, int, list[Token]]] = []
        tokens = parse(text)
        for place, token in enumerate(tokens):
            if token.type == "heading_open" and token.tag == "h2" and token.level == 0:
                self.sections.append((plain(tokens[place + 1]), token.map[0] + 1, []))
            if self.sections:
                self.sections[-1][2].append(token)

    def section(self, title: str) -> tuple[int, list[Token]] | None:
        return next(((line, tokens) for name, line, tokens in self.sections if name == title), None)


def _title(lesson: Lesson, page: Page) -> Iterator[Problem]:
    first = page.text.split("\n", 1)[0]
    expected = f"# Lesson {lesson.number}: {lesson.title}"
    if first.strip() == "---":
        yield Problem(page.path, "It begins with front matter.", f"remove it; facts belong in {FACTS}", 1)
    elif first != expected:
        yield Problem(page.path, f"Its first line is {first!r}, not {expected!r}.", f"change it, or {FACTS}", 1)


def _fence(path: str, fence: Fence) -> Iterator[Problem]:
    def problem(sentence: str, mend: str) -> Problem:
        return Problem(path, sentence, mend, fence.line)

    if fence.language not in LANGUAGES:
        shown = f"language {fence.language!r}" if fence.language else "no language"
        yield problem(f"This fence has {shown}.", f"use one of: {', '.join(LANGUAGES)}")
        return
    allowed = OPTIONS.get(fence.language, ())
    for name, value in fence.options.items():
        if name not in allowed:
            known = f"use one of: {', '.join(allowed)}" if allowed else "remove it; this language takes none"
            yield problem(f"A {fence.language} fence has no option {name!r}.", known)
        elif (name in FLAGS) == bool(value):
            form = name if name in FLAGS else f'{name}="…"'
            yield problem(f"The option {name!r} is not written as it should be.", f"write {form}")
    if fence.leftover:
        yield problem(f"Nobody understands {fence.leftover!r} behind the language.", 'write options as name="value"')
    if fence.language == RUN and fence.in_details:
        yield problem("A python fence inside <details> would run unseen.", "write `py`, which is only shown")
    elif fence.language == RUN and fence.nested:
        yield problem("A python fence inside a list or quotation does not run.", "put it at the left margin")


def _parts(lesson: Lesson, page: Page) -> Iterator[Problem]:
    titles = [title for title, _, _ in page.sections]
    wanted = required_parts(lesson)
    for title in wanted:
        if title not in titles:
            yield Problem(page.path, f"The section `## {title}` is missing.", "write it; the words are exact")
    there = [title for title in titles if title in wanted]
    if there != sorted(there, key=wanted.index):
        sentence = f"Its sections stand in another order than {', '.join(wanted)}."
        yield Problem(page.path, sentence, "move them")
    if titles and titles[0] in wanted:
        sentence = f"It begins with `## {titles[0]}`, but a lesson begins with a failure."
        yield Problem(page.path, sentence, "put the section with the opening failure first", page.sections[0][1])
    trouble, terms = page.section("When it goes wrong"), page.section("Key terms")
    if trouble and not any(TROUBLESHOOTING in token.content for token in trouble[1]):
        sentence = f"`## When it goes wrong` links no entry of {TROUBLESHOOTING}."
        yield Problem(page.path, sentence, "add the entry there and link it", trouble[0])
    if terms and not any(token.type == "table_open" for token in terms[1]):
        mend = "write one: what people say | what it is"
        yield Problem(page.path, "`## Key terms` has no table.", mend, terms[0])


def _answers(page: Page) -> Iterator[Problem]:
    """Each question is answered by the keypoint of the same number."""
    questions, keypoints = page.section("Questions"), page.section("Keypoints")
    if not questions or not keypoints:
        return
    asked, answered = _numbered(questions[1]), _numbered(keypoints[1])
    if asked != answered or not asked:
        sentence = f"`## Questions` has {asked} numbered items and `## Keypoints` {answered}."
        yield Problem(page.path, sentence, "answer each question by the keypoint of the same number", keypoints[0])


def _numbered(tokens: list[Token]) -> int:
    """How many items the numbered lists of a section have."""
    count, depth = 0, 0
    for token in tokens:
        if token.type in ("ordered_list_open", "ordered_list_close"):
            depth += token.nesting
        elif token.type == "list_item_open" and depth == 1 and token.level == 1:
            count += 1
    return count


def _minutes(lesson: Lesson, page: Page) -> Iterator[Problem]:
    lines = page.text.split("\n")
    total = 0
    for title, line, _ in page.sections:
        found = MINUTES.search(lines[line - 1])
        if not found:
            mend = f"write `## {title} <!-- minutes: 3 -->`"
            yield Problem(page.path, f"The section {title!r} does not say its minutes.", mend, line)
        total += int(found[1]) if found else 0
    if total != lesson.minutes:
        sentence = f"Its sections add up to {total} minutes, but {FACTS} says {lesson.minutes}."
        yield Problem(page.path, sentence, f"change the sections, or {FACTS}")
    for number, line in enumerate(lines, 1):
        if re.search(r"<!--\s*minutes", line) and not (line.startswith("## ") and MINUTES.search(line)):
            mend = "write `<!-- minutes: 3 -->` at the end of a `## ` heading"
            yield Problem(page.path, "This note of minutes is not counted.", mend, number)
