"""The figures of lesson 9: what comes first, who was only slow, what was lost, what a restart means.

The messages of the lane diagrams are those that the lesson's cells record; a test compares them.
"""

from mcp_harness import lanes
from mcp_harness.lanes import Mark, Message

OPENING = (
    Message("host", "old server", "initialize", 1),
    Message("old server", "host", "result", 1, "result"),
    Message("host", "old server", "initialized", kind="notification"),
    Message("host", "old server", "tools/list", 2),
    Message("old server", "host", "result", 2, "result"),
    Message("host", "new server", "tools/list, _meta", 1),
    Message("new server", "host", "result", 1, "result"),
)

RACE = (
    Message("host", "slow server", "server/discover", 1),
    Mark("host", "patience is over"),
    Message("host", "slow server", "cancelled", kind="notification"),
    Message("host", "slow server", "initialize", 2),
    Message("slow server", "host", "result, late", 1, "result"),
    Message("slow server", "host", "error -32022", 2, "error"),
    Message("host", "slow server", "server/discover", 3),
    Message("slow server", "host", "result", 3, "result"),
)

LOST = (
    Message("host", "changing", "subscriptions/listen", 3),
    Message("changing", "host", "acknowledged", kind="notification"),
    Message("host", "changing", "tools/call grow", 4),
    Mark("changing", "list_changed is lost"),
    Message("changing", "host", "result", 4, "result"),
    Mark("host", "60 s later: poll"),
    Message("host", "changing", "tools/list", 5),
    Message("changing", "host", "result, one tool more", 5, "result"),
)

RESTART = (
    Mark("server", "killed, started again"),
    Message("new client", "server", "tools/call", 4),
    Message("server", "new client", "200", 4, "result"),
    Message("old client", "server", "call, session A", 5),
    Message("server", "old client", "404", kind="error"),
    Message("old client", "server", "initialize", 1),
    Message("server", "old client", "200, session B", 1, "result"),
    Message("old client", "server", "initialized, session B", kind="notification"),
    Message("old client", "server", "call, session B", 6),
    Message("server", "old client", "200", 6, "result"),
)

FIGURES = {
    "09_stateless": lambda: lanes.draw(lanes.Lanes(("old server", "host", "new server"), OPENING)),
    "09_stateless-race": lambda: lanes.draw(lanes.Lanes(("host", "slow server"), RACE)),
    "09_stateless-lost": lambda: lanes.draw(lanes.Lanes(("host", "changing"), LOST)),
    "09_stateless-http": lambda: lanes.draw(lanes.Lanes(("old client", "server", "new client"), RESTART)),
}
