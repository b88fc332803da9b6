"""The fenced blocks of a Markdown page: where they are, what they are, which options they carry."""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

RUN = "python"
LANGUAGES = (RUN, "py", "console", "text", "json")
OPTIONS = {RUN: ("id", "save", "raises"), "text": ("output",)}  # by language; the others take none
FLAGS = ("save", "output")  # options without a value
DIALECT = MarkdownIt("commonmark").enable("table")
OPTION = re.compile(r'\s+([a-z_]+)(?:="([^"]*)")?')


@dataclass(frozen=True)
class Fence:
    """One fenced block. Lines count from 1; `end` is the line of the closing fence."""

    language: str
    options: dict[str, str]
    leftover: str  # what follows the language and is no option
    content: str
    line: int
    end: int
    heading: str  # the nearest heading above, as in an anchor
    in_details: bool
    nested: bool  # inside a list or a quotation

    @property
    def is_output(self) -> bool:
        return self.language == "text" and "output" in self.options


def parse(text: str) -> list[Token]:
    """The tokens of a page, in the dialect that GitHub, Colab and the site share."""
    return DIALECT.parse(text)


def fences(text: str) -> list[Fence]:
    """All fenced blocks of a page, in order."""
    found, heading, depth = [], "", 0
    tokens = parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = anchor(plain(tokens[place + 1]))
        elif token.type == "html_block":
            depth += len(re.findall(r"<details\b", token.content)) - len(re.findall(r"</details>", token.content))
        elif token.type == "fence":
            found.append(_fence(token, heading, depth > 0))
    return found


def _fence(token: Token, heading: str, in_details: bool) -> Fence:
    language, rest = re.fullmatch(r"\s*(\S*)(.*)", token.info, re.DOTALL).groups()
    options = {name: value or "" for name, value in OPTION.findall(rest)}
    leftover = OPTION.sub("", rest).strip()
    first, last = token.map
    return Fence(
        language, options, leftover, token.content, first + 1, last, heading, in_details, nested=token.level > 0
    )


def plain(inline: Token) -> str:
    """The text of a heading without its markup and comments."""
    return "".join(part.content for part in inline.children or [] if part.type in ("text", "code_inline")).strip()


def anchor(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
