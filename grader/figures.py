"""Draw a lesson's figures: SVG for the page, PNG inside the notebook, the same bytes each time."""

import base64
import io
import runpy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course import Course, Lesson
from grader.problem import BuildError

SVG_DPI = 96  # pixels of a browser in an inch
PNG_SCALE = 2  # sharp on dense screens


@dataclass(frozen=True)
class Drawing:
    """One figure in both forms. `width` is what the page should give it, in pixels."""

    svg: bytes
    png: bytes
    width: int

    @property
    def data_uri(self) -> str:
        return "data:image/png;base64," + base64.b64encode(self.png).decode("ascii")


def draw(course: Course, lesson: Lesson) -> dict[str, Drawing]:
    """The figures of a lesson by stem; none if it has no figure script."""
    if not course.exists(lesson.figures):
        return {}
    import matplotlib

    matplotlib.use("Agg")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a reader's own matplotlibrc must not change the course
        matplotlib.rcParams["svg.hashsalt"] = lesson.slug
        figures = _load(course, lesson)
        return {stem: _draw(lesson, stem, figures[stem]) for stem in sorted(figures)}


def _load(course: Course, lesson: Lesson) -> dict[str, Callable[[], Any]]:
    code = str(course.root / "code")
    sys.path.insert(0, code)
    try:
        figures = runpy.run_path(str(course.root / lesson.figures)).get("FIGURES")
    except Exception as error:
        sentence = f"The script raised {type(error).__name__}: {error}."
        raise BuildError(lesson.figures, sentence, "run it with `python` and read the traceback") from error
    finally:
        sys.path.remove(code)
    if not isinstance(figures, dict) or not all(str(stem).startswith(lesson.slug) for stem in figures):
        mend = f'define FIGURES = {{"{lesson.slug}": function, …}}; each name begins with {lesson.slug}'
        raise BuildError(lesson.figures, "FIGURES is missing, or a name in it is not this lesson's.", mend)
    return figures


def _draw(lesson: Lesson, stem: str, function: Callable[[], Any]) -> Drawing:
    from matplotlib import pyplot

    try:
        figure = function()
    except Exception as error:
        sentence = f"The figure {stem!r} raised {type(error).__name__}: {error}."
        raise BuildError(lesson.figures, sentence, "call its function alone and read the traceback") from error
    svg, png = io.BytesIO(), io.BytesIO()
    figure.savefig(svg, format="svg", dpi=SVG_DPI, metadata={"Date": None, "Creator": None})
    figure.savefig(png, format="png", dpi=SVG_DPI * PNG_SCALE, metadata={"Software": None})
    width = round(figure.get_size_inches()[0] * SVG_DPI)
    pyplot.close(figure)
    return Drawing(svg.getvalue(), png.getvalue(), width)


def figure_path(stem: str) -> str:
    return f"lessons/figures/{stem}.svg"


def stem_of(path: str) -> str:
    """`figures/01_namespace.svg` → `01_namespace`."""
    return Path(path).stem
