"""The figures of lesson 8: who enters and leaves a client, and what the SDK asks a server first."""

from mcp_harness import lanes
from mcp_harness.lanes import Mark, Message


def owner_tasks():
    """Each owner enters and leaves its own client, whatever the order of the stops."""
    rows = (
        Message("your code", "owner notes", "start"),
        Message("your code", "owner files", "start"),
        Mark("owner notes", "enters"),
        Mark("owner files", "enters"),
        Message("owner notes", "your code", "ready", kind="result"),
        Message("owner files", "your code", "ready", kind="result"),
        Message("your code", "owner notes", "stop"),
        Mark("owner notes", "leaves"),
        Message("your code", "owner files", "stop"),
        Mark("owner files", "leaves"),
    )
    return lanes.draw(lanes.Lanes(("owner notes", "your code", "owner files"), rows))


def eras():
    """What the SDK writes to a server of each revision before it lists the tools."""
    rows = (
        Message("host", "old server", "server/discover", 1),
        Message("old server", "host", "error", 1, "error"),
        Message("host", "old server", "initialize", 2),
        Message("old server", "host", "result", 2, "result"),
        Message("host", "old server", "initialized"),
        Message("host", "old server", "tools/list", 3),
        Message("host", "new server", "server/discover", 1),
        Message("new server", "host", "result", 1, "result"),
        Message("host", "new server", "tools/list", 2),
    )
    return lanes.draw(lanes.Lanes(("old server", "host", "new server"), rows))


FIGURES = {"08_sdk_port": owner_tasks, "08_sdk_port-eras": eras}
