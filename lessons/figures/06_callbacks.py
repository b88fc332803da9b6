"""The figures of lesson 6: who may ask whom, and what waits for what.

The messages of the lane diagrams are those that the lesson's cells record; a test compares them.
"""

from mcp_harness import boxes, lanes
from mcp_harness.lanes import Mark, Message

SAMPLING = (
    Message("host", "asker", "call summarize", 3),
    Message("asker", "host", "createMessage", 1),
    Message("host", "model", "prompt"),
    Message("model", "host", "text", kind="result"),
    Message("host", "asker", "the text", 1, "result"),
    Message("asker", "host", "the summary", 3, "result"),
)

DEADLOCK = (
    Message("caller", "asker", "call summarize", 3),
    Message("asker", "reader", "createMessage", 1),
    Message("reader", "asker", "call count", 4),
    Mark("reader", "waits for id 4"),
    Message("asker", "reader", "result", 4, "result"),
    Mark("reader", "cannot read it"),
)

ROUNDS = (
    Message("host", "asker", "call summarize", 1),
    Message("asker", "host", "input_required", 1, "result"),
    Message("host", "model", "prompt"),
    Message("model", "host", "text", kind="result"),
    Message("host", "asker", "answers, state", 2),
    Message("asker", "host", "complete", 2, "result"),
)


def roles():
    """The client declares, the server asks; model and user are reached through the host's handlers only."""
    picture = boxes.Picture(
        height=4.5,
        boxes=(
            boxes.Box("model", 0.45, 0.06, 1.5, 0.44, "model"),
            boxes.Box("user", 2.55, 0.06, 1.5, 0.44, "model"),
            boxes.Box("host", 0.08, 0.98, 4.34, 1.72, "host"),
            boxes.Box("handlers", 0.6, 1.2, 3.3, 0.4, "part"),
            boxes.Box("client", 0.6, 2.14, 3.3, 0.4, "client"),
            boxes.Box("asker", 0.6, 4.0, 3.3, 0.42, "server"),
        ),
        arrows=(
            boxes.Arrow("handlers", "model", both=True),
            boxes.Arrow("handlers", "user", both=True),
            boxes.Arrow("client", "handlers", "a request goes to its handler", both=True),
        ),
    )
    figure = boxes.draw(picture)
    axes = figure.axes[0]
    lanes.arrow(axes, (1.3, 2.54), (1.3, 4.0), "request")
    lanes.write(axes, 1.3, 3.0, "declares:\ninitialize")
    lanes.arrow(axes, (3.2, 4.0), (3.2, 2.54), "request")
    lanes.write(axes, 3.2, 3.0, "asks:\ncreateMessage")
    lanes.arrow(axes, (2.25, 2.54), (2.25, 4.0), "result")
    lanes.write(axes, 2.25, 3.6, "replies")
    return figure


FIGURES = {
    "06_callbacks": roles,
    "06_callbacks-sampling": lambda: lanes.draw(lanes.Lanes(("model", "host", "asker"), SAMPLING)),
    "06_callbacks-deadlock": lambda: lanes.draw(lanes.Lanes(("caller", "reader", "asker"), DEADLOCK)),
    "06_callbacks-rounds": lambda: lanes.draw(lanes.Lanes(("model", "host", "asker"), ROUNDS)),
}
