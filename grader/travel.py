"""Text that leaves its checkout: a notebook may be opened in Colab, alone, so its links are addresses."""

import re
from collections.abc import Callable

from nbformat import NotebookNode

from grader.course import Course
from grader.fences import fences
from grader.links import targets
from grader.problem import BuildError

# Code spans come first: `table[name](arguments)` looks like a link and is none.
CODE = r"(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)"
IMAGE = r"!\[(?P<alt>[^\]]*)\]\((?P<image>[^)\s]+)\)"
LINK = r"\[(?P<text>[^\]]*)\]\((?P<link>[^)\s]+)\)"
SPANS = re.compile(f"{CODE}|{IMAGE}|{LINK}", re.DOTALL)

Image = Callable[[str, str], str]  # alternative text and path of a figure → what the notebook holds instead


def travelling(course: Course, folder: str, text: str, image: Image | None = None) -> str:
    """The Markdown of a page in `folder` with its links (and images) rewritten for a notebook."""

    def rewritten(span: re.Match[str]) -> str:
        if span["link"] is not None:
            return f"[{span['text']}]({notebook_link(course, folder, span['link'])})"
        if span["image"] is not None and image is not None and "://" not in span["image"]:
            return image(span["alt"], span["image"])
        return span[0]

    return outside_fences(text, lambda part: SPANS.sub(rewritten, part))


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Change the text before, between and after the fenced blocks."""
    lines, start, result = text.split("\n"), 0, []
    for fence in fences(text):
        result += [change("\n".join(lines[start : fence.line - 1])), *lines[fence.line - 1 : fence.end]]
        start = fence.end
    return "\n".join([*result, change("\n".join(lines[start:]))])


def notebook_link(course: Course, folder: str, target: str) -> str:
    """Where a link leads from a notebook: from a lesson to another lesson's notebook, else to the page on GitHub."""
    if re.match(r"[a-z]+:", target) or target.startswith("#"):
        return target
    path, _, fragment = target.partition("#")
    parts = folder.split("/")
    for part in path.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    place = "/".join(parts)
    slug = place.removeprefix("lessons/").removesuffix(".md")
    if folder == "lessons" and course.find(slug):
        return f"{slug}.ipynb"
    return course.page(place) + (f"#{fragment}" if fragment else "")


def require_travelling_links(path: str, cells: list[NotebookNode]) -> None:
    """Each link of a notebook is an address, or another notebook's name; otherwise a BuildError."""
    for cell in cells:
        for target in targets(cell.source) if cell.cell_type == "markdown" else ():
            if not re.match(r"[a-z]+:|#|[\w-]+\.ipynb$", target.address):
                sentence = f"The link to {target.address!r} is written in a form the build does not rewrite."
                raise BuildError(path, sentence, "write it as [text](path), with no title and no reference")
