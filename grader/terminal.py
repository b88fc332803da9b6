"""What every command shares: where it prints, and how it says what went wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.console import Console

console = Console(highlight=False, soft_wrap=True)


@contextmanager
def sentences() -> Iterator[None]:
    """Turn what a reader can mend into one sentence and exit code 2."""
    from grader.course import CourseError

    try:
        yield
    except CourseError as error:
        fail(str(error))
    except ImportError as error:
        fail(f"The package {error.name} is missing. Use .venv/bin/python, or: pip install -e '.[grader]'")


def fail(sentence: str) -> NoReturn:
    """Say what is wrong and stop with exit code 2."""
    console.print(sentence, style="red", markup=False)
    raise typer.Exit(2)
