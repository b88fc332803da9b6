"""Box pictures: who there is and who reaches whom. Hosts, clients, servers, models, tables, arrows.

Each kind of box has an outline of its own: a host is a thick rounded frame with its parts
inside, a client is rounded, a server has square corners, a model is an ellipse. Places are
inches from the top left corner; the picture is as wide as a lane diagram.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_harness.lanes import BLUE, GREEN, INK, PAPER, QUIET, STYLES, TINT, arrow, canvas, inside, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE = 0.25  # inches from one line of text, or row of a table, to the next
KINDS = ("host", "client", "server", "model", "part")


@dataclass(frozen=True)
class Box:
    """One party. The title stands in bold on top, `lines` below it; with `kind="host"` others stand inside."""

    name: str
    x: float  # of the left edge
    y: float  # of the upper edge
    width: float
    height: float
    kind: str = "part"  # one of KINDS
    lines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind of box {self.kind!r}: use one of {', '.join(KINDS)}")


@dataclass(frozen=True)
class Table:
    """A table with a head; the rows named in `marked` have a tint and a mark in front."""

    name: str
    x: float
    y: float
    widths: tuple[float, ...]  # of the columns
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: tuple[int, ...] = ()

    @property
    def width(self) -> float:
        """Of all columns together."""
        return sum(self.widths)

    @property
    def height(self) -> float:
        """Of head and rows together."""
        return LINE * (len(self.rows) + 1)


@dataclass(frozen=True)
class Arrow:
    """From one box to another, straight down, up or across; `both` gives it two heads."""

    source: str
    target: str
    label: str = ""
    kind: str = "request"  # a key of lanes.STYLES
    both: bool = False


@dataclass(frozen=True)
class Picture:
    """Boxes and tables with arrows between them."""

    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def parts(self) -> list[Box | Table]:
        """Whatever an arrow may point to."""
        return [*self.boxes, *self.tables]

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        for line in self.arrows:
            for name in (line.source, line.target):
                if names.count(name) != 1:
                    raise ValueError(f"an arrow needs one box named {name!r}: there are {', '.join(names)}")
            if line.kind not in STYLES:
                raise ValueError(f"unknown kind of arrow {line.kind!r}: use one of {', '.join(STYLES)}")


def ends(source: Box | Table, target: Box | Table) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where an arrow leaves one box and meets the other: edge to edge, upright or level."""
    left, right = max(source.x, target.x), min(source.x + source.width, target.x + target.width)
    if left < right:  # one stands above the other
        x = (left + right) / 2
        down = source.y < target.y
        return (x, source.y + source.height * down), (x, target.y + target.height * (not down))
    top, bottom = max(source.y, target.y), min(source.y + source.height, target.y + target.height)
    y = (top + bottom) / 2
    right_of = source.x < target.x
    return (source.x + source.width * right_of, y), (target.x + target.width * (not right_of), y)


def draw(picture: Picture) -> Figure:
    """The picture as a matplotlib Figure."""
    figure, axes = canvas(picture.height)
    for box in picture.boxes:
        draw_box(axes, box)
    for table in picture.tables:
        draw_table(axes, table)
    parts = {part.name: part for part in picture.parts}
    for line in picture.arrows:
        start, end = ends(parts[line.source], parts[line.target])
        arrow(axes, start, end, line.kind)
        if line.both:
            arrow(axes, end, start, line.kind)
        if line.label:
            write(axes, inside((start[0] + end[0]) / 2, line.label), (start[1] + end[1]) / 2, line.label)
    return figure


def draw_box(axes: Axes, box: Box) -> None:
    """The outline of its kind, the name, the lines."""
    from matplotlib.patches import Ellipse, FancyBboxPatch, Patch, Rectangle

    centre = box.x + box.width / 2
    outline: Patch
    if box.kind == "model":
        outline = Ellipse((centre, box.y + box.height / 2), box.width, box.height, **look(INK, 1.4))
    elif box.kind == "server":
        outline = Rectangle((box.x, box.y), box.width, box.height, **look(INK, 1.4))
    else:
        colour, width = {"host": (BLUE, 2.6), "client": (GREEN, 1.6), "part": (QUIET, 1.2)}[box.kind]
        shape = f"round,pad=0,rounding_size={0.12 if box.kind == 'host' else 0.08}"
        fill = TINT if box.kind == "host" else PAPER
        corner = (box.x, box.y)
        outline = FancyBboxPatch(corner, box.width, box.height, boxstyle=shape, **look(colour, width, fill))
    axes.add_patch(outline)
    if box.kind == "host":
        write(axes, box.x + 0.12, box.y + 0.17, box.name, ha="left", weight="bold", bbox=None)
        return
    top = box.y + box.height / 2 - LINE * len(box.lines) / 2
    write(axes, centre, top, box.name, weight="bold" if box.lines else "normal", bbox=None)
    for place, text in enumerate(box.lines, 1):
        write(axes, centre, top + LINE * place, text, bbox=None)


def draw_table(axes: Axes, table: Table) -> None:
    """Head, rows and the lines between them."""
    from matplotlib.patches import Rectangle

    for place, cells in enumerate((table.head, *table.rows)):
        y, marked = table.y + LINE * place, place - 1 in table.marked
        if marked or place == 0:
            axes.add_patch(Rectangle((table.x, y), table.width, LINE, facecolor=TINT, edgecolor="none", zorder=2))
        x = table.x
        for column, (text, width) in enumerate(zip(cells, table.widths, strict=True)):
            lead = "▸ " if marked and column == 0 else ""
            weight = "bold" if place == 0 else "normal"
            write(axes, x + 0.07, y + LINE / 2, lead + text, ha="left", weight=weight, bbox=None)
            x += width
        axes.plot([table.x, table.x + table.width], [y, y], color=INK if place < 2 else QUIET, linewidth=0.8)
    for edge in range(1, len(table.widths)):
        x = table.x + sum(table.widths[:edge])
        axes.plot([x, x], [table.y, table.y + table.height], color=QUIET, linewidth=0.8)
    axes.add_patch(Rectangle((table.x, table.y), table.width, table.height, **{**look(INK, 1.4, "none"), "zorder": 3}))


def look(colour: str, width: float, fill: str = PAPER) -> dict[str, Any]:
    """Fill and outline of a patch."""
    return {"facecolor": fill, "edgecolor": colour, "linewidth": width, "zorder": 2}
