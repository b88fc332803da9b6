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

FULL, EDGE = "#0072B2", "#333333"
KINDS = (  # told apart without colour by lightness and hatch; the last is the colour of their text
    ("all points", FULL, None, "white"),
    ("tried", "#F0C9AE", "//", "black"),
    ("not written", "#FFFFFF", None, "black"),
)
UNWRITTEN = "not written yet"
NO_LESSON = (
    UNWRITTEN,
    "Not run to its end",
    "were changed from inside",
    "did not end in time",
)  # nothing to talk about
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
    heights = [3.4, 3.4, 1.2 + 0.55 * max(1, len(messages))]
    figure = Figure(figsize=(9, sum(heights)), dpi=110, layout="constrained")
    parts = figure.subfigures(3, 1, height_ratios=heights)
    for part, plot in zip(parts, (_marks, _tasks, _messages), strict=True):
        axes = part.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        title = plot(axes, messages if plot is _messages else rows)
        part.suptitle(title, x=0.01, ha="left", fontsize=12)
    figure.suptitle(f"Exercise {assignment.lesson.number}: {assignment.lesson.title}", fontsize=14, fontweight="bold")
    return figure


def _marks(axes: Axes, rows: list[Row]) -> str:
    """How many students have how many points."""
    scores = [row.marks.score for row in rows if row.marks and row.marks.score is not None]
    most = int(max(row.max_score or 0 for row in rows))
    bars = Counter(round(score) for score in scores)
    axes.bar(range(most + 1), [bars[points] for points in range(most + 1)], color=FULL, edgecolor=EDGE, width=0.85)
    axes.set_xlabel("points")
    axes.set_ylabel("students")
    axes.set_xticks(range(most + 1))
    axes.yaxis.get_major_locator().set_params(integer=True)
    others = Counter(row.record.status for row in rows if not row.marks)
    beside = "".join(f", {count} {status}" for status, count in sorted(others.items()))
    middle = sorted(scores)[len(scores) // 2] if scores else 0
    return f"Marks: {len(scores)} graded{beside}. The middle mark is {middle:g} of {most}."


def _tasks(axes: Axes, rows: list[Row]) -> str:
    """Which share of the graded students solved each task, tried it, or left it as it was."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        for verdict in row.record.verdicts if row.marks else ():
            name = f"Task {verdict.task}: {textwrap.shorten(verdict.title, 34, placeholder=' …')}"
            solved = (row.marks.cells.get(verdict.cell) or 0) >= verdict.points
            unwritten = UNWRITTEN in verdict.line
            counts.setdefault(name, Counter())["all points" if solved else "not written" if unwritten else "tried"] += 1
    left = dict.fromkeys(counts, 0.0)
    for kind, colour, hatch, ink in KINDS:
        shares = {name: 100 * count[kind] / count.total() for name, count in counts.items()}
        axes.barh(
            list(counts),
            list(shares.values()),
            left=list(left.values()),
            color=colour,
            edgecolor=EDGE,
            hatch=hatch,
            label=kind,
        )
        for name, share in shares.items():
            if share >= 7:
                box = None if hatch is None else {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
                axes.text(left[name] + share / 2, name, f"{share:.0f} %", va="center", ha="center", color=ink, bbox=box)
            left[name] += share
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the graded students")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=3, frameon=False)
    return "Points by task: which one was hard?"


def _messages(axes: Axes, messages: list[tuple[str, int]]) -> str:
    """What the checks said most often."""
    title = "Most frequent messages: what to talk about next time"
    if not messages:
        axes.text(0.5, 0.5, "no task failed with a message", ha="center", va="center", transform=axes.transAxes)
        axes.set_axis_off()
        return title
    names = ["\n".join(textwrap.wrap(text, 64)[:3]) for text, _ in messages]
    places = range(len(names))
    axes.barh(places, [count for _, count in messages], color=FULL, edgecolor=EDGE, height=0.6)
    axes.set_yticks(places, names, fontsize=8.5)
    axes.invert_yaxis()
    axes.set_xlabel("students")
    axes.xaxis.get_major_locator().set_params(integer=True)
    return title


def frequent_messages(rows: list[Row]) -> list[tuple[str, int]]:
    """The messages of failed tasks and how many students got each. One that differs in its values only is one."""
    counts: Counter[str] = Counter()
    for row in rows:
        for verdict in row.record.verdicts:
            if verdict.earned < verdict.points and not any(text in verdict.line for text in NO_LESSON):
                counts[f"Task {verdict.task}: {gist(verdict.line)}"] += 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MESSAGES]


def gist(line: str) -> str:
    """What a message says, without the values of one student."""
    message = CODE.sub("", line, count=1)
    if "Remember: " in message:
        message = message.split("Remember: ", 1)[1]
    message = re.sub(r" Standard error said: .*", "", message, flags=re.DOTALL)
    return textwrap.shorten(message.replace("$", r"\$"), 170, placeholder=" …")
