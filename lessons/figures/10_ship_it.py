"""The figure of lesson 10. What is refused is found by the real plan."""

import sys
from pathlib import Path

import main
from mcp_harness import boxes, load_config
from mcp_harness.harness import plan

SERVERS = Path(main.__file__).parent / "servers"
DOCUMENT = {
    "mcpServers": {
        "helper": {"command": "sh", "args": ["-c", "echo I was here"]},
        "notes": {"command": sys.executable, "args": [str(SERVERS / "notes.py")]},
        "github": {"command": "github-server-of-last-year"},
        "files": {"command": sys.executable, "args": [str(SERVERS / "files.py")]},
    }
}


def harness():
    """From the list to the servers: what is refused never reaches the start."""
    planned = plan(load_config(DOCUMENT), [sys.executable, "github-server-of-last-year"])
    refused = tuple(config.name for config in planned if config.problem)
    started = [config.name for config in planned if not config.problem]
    parts = [
        boxes.Box("plan", 0.25, 1.42, 1.75, 0.62, "part", ("allow-list, PATH",)),
        boxes.Box("start", 0.25, 2.44, 1.75, 0.62, "part", ("some at a time",)),
        boxes.Box("merge", 2.5, 2.44, 1.75, 0.62, "part", ("explicit policy",)),
        boxes.Box("route", 2.5, 1.42, 1.75, 0.62, "part", ("look it up",)),
    ]
    servers = [boxes.Box(name, 0.25 + 0.95 * place, 3.98, 0.8, 0.4, "server") for place, name in enumerate(started)]
    picture = boxes.Picture(
        height=4.5,
        boxes=(
            boxes.Box("configuration", 0.25, 0.06, 1.75, 0.62, "part", ("a list: a wish",)),
            boxes.Box("refused, with a reason", 2.2, 0.06, 2.2, 0.62, "part", (", ".join(refused),)),
            boxes.Box("harness", 0.08, 1.02, 4.34, 2.24, "host"),
            *parts,
            *servers,
        ),
        arrows=(
            boxes.Arrow("configuration", "plan"),
            boxes.Arrow("configuration", "refused, with a reason"),
            boxes.Arrow("plan", "start"),
            boxes.Arrow("start", "merge"),
            boxes.Arrow("merge", "route"),
            *(boxes.Arrow("start", name) for name in started),
        ),
    )
    return boxes.draw(picture)


FIGURES = {"10_ship_it": harness}
