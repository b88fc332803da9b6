"""Plots of a class, one picture for each exercise: the marks, the points by task, the most frequent messages."""

import re
import textwrap
from collections import Counter
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grader.assignment import Assignment
from grader.report import Row
from grader.work import Work

FULL, NONE, EDGE = "#0072B2", "#F0C9AE", "#333333"  # told apart without colour by their lightness and a hatch
MESSAGES = 8  # that are shown
CODE = re.compile(r"^.*?points\. ?", re.DOTALL)


def write_plots(rows: list[Row], work: Work, assignments: list[Assignment]) -> list[Path]:
    """Write one picture for each exercise with at least one graded notebook."""
    written = []
    for assignment in assignments:
        mine = [row for row in rows if row.record.assignment == assignment.slug]
        if any(row.marks for row in mine):
            path = work.folder / "report" / f"{assignment.slug}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            FigureCanvasAgg(draw(assignment, mine)).print_png(str(path))
            written.append(path)
    return written


def draw(assignment: Assignment, rows: list[Row]) -> Figure:
    """The three plots, one below the other."""
    messages = frequent_messages(rows)
    figure = Figure(figsize=(9, 7.5 + 0.55 * len(messages)), dpi=110, layout="constrained")
    heights = [3, 2.6, 0.8 + 0.75 * max(1, len(messages))]
    above, middle, below = figure.subplots(3, 1, height_ratios=heights)
    figure.suptitle(f"Exercise {assignment.lesson.number}: {assignment.lesson.title}", fontsize=13, fontweight="bold")
    _marks(above, rows)
    _tasks(middle, rows)
    _messages(below, messages)
    for axes in (above, middle, below):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _marks(axes: Axes, rows: list[Row]) -> None:
    """How many students have how many points."""
    scores = [row.marks.score for row in rows if row.marks and row.marks.score is not None]
    most = int(max(row.max_score or 0 for row in rows))
    bars = Counter(round(score) for score in scores)
    axes.bar(range(most + 1), [bars[points] for points in range(most + 1)], color=FULL, edgecolor=EDGE, width=0.85)
    others = Counter(row.record.status for row in rows if not row.marks)
    beside = "".join(f", {count} {status}" for status, count in sorted(others.items()))
    middle = sorted(scores)[len(scores) // 2] if scores else 0
    axes.set_title(f"Marks: {len(scores)} graded{beside}; the middle one has {middle:g} of {most}", loc="left")
    axes.set_xlabel("points")
    axes.set_ylabel("students")
    axes.set_xticks(range(most + 1))
    axes.yaxis.get_major_locator().set_params(integer=True)


def _tasks(axes: Axes, rows: list[Row]) -> None:
    """Which share of the graded students has the points of each task."""
    earned: dict[str, list[bool]] = {}
    for row in rows:
        for verdict in row.record.verdicts if row.marks else ():
            name = f"Task {verdict.task}: {textwrap.shorten(verdict.title, 34, placeholder=' …')}"
            earned.setdefault(name, []).append((row.marks.cells.get(verdict.cell) or 0) >= verdict.points)
    names = list(earned)
    shares = [100 * sum(earned[name]) / len(earned[name]) for name in names]
    axes.barh(names, shares, color=FULL, edgecolor=EDGE, label="all points")
    rest = [100 - share for share in shares]
    axes.barh(names, rest, left=shares, color=NONE, edgecolor=EDGE, hatch="//", label="not all points")
    for name, share in zip(names, shares, strict=True):
        side = {"ha": "right", "color": "white"} if share > 12 else {"ha": "left", "color": "black"}
        axes.text(share + (-1 if share > 12 else 1), name, f"{share:.0f} %", va="center", fontweight="bold", **side)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the graded students")
    axes.set_title("Points by task: which one was hard?", loc="left")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, borderaxespad=0.2)


def _messages(axes: Axes, messages: list[tuple[str, int]]) -> None:
    """What the checks said most often."""
    axes.set_title("Most frequent messages: what to talk about next time", loc="left")
    if not messages:
        axes.text(0.5, 0.5, "no task failed", ha="center", va="center", transform=axes.transAxes)
        axes.set_axis_off()
        return
    names = ["\n".join(textwrap.wrap(text, 58)[:3]) for text, _ in messages]
    places = range(len(names))
    axes.barh(places, [count for _, count in messages], color=FULL, edgecolor=EDGE, height=0.6)
    axes.set_yticks(places, names, fontsize=8.5)
    axes.invert_yaxis()
    axes.set_xlabel("students")
    axes.xaxis.get_major_locator().set_params(integer=True)


def frequent_messages(rows: list[Row]) -> list[tuple[str, int]]:
    """The messages of failed tasks and how many students got each. One that differs in its values only is one."""
    counts: Counter[str] = Counter()
    for row in rows:
        for verdict in row.record.verdicts:
            if verdict.earned < verdict.points:
                counts[f"Task {verdict.task}: {gist(verdict.line)}"] += 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MESSAGES]


def gist(line: str) -> str:
    """What a message says, without the values of one student."""
    message = CODE.sub("", line, count=1)
    if "Remember: " in message:
        message = message.split("Remember: ", 1)[1]
    message = re.sub(r" Standard error said: .*", "", message, flags=re.DOTALL)
    message = re.sub(r": the line `.*` is still there", "", message, flags=re.DOTALL)
    return textwrap.shorten(message.replace("$", r"\$"), 170, placeholder=" …")
