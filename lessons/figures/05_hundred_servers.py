"""The figures of lesson 5. What was measured stands in outputs/hundred_servers.json.

`python lessons/figures/05_hundred_servers.py` measures again on this machine and writes that file.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from mcp_harness import lanes

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "outputs" / "hundred_servers.json"
SERVERS = ROOT / "code" / "servers"
KINDS = ("notes", "files", "github")
WAITING = f"""
import sys, time
sys.path.insert(0, {str(SERVERS.parent)!r})
import main
from servers.stdio_loop import serve

time.sleep(0.8)
serve(main.make_files_server())
"""


def measured():
    """The data of the last measurement."""
    return json.loads(DATA.read_text(encoding="utf-8"))


def axes_of(figure, left, bottom, width, height):
    """Axes at a place in inches from the lower left corner, in the colours of the lane diagrams."""
    total_width, total_height = figure.get_size_inches()
    axes = figure.add_axes((left / total_width, bottom / total_height, width / total_width, height / total_height))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=lanes.TEXT, colors=lanes.INK)
    return axes


def title(axes, text):
    """The title of a plot."""
    axes.set_title(text, fontsize=lanes.TEXT, color=lanes.INK, loc="left")


def hundred():
    """Time, memory and descriptors against the number of servers."""
    from matplotlib.figure import Figure

    data = measured()
    numbers = range(1, data["servers"] + 1)
    figure = Figure(figsize=(lanes.WIDTH, 6.3), facecolor=lanes.PAPER)
    time_axes = axes_of(figure, 0.5, 4.1, 3.2, 1.8)
    lines = (("one by one", data["in_sequence"], lanes.ORANGE, "-."), ("8 at once", data["at_once"], lanes.BLUE, "-"))
    for label, seconds, colour, line in lines:
        text = f"{label}: {seconds[-1]:.1f} s"
        time_axes.plot(numbers, seconds, color=colour, linestyle=line, linewidth=1.8, label=text)
    time_axes.legend(frameon=False, fontsize=lanes.TEXT, labelcolor=lanes.INK, loc="upper left")
    title(time_axes, "seconds until ready")
    rows = (
        ("megabytes of all server processes", data["megabytes"], lanes.GREEN, f"{data['megabytes'][-1]:.0f} MB", 2.25),
        ("descriptors of the host", data["descriptors"], lanes.PURPLE, f"{data['descriptors'][-1]:.0f}", 0.5),
    )
    for text, values, colour, last, bottom in rows:
        axes = axes_of(figure, 0.5, bottom, 3.2, 1.2)
        axes.plot(numbers, values, color=colour, linewidth=1.8)
        axes.text(numbers[-1] + 2, values[-1], last, fontsize=lanes.TEXT, color=lanes.INK, va="center")
        title(axes, text)
    axes.set_xlabel("servers", fontsize=lanes.TEXT, color=lanes.INK)
    return figure


def starts():
    """When each of six waiting servers was started and ready: one by one, and three at once."""
    from matplotlib.figure import Figure

    data = measured()["waiting"]
    figure = Figure(figsize=(lanes.WIDTH, 3.7), facecolor=lanes.PAPER)
    longest = max(end for spans in data.values() for _, end in spans)
    for text, spans, bottom in (("one by one", data["1"], 2.2), ("3 at once", data["3"], 0.5)):
        axes = axes_of(figure, 0.3, bottom, 4.0, 1.15)
        for place, (begin, end) in enumerate(spans):
            axes.barh(
                -place, end - begin, left=begin, color=lanes.TINT, edgecolor=lanes.BLUE, linewidth=1.2, height=0.8
            )
        axes.set(xlim=(0, longest * 1.05), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.tick_params(labelbottom=bottom < 1)
        title(axes, f"{text}: all ready after {max(end for _, end in spans):.1f} s")
    axes.set_xlabel("seconds", fontsize=lanes.TEXT, color=lanes.INK)
    return figure


def trie():
    """A trie of four names; runs of single nodes are drawn as one edge."""
    height = 3.3
    figure, axes = lanes.canvas(height)
    places = {"": (0.3, 1.65), "files/re": (1.5, 0.95), "notes/": (1.5, 2.45)}
    edges = [("", "files/re", "files/re"), ("", "notes/", "notes/")]
    ends = {
        "files/read": (2.75, 0.45),
        "files/rename": (2.75, 1.4),
        "notes/create": (2.75, 2.0),
        "notes/search": (2.75, 2.95),
    }
    edges += [("files/re", "files/read", "ad"), ("files/re", "files/rename", "name")]
    edges += [("notes/", "notes/create", "create"), ("notes/", "notes/search", "search")]
    places |= ends
    for start, end, text in edges:
        (x0, y0), (x1, y1) = places[start], places[end]
        axes.plot([x0, x1], [y0, y1], color=lanes.BLUE, linewidth=1.6, zorder=1)
        lanes.write(axes, (x0 + x1) / 2, (y0 + y1) / 2, text)
    for name, (x, y) in places.items():
        is_end = name in ends
        axes.plot(
            [x], [y], marker="s" if is_end else "o", color=lanes.GREEN if is_end else lanes.BLUE, markersize=9, zorder=5
        )
        if is_end:
            lanes.write(axes, x + 0.16, y, name, ha="left", bbox=None)
    lanes.write(axes, 0.3, 1.95, "root", bbox=None)
    for name, count in (("files/re", 2), ("notes/", 2)):
        x, y = places[name]
        lanes.write(axes, x - 0.15, y + (-0.24 if y < 1.65 else 0.26), f"{count} names", bbox=None)
    return figure


FIGURES = {
    "05_hundred_servers": hundred,
    "05_hundred_servers-starts": starts,
    "05_hundred_servers-trie": trie,
}


# --- Measuring ---------------------------------------------------------------------------


def fleet(size):
    """The commands of so many servers."""
    names = [f"{KINDS[number % 3]}-{number}" for number in range(size)]
    return {name: [sys.executable, str(SERVERS / f"{name.split('-')[0]}.py")] for name in names}


def start(commands, at_once):
    """Start and close the servers: for each when it was started and ready, the memory of each, our descriptors."""
    from steps.step05_hundred_servers import close_all, connect_all

    descriptors = len(os.listdir("/dev/fd"))
    began = time.monotonic()
    ready, failed = connect_all(commands, at_once, timeout=120)
    try:
        assert not failed, failed
        spans = [[round(c.record[place][0] - began, 3) for place in (0, -1)] for c in ready.values()]
        held = len(os.listdir("/dev/fd")) - descriptors
        return spans, [round(memory(c), 1) for c in ready.values()], held / len(ready)
    finally:
        close_all(ready)


def memory(connection):
    """Megabytes of a process, shared pages in part."""
    lines = Path(f"/proc/{connection.popen.pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def measure(servers=100):
    """Measure on this machine and write the data."""
    one_by_one, memories, each = start(fleet(servers), 1)
    at_once, _, _ = start(fleet(servers), 8)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "waiting.py")
        script.write_text(WAITING)
        waiting = {f"waiting-{number}": [sys.executable, str(script)] for number in range(6)}
        spans = {str(bound): start(waiting, bound)[0] for bound in (1, 3)}
    data = {
        "servers": servers,
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
        "in_sequence": sorted(end for _, end in one_by_one),
        "at_once": sorted(end for _, end in at_once),
        "megabytes": [round(sum(memories[:number]), 1) for number in range(1, servers + 1)],
        "descriptors": [number * each for number in range(1, servers + 1)],
        "waiting": spans,
    }
    DATA.write_text(json.dumps(data) + "\n", encoding="utf-8")
    print({key: value[-1] if isinstance(value, list) else value for key, value in data.items()})


if __name__ == "__main__":
    measure()
