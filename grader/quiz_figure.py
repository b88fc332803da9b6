"""Draw a question's setup as SVG, in the box grammar of the course: the same bytes on every build.

`mcp_harness.boxes` says how a host, a client, a server and a model look. What a question
needs beyond that is here: a dead server, what the model asks for, an answer, one process.
"""

import io
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from grader.quiz_setup import POLICIES, Setup

try:
    import mcp_harness  # noqa: F401
except ImportError:  # a checkout that is not installed
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "code"))
from mcp_harness import boxes, lanes
from mcp_harness.boxes import Arrow, Box, Picture, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOST_X, HOST_WIDTH = 0.12, 1.42  # inches
SERVER_X = 2.1
SERVER_WIDTH = lanes.WIDTH - SERVER_X - 0.12
ROW, GAP = 0.58, 0.14  # a server's box and the space below it
LINE = 0.2  # inches from one line of an answer to the next
ANSWER = 30  # characters in one line of an answer


def picture(setup: Setup) -> Picture:
    """Host with its clients on the left, the servers on the right, the model above, the table below."""
    host_y = 0.98 if setup.calls or setup.sees else 0.14
    y = host_y + (0.6 if setup.policy else 0.4)
    pairs: list[Box] = []
    wires: list[Arrow] = []
    for number, server in enumerate(setup.servers, 1):
        client = f"client {number}"
        pairs.append(Box(client, HOST_X + 0.14, y + 0.1, HOST_WIDTH - 0.28, ROW - 0.2, "client"))
        pairs.append(Box(server.name, SERVER_X, y, SERVER_WIDTH, ROW, "server", (", ".join(server.tools),)))
        if not server.dead:
            wires.append(Arrow(client, server.name, both=True))
        y += ROW + GAP + LINE * len(answer(setup, server.name))
    parties = [Box("host", HOST_X, host_y, HOST_WIDTH, y - host_y, "host"), *pairs]
    if setup.calls or setup.sees:
        parties.append(Box("model", HOST_X + 0.1, 0.1, HOST_WIDTH - 0.2, 0.4, "model"))
    if setup.calls:
        wires.append(Arrow("model", "host"))
    if setup.sees:
        wires.append(Arrow("host", "model", kind="result"))
    tables = ()
    if setup.table:
        widths = (1.7, 1.2, lanes.WIDTH - 2 * HOST_X - 2.9)
        tables = (Table("table", HOST_X, y + 0.16, widths, ("canonical name", "server", "local name"), setup.table),)
        y += 0.16 + tables[0].height
    return Picture(y + (0.42 if setup.process else 0.14), tuple(parties), tuple(wires), tables)


def answer(setup: Setup, server: str) -> list[str]:
    """The lines below a server's box that tell what it answers."""
    return textwrap.wrap(f"answers {setup.reply[1]}", ANSWER) if setup.reply and setup.reply[0] == server else []


def draw(setup: Setup) -> "Figure":
    """The setup as a matplotlib Figure."""
    plan = picture(setup)
    figure = boxes.draw(plan)
    axes = figure.axes[0]
    place = {box.name: box for box in plan.boxes}
    host = place["host"]
    if setup.policy:
        _write(axes, host.x + 0.12, host.y + 0.42, f"policy {POLICIES[setup.policy]}")
    if setup.calls or setup.sees:
        words = f"calls {', '.join(setup.calls)}" if setup.calls else f"sees {setup.sees}"
        _write(axes, host.x + host.width / 2 + 0.14, (0.5 + host.y) / 2, words)
    for number, server in enumerate(setup.servers, 1):
        box = place[server.name]
        if server.dead:
            _cut(axes, place[f"client {number}"], box)
        for line, words in enumerate(answer(setup, server.name)):
            _write(axes, box.x + 0.06, box.y + box.height + 0.13 + LINE * line, words)
    if setup.process:
        left, right, top, bottom = 0.04, lanes.WIDTH - 0.04, host.y - 0.08, plan.height - 0.06
        xs, ys = [left, right, right, left, left], [top, top, bottom, bottom, top]
        axes.plot(xs, ys, color=lanes.QUIET, dashes=(4, 2))
        _write(axes, lanes.WIDTH - 0.14, bottom - 0.16, "one process", ha="right")
    return figure


def _cut(axes: "Axes", client: Box, server: Box) -> None:
    """A dead server: a dotted wire with the mark that lane diagrams use, and a dashed outline."""
    left, right, y = client.x + client.width, server.x, server.y + server.height / 2
    axes.plot([left, right], [y, y], color=lanes.QUIET, linewidth=1.2, linestyle=(0, (1, 3)))
    axes.plot([(left + right) / 2], [y], marker="X", color=lanes.ORANGE, markersize=11, zorder=5)
    xs = [server.x, server.x + server.width, server.x + server.width, server.x, server.x]
    ys = [server.y, server.y, server.y + server.height, server.y + server.height, server.y]
    axes.plot(xs, ys, color=lanes.PAPER, linewidth=2.4, linestyle=(0, (3, 3)), zorder=3)
    _write(axes, server.x + server.width - 0.1, server.y + 0.17, "dead", ha="right", color=lanes.ORANGE)


def _write(axes: "Axes", x: float, y: float, words: str, **options: str) -> None:
    lanes.write(axes, x, y, words, **{"ha": "left", "bbox": None, **options})


def svg(setup: Setup, salt: str) -> bytes:
    """The figure as SVG without a date; `salt` (the question's id) makes its inner ids its own."""
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a reader's own matplotlibrc must not change the course
        matplotlib.rcParams["svg.hashsalt"] = salt
        draw(setup).savefig(buffer, format="svg", dpi=96, metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
