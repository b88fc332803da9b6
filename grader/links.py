"""What a page points at: its links and images, those in its HTML too."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.fences import parse


@dataclass(frozen=True)
class Target:
    """Something a page points at."""

    address: str
    line: int
    alt: str | None = None  # of an image; None for a link


def targets(text: str) -> Iterator[Target]:
    """The links and images of a page, those in its HTML too."""
    lines = text.split("\n")
    for token in parse(text):
        first = token.map[0] if token.map else 0
        if token.type == "html_block":
            yield from _html_targets(token.content, first + 1)
        if token.type != "inline":
            continue
        for part in token.children or []:
            address = str(part.attrGet("src" if part.type == "image" else "href") or "")
            alt = part.content if part.type == "image" else None
            if part.type in ("image", "link_open") and address:
                yield Target(address, _line_of(address, lines, first), alt)
            elif part.type == "html_inline":
                yield from _html_targets(part.content, first + 1)


def _html_targets(html: str, line: int) -> Iterator[Target]:
    for tag in re.findall(r"<(?:a|img)\b[^>]*>", html):
        attributes = dict(re.findall(r'([a-z]+)\s*=\s*"([^"]*)"', tag))
        if "src" in attributes:
            yield Target(attributes["src"], line, attributes.get("alt", ""))
        elif "href" in attributes:
            yield Target(attributes["href"], line)


def _line_of(address: str, lines: list[str], first: int) -> int:
    """The line below `first` that holds the address."""
    found = (number for number, line in enumerate(lines[first:], first + 1) if address in line)
    return next(found, first + 1)
