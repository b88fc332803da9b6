"""The figures of lesson 4. The death is drawn from the record of a run with real processes."""

import os
import signal
import sys
import threading
import time
from itertools import accumulate, islice, takewhile
from pathlib import Path

import main
from mcp_harness import lanes
from steps.step03_reader_thread import Connection

NOTES = [sys.executable, str(Path(main.__file__).parent / "servers" / "notes.py")]
CALLS = ("plan", "milk")


def delays():
    """As the lesson has it: 1, 2, 4, 8, 16, 30, 30 …"""
    delay = 1.0
    while True:
        yield delay
        delay = min(2 * delay, 30.0)


def death():
    """Two calls wait, the process is ended, both fail; then a new process."""
    with Connection("notes", NOTES) as first:
        failed = lose_calls(first)
    with Connection("notes", NOTES) as second:
        second.request("tools/call", {"name": "search", "arguments": {"query": "plan"}})
    rows = [*rows_of(first, "notes 1"), lanes.Mark("notes 1", "SIGTERM", "dead")]
    rows.append(lanes.Mark("host", "EOF: dead"))
    rows += [lanes.Mark("host", f"id {number} fails: {first.reason[-13:]}") for number in failed]
    return lanes.draw(lanes.Lanes(("host", "notes 1", "notes 2"), (*rows, *rows_of(second, "notes 2"))))


def lose_calls(connection):
    """Stop the process, send calls, end the process: the ids of the calls that failed."""
    failed = []

    def call(query):
        try:
            connection.request("tools/call", {"name": "search", "arguments": {"query": query}})
        except RuntimeError:
            failed.append(query)

    os.kill(connection.popen.pid, signal.SIGSTOP)
    callers = [threading.Thread(target=call, args=(query,)) for query in CALLS]
    for number, caller in enumerate(callers, 1):
        caller.start()
        while len(connection.record) < 5 + number:
            time.sleep(0.001)
    os.kill(connection.popen.pid, signal.SIGTERM)
    os.kill(connection.popen.pid, signal.SIGCONT)
    for caller in callers:
        caller.join()
    sent = {
        m["params"]["arguments"]["query"]: m["id"] for _, _, m in connection.record if m.get("method") == "tools/call"
    }
    return sorted(sent[query] for query in failed)


def rows_of(connection, lane):
    """The messages of a connection as rows of a lane diagram."""
    for _, arrow, message in connection.record:
        ends = ("host", lane) if arrow == "→" else (lane, "host")
        kind = "result" if "method" not in message else "request" if "id" in message else "notification"
        label = message.get("method", "result").removeprefix("notifications/")
        yield lanes.Message(*ends, label, message.get("id"), kind)


def axes_of(height, left=0.62, bottom=0.5):
    """Axes for a plot in the colours and the width of the lane diagrams."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(lanes.WIDTH, height), facecolor=lanes.PAPER)
    width = lanes.WIDTH - left - 0.1
    axes = figure.add_axes(
        (left / lanes.WIDTH, bottom / height, width / lanes.WIDTH, (height - bottom - 0.15) / height)
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=lanes.TEXT, colors=lanes.INK)
    return figure, axes


def delay_bars():
    """The delay after each failure in a row, with the cap and the notice."""
    figure, axes = axes_of(2.6)
    values = list(islice(delays(), 9))
    axes.bar(range(1, 10), values, color=lanes.TINT, edgecolor=lanes.BLUE, linewidth=1.4)
    axes.axhline(30, color=lanes.ORANGE, linestyle="-.", linewidth=1.4)
    axes.text(1, 31, "cap: 30 s", fontsize=lanes.TEXT, color=lanes.INK, va="bottom")
    for number, value in enumerate(values, 1):
        axes.text(
            number,
            value - 0.6 if value > 4 else value + 0.4,
            f"{value:g}",
            fontsize=lanes.TEXT,
            color=lanes.INK,
            ha="center",
            va="top" if value > 4 else "bottom",
        )
    axes.annotate(
        "one notice",
        (3, 7),
        (3, 18),
        fontsize=lanes.TEXT,
        color=lanes.INK,
        ha="center",
        arrowprops={"arrowstyle": "->", "color": lanes.INK},
    )
    axes.set(ylim=(0, 36), xticks=range(1, 10))
    axes.set_xlabel("failure in a row", fontsize=lanes.TEXT, color=lanes.INK)
    axes.set_ylabel("seconds to wait", fontsize=lanes.TEXT, color=lanes.INK)
    return figure


def crash_loop():
    """When a server that always crashes is started, under two rules, in two minutes."""
    figure, axes = axes_of(2.3, left=0.15)
    good = list(takewhile(lambda second: second <= 120, accumulate(delays())))
    rows = (("reset on sustained uptime", good, lanes.BLUE, "o"), ("reset on spawn", range(1, 121), lanes.ORANGE, "|"))
    for place, (label, starts, colour, marker) in enumerate(rows):
        y = 1 - place
        axes.plot(list(starts), [y] * len(starts), linestyle="none", marker=marker, color=colour, markersize=8)
        text = f"{label}: {len(starts)} starts"
        axes.text(0, y + 0.2, text, fontsize=lanes.TEXT, color=lanes.INK)
    axes.set(ylim=(-0.35, 1.55), yticks=[], xlim=(-2, 122), xticks=range(0, 121, 20))
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("seconds after the first death", fontsize=lanes.TEXT, color=lanes.INK)
    return figure


FIGURES = {
    "04_restart-death": death,
    "04_restart-delays": delay_bars,
    "04_restart-crash-loop": crash_loop,
}
