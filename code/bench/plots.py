"""The plots: SVG, colours that everybody can tell apart, and a hatch or a mark besides the colour."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from bench import plan
from bench.report import three_digits
from bench.stats import spread
from matplotlib import pyplot
from matplotlib.axes import Axes

# Okabe and Ito's palette; the hatch and the mark tell the same without colour
STYLES: dict[str, tuple[str, str, str]] = {
    plan.FLOOR: ("#999999", "....", "x"),
    plan.OURS: ("#0072B2", "", "o"),
    plan.OURS_ON_SDK: ("#56B4E9", "||", "P"),
    plan.SESSION: ("#F0E442", "\\\\", "v"),
    plan.CLIENT: ("#E69F00", "//", "s"),
    plan.SESSION_GROUP: ("#D55E00", "xx", "D"),
    plan.FAST: ("#009E73", "--", "^"),
    plan.FAST_GROUP: ("#009E73", "--", "^"),
}
FONT = 13  # points: readable on a telephone
STABLE: Any = {"svg.hashsalt": "bench", "svg.fonttype": "path", "font.size": FONT}  # same numbers, same bytes


def draw(run: Mapping[str, Any], folder: Path) -> None:
    """All plots of a run, of the server of 2025-11-25, which every client can face."""
    results = run["results"][plan.ERAS[0]]
    servers: Sequence[int] = run["size"]["servers"]
    with pyplot.rc_context(STABLE):
        speed(results, folder / "speed.svg")
        connect(results, servers, folder / "connect.svg")
        weight(results, max(servers), folder / "weight.svg")


def speed(results: Mapping[str, Any], path: Path) -> None:
    """Latency and throughput of an echo."""
    figure, (left, right) = pyplot.subplots(2, 1, figsize=(7, 7), layout="constrained")
    bars(left, results["echo"], "ms", "Echo, one in flight: milliseconds, less is better")
    bars(right, results["flight"], "per_s", "32 in flight: calls a second, more is better")
    save(figure, path)


def weight(results: Mapping[str, Any], most: int, path: Path) -> None:
    """What many servers cost."""
    figure, (first, second, third) = pyplot.subplots(3, 1, figsize=(7, 9.5), layout="constrained")
    many = results[f"many-{most}"]
    bars(first, many, "mb", f"{most} servers: memory of the client in MB")
    bars(second, many, "calls_s", f"{most} calls at once: seconds")
    bars(third, many, "close_s", f"Closing {most}: seconds")
    save(figure, path)


def bars(axes: Axes, peers: Mapping[str, Mapping[str, Sequence[float | None]]], value: str, title: str) -> None:
    """A bar for each client that has the value, with its number."""
    found = {peer: spread(values.get(value, ())) for peer, values in peers.items()}
    there = {peer: one.median for peer, one in found.items() if one is not None}
    for row, (peer, height) in enumerate(there.items()):
        colour, hatch, _ = STYLES[peer]
        axes.barh(row, height, color=colour, hatch=hatch, edgecolor="black", linewidth=0.8)
        axes.annotate(three_digits(height), (height, row), (4, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(there)), list(there))
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.locator_params(axis="x", nbins=5)
    axes.set_title(title, loc="left", fontsize=FONT)
    axes.spines[["top", "right"]].set_visible(False)


def connect(results: Mapping[str, Any], servers: Sequence[int], path: Path) -> None:
    """Connect + list against the number of servers."""
    figure, axes = pyplot.subplots(figsize=(7, 5), layout="constrained")
    for peer in plan.MANY:
        points = [
            (number, one.median)
            for number in servers
            if (one := spread(results[f"many-{number}"].get(peer, {}).get("open_s", ())))
        ]
        if points:
            colour, _, mark = STYLES[peer]
            style = ":" if peer == plan.FLOOR else "-"
            xs, ys = zip(*points, strict=True)
            axes.plot(xs, ys, color=colour, marker=mark, linestyle=style, linewidth=2, markersize=8, label=peer)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(list(servers), [str(number) for number in servers])
    axes.minorticks_off()
    low, high = axes.get_ylim()
    ticks = [tick for tick in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= tick <= high]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlabel("servers")
    axes.set_title("Connect and list: seconds, less is better", loc="left", fontsize=FONT)
    axes.grid(True, alpha=0.3)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def save(figure: Any, path: Path) -> None:
    """Write without the date, so that the same numbers give the same file."""
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
