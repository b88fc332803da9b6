"""Lane diagrams: one lane for each party, time downwards, each message an arrow with its id.

Data goes in as frozen values, a matplotlib Figure comes out; matplotlib is imported only to
draw. Colour never carries a meaning alone: each kind of arrow has a line style and a head of
its own, and text is dark on white. The widths suit a screen of 360 pixels.

    draw(Lanes(("host", "files"), (Message("host", "files", "tools/call", id=4),
                                   Message("files", "host", "result", id=4, kind="result"))))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 4.5  # inches; 10 points of text are then 11 pixels high where the figure is 360 pixels wide
ROW = 0.46  # inches from one message to the next
HEAD = 0.62  # inches above the first message, for the names of the lanes
TEXT = 10.0  # points
CHARACTER = 0.082  # inches; the average width of a character of TEXT, a little generous

# Okabe and Ito's hues, darkened until each has a contrast of 4.5:1 or more on white.
INK, QUIET, BLUE, GREEN, ORANGE, PURPLE = "#1a1a1a", "#6b6b6b", "#0072b2", "#00664b", "#a84300", "#8a3a6e"
TINT, PAPER = "#eef4f8", "#ffffff"  # fills behind INK


@dataclass(frozen=True)
class Style:
    """How one kind of arrow looks: a colour, and what says the same without colour."""

    colour: str
    line: str
    head: str


STYLES = {
    "request": Style(BLUE, "-", "-|>"),
    "result": Style(GREEN, "--", "->"),
    "error": Style(ORANGE, "-.", "->"),
    "notification": Style(PURPLE, ":", "->"),
}


@dataclass(frozen=True)
class Message:
    """An arrow from one lane to another. Without an id, as a notification has none."""

    source: str
    target: str
    label: str
    id: int | str | None = None
    kind: str = "request"  # a key of STYLES

    @property
    def text(self) -> str:
        """The label with the id in front."""
        return self.label if self.id is None else f"id {self.id}: {self.label}"


@dataclass(frozen=True)
class Mark:
    """Something that happens in one lane: a note, or a death, after which the lane is only dotted."""

    lane: str
    text: str
    kind: str = "note"  # "note" or "dead"


@dataclass(frozen=True)
class Lanes:
    """A lane diagram: the names from left to right, then what happens from top to bottom, one a row."""

    names: tuple[str, ...]
    rows: tuple[Message | Mark, ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            for name in (row.source, row.target) if isinstance(row, Message) else (row.lane,):
                if name not in self.names:
                    raise ValueError(f"no lane {name!r}: there are {', '.join(self.names)}")
            if isinstance(row, Message) and row.kind not in STYLES:
                raise ValueError(f"unknown kind of message {row.kind!r}: use one of {', '.join(STYLES)}")
            if isinstance(row, Mark) and row.kind not in ("note", "dead"):
                raise ValueError(f"unknown kind of mark {row.kind!r}: use note or dead")


def lane_x(lanes: Lanes) -> dict[str, float]:
    """Where each lane stands, in inches from the left."""
    step = WIDTH / len(lanes.names)
    return {name: step * (place + 0.5) for place, name in enumerate(lanes.names)}


def rows_y(lanes: Lanes) -> Iterator[tuple[float, Message | Mark]]:
    """How far down each row stands, in inches, with the row."""
    for place, row in enumerate(lanes.rows):
        yield HEAD + ROW * (place + 0.6), row


def inside(centre: float, text: str) -> float:
    """The centre of a text, moved so that the text stays inside the figure."""
    half = max(len(line) for line in text.split("\n")) * CHARACTER / 2 + 0.04
    return WIDTH / 2 if half > WIDTH / 2 else min(max(centre, half), WIDTH - half)


def canvas(height: float) -> tuple[Figure, Axes]:
    """An empty figure whose coordinates are inches from its top left corner."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), facecolor=PAPER)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, WIDTH), ylim=(height, 0))
    axes.set_axis_off()
    return figure, axes


def write(axes: Axes, x: float, y: float, text: str, **options: Any) -> None:
    """Dark text on a white ground, so that no line runs through it."""
    ground = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}
    settings = {"ha": "center", "va": "center", "fontsize": TEXT, "color": INK, "bbox": ground, "zorder": 4}
    axes.text(x, y, text, **{**settings, **options})


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
    """An arrow in the style of its kind."""
    style = STYLES[kind]
    look = {"arrowstyle": style.head, "linestyle": style.line, "color": style.colour, "linewidth": 1.8}
    axes.annotate("", xy=end, xytext=start, arrowprops={**look, "shrinkA": 0, "shrinkB": 1, "mutation_scale": 13})


def draw(lanes: Lanes) -> Figure:
    """The diagram as a matplotlib Figure."""
    height = HEAD + ROW * (len(lanes.rows) + 0.5)
    figure, axes = canvas(height)
    place = lane_x(lanes)
    died = {row.lane: y for y, row in rows_y(lanes) if isinstance(row, Mark) and row.kind == "dead"}
    for name, x in place.items():
        end = died.get(name, height)
        axes.plot([x, x], [HEAD - 0.16, end], color=QUIET, linewidth=1.2, zorder=1)
        axes.plot([x, x], [end, height], color=QUIET, linewidth=1.2, linestyle=(0, (1, 4)), zorder=1)
        frame = {"boxstyle": "square,pad=0.35", "facecolor": TINT, "edgecolor": INK, "linewidth": 1.2}
        write(axes, x, 0.26, name, bbox=frame)
    for y, row in rows_y(lanes):
        if isinstance(row, Message):
            start, end = place[row.source], place[row.target]
            arrow(axes, (start, y), (end, y), row.kind)
            write(axes, inside((start + end) / 2, row.text), y - 0.16, row.text)
        else:
            x = place[row.lane]
            marker, colour, size = ("X", ORANGE, 11) if row.kind == "dead" else ("o", INK, 6)
            axes.plot([x], [y], marker=marker, color=colour, markersize=size, linestyle="none", zorder=5)
            width = len(row.text) * CHARACTER
            side = 1 if x + width + 0.16 < WIDTH else -1
            write(axes, x + side * 0.14, y, row.text, ha="left" if side > 0 else "right")
    return figure
