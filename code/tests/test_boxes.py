"""The box grammar: what is refused, where arrows end, how kinds differ."""

import pytest

pytest.importorskip("matplotlib")

from matplotlib.patches import Ellipse, FancyBboxPatch, Rectangle
from mcp_harness.boxes import Arrow, Box, Picture, Table, draw, ends


def test_an_unknown_kind_of_box_is_refused():
    with pytest.raises(ValueError, match="unknown kind of box 'person'"):
        Box("reader", 0, 0, 1, 1, "person")


def test_an_arrow_to_a_missing_or_doubled_box_is_refused():
    one = Box("host", 0, 0, 1, 1)
    with pytest.raises(ValueError, match="one box named 'server'"):
        Picture(1, (one,), (Arrow("host", "server"),))
    with pytest.raises(ValueError, match="one box named 'host'"):
        Picture(1, (one, one, Box("server", 0, 2, 1, 1)), (Arrow("host", "server"),))


def test_an_unknown_kind_of_arrow_is_refused():
    with pytest.raises(ValueError, match="unknown kind of arrow 'reply'"):
        Picture(1, (Box("a", 0, 0, 1, 1), Box("b", 0, 2, 1, 1)), (Arrow("a", "b", kind="reply"),))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (Box("a", 0, 0, 2, 1), Box("b", 0, 3, 2, 1), ((1, 1), (1, 3))),  # down
        (Box("a", 0, 3, 2, 1), Box("b", 0, 0, 2, 1), ((1, 3), (1, 1))),  # up
        (Box("a", 0, 0, 1, 1), Box("b", 3, 0, 1, 1), ((1, 0.5), (3, 0.5))),  # to the right
        (Box("a", 3, 0, 1, 1), Box("b", 0, 0, 1, 1), ((3, 0.5), (1, 0.5))),  # to the left
    ],
)
def test_an_arrow_runs_from_edge_to_edge(source, target, expected):
    assert ends(source, target) == expected


def test_each_kind_has_an_outline_of_its_own():
    kinds = ("host", "client", "server", "model")
    picture = Picture(5, tuple(Box(kind, 0.1, 0.1 + place, 1, 0.8, kind) for place, kind in enumerate(kinds)))
    (axes,) = draw(picture).axes
    host, client, server, model = axes.patches
    assert isinstance(host, FancyBboxPatch)
    assert isinstance(client, FancyBboxPatch)
    assert host.get_linewidth() > client.get_linewidth()
    assert isinstance(server, Rectangle)
    assert isinstance(model, Ellipse)


def test_marked_rows_of_a_table_have_a_sign_that_needs_no_colour():
    table = Table("table", 0, 0, (1, 1), ("name", "server"), (("a", "x"), ("b/a", "b")), marked=(1,))
    (axes,) = draw(Picture(1, (), tables=(table,))).axes
    assert [text.get_text() for text in axes.texts] == ["name", "server", "a", "x", "▸ b/a", "b"]
