"""The lane diagram: what is refused, what stays inside, what can be told apart without colour."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from mcp_harness import lanes
from mcp_harness.lanes import Lanes, Mark, Message, draw

CODE = Path(lanes.__file__).resolve().parents[1]


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2 for a colour like #0072b2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_module_imports_without_matplotlib():
    code = "import sys; from mcp_harness import lanes, boxes; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=CODE, check=False).returncode == 0


@pytest.mark.parametrize("colour", ["INK", "QUIET", "BLUE", "GREEN", "ORANGE", "PURPLE"])
def test_each_colour_stands_out_from_both_grounds(colour):
    assert contrast(getattr(lanes, colour), lanes.PAPER) >= 4.5
    assert contrast(getattr(lanes, colour), lanes.TINT) >= 4.5


def test_kinds_of_arrows_differ_without_colour():
    looks = [(style.line, style.head) for style in lanes.STYLES.values()]
    assert len(set(looks)) == len(looks)


def test_a_message_shows_its_id_and_a_notification_shows_none():
    assert Message("a", "b", "tools/list", id=3).text == "id 3: tools/list"
    assert Message("a", "b", "initialized", kind="notification").text == "initialized"


def test_an_unknown_lane_is_refused_by_name():
    with pytest.raises(ValueError, match="no lane 'files': there are host, notes"):
        Lanes(("host", "notes"), (Message("host", "files", "x"),))


@pytest.mark.parametrize("row", [Message("a", "b", "x", kind="reply"), Mark("a", "x", kind="reply")])
def test_an_unknown_kind_is_refused(row):
    with pytest.raises(ValueError, match="'reply'"):
        Lanes(("a", "b"), (row,))


def test_arrows_run_from_the_source_lane_to_the_target_lane_and_time_runs_down():
    diagram = Lanes(("a", "b"), (Message("a", "b", "ask", id=1), Message("b", "a", "answer", id=1, kind="result")))
    place = lanes.lane_x(diagram)
    (axes,) = draw(diagram).axes
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None)]
    assert [arrow.xy[0] for arrow in arrows] == [place["b"], place["a"]]
    assert arrows[0].xy[1] < arrows[1].xy[1]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the axis points down


def test_no_text_leaves_the_figure():
    names = ("model", "host", "notes", "files", "github")
    rows = (
        Message("model", "host", "a rather long label at the left edge", id=1),
        Message("files", "github", "a rather long label at the right edge", id=2),
        Mark("github", "this server is dead", "dead"),
        Mark("model", "a note", "note"),
    )
    figure = draw(Lanes(names, rows))
    figure.canvas.draw()
    for text in figure.axes[0].texts:
        if text.get_text():
            box = text.get_window_extent()
            assert 0 <= box.x0 < box.x1 <= figure.bbox.width, text.get_text()


def test_a_lane_is_only_dotted_after_its_death():
    (axes,) = draw(Lanes(("a", "b"), (Message("a", "b", "x"), Mark("b", "dead", "dead")))).axes
    solid = [line for line in axes.lines if line.get_linestyle() == "-"]
    ends = {round(line.get_xdata()[0], 3): max(line.get_ydata()) for line in solid}
    alive, dead = ends.values()
    assert dead < alive
