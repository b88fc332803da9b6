"""Rules for what pages point at: links lead somewhere, images are there and say what they show."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from grader.course import Course
from grader.fences import anchor, parse, plain
from grader.links import Target, targets
from grader.problem import BUILD, Problem

PAGES = ("*.md", "lessons/*.md", "lessons/quizzes/*.md", "solutions/*.md", "outputs/*.md")
ALT_TEXT = 15  # characters; a shorter one says what it is, not what is to be seen


def lint_links(course: Course, plan: Mapping[str, Any]) -> list[Problem]:
    """Every broken link, and every image that is missing or does not say what it shows."""
    _anchors.cache_clear()
    pages = sorted({there for pattern in PAGES for there in course.root.glob(pattern)})
    return [problem for page in pages for problem in _page(course, plan, page)]


def _page(course: Course, plan: Mapping[str, Any], page: Path) -> Iterator[Problem]:
    path = page.relative_to(course.root).as_posix()
    for target in targets(page.read_text(encoding="utf-8")):
        if target.alt is not None and len(target.alt) < ALT_TEXT:
            sentence = f"The image {target.address} has the alternative text {target.alt!r}."
            yield Problem(path, sentence, f"say in {ALT_TEXT} characters or more what is to be seen", target.line)
        yield from _destination(course, plan, page, path, target)


def _destination(course: Course, plan: Mapping[str, Any], page: Path, path: str, target: Target) -> Iterator[Problem]:
    """The target exists, and so does the anchor in it."""
    if re.match(r"[a-zA-Z][a-zA-Z+.-]*:", target.address):
        return
    name, _, fragment = target.address.partition("#")
    there = _resolve(PurePosixPath(path).parent, name) if name else path
    if there is None or not (there in plan or (course.root / there).exists()):
        mend = f"correct the path, or write the missing file and {BUILD}"
        yield Problem(path, f"The target {target.address!r} does not exist.", mend, target.line)
        return
    if not fragment or not there.endswith(".md"):
        return
    anchors, unsure = _anchors((course.root / there).read_text(encoding="utf-8"))
    if fragment in unsure:
        sentence = f"GitHub and the site differ about the anchor #{fragment}: its heading holds a comment."
        yield Problem(path, sentence, "link the page without the anchor", target.line)
    elif fragment not in anchors:
        mend = f"use one of: {', '.join(sorted(anchors)) or 'none, it has no headings'}"
        yield Problem(path, f"There is no heading for #{fragment} in {there}.", mend, target.line)


def _resolve(folder: PurePosixPath, target: str) -> str | None:
    """The path from the root; None if it leaves the course."""
    parts: list[str] = list(folder.parts)
    for part in target.split("/"):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or "."


@cache
def _anchors(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The anchors of a page, and those that GitHub may end with a dash because of a comment."""
    sure: set[str] = set()
    unsure: set[str] = set()
    tokens = parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = tokens[place + 1]
            name = base = anchor(plain(heading))
            count = 0
            while name in sure | unsure:
                count += 1
                name = f"{base}-{count}"
            (unsure if "<!--" in heading.content else sure).add(name)
    sure |= set(re.findall(r'<a\s+(?:id|name)="([^"]+)"', text))
    return frozenset(sure), frozenset(unsure)
