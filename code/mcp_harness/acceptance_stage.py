"""The stage of the acceptance run: a list of servers, good and bad, and what is known about each.

Guarantees: the names are new in each run, so no harness can know them; every process notes its
pid before it becomes the server, so the run knows what was started and what is left.
"""

import contextlib
import json
import os
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CODE = Path(__file__).resolve().parents[1]
SERVERS = CODE / "servers"

START_LIMIT, REAL_START_LIMIT = 10.0, 60.0  # seconds to open a harness

# What each server is started with: it notes its pid, then becomes the server, under the same pid.
STARTER = """\
import os, sys
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()}\\n")
os.execvp(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True)
class Probe:
    """A call whose answer proves which server gave it."""

    server: str
    tool: str
    arguments: dict[str, Any]
    expected: str  # a part of the answer


@dataclass
class Stage:
    """The servers of one run. `first` and `second` are the same program, so that their names collide."""

    folder: Path
    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    good: list[str] = field(default_factory=list)
    first: str = ""
    second: str = ""
    flood: str = ""
    mute: str = ""
    fragile: str = ""
    bad: str = ""
    missing: str = ""
    forbidden: str = ""
    probes: list[Probe] = field(default_factory=list)
    start_limit: float = START_LIMIT

    @property
    def allowed(self) -> list[str]:
        """The allow-list: this Python, and a program that is not there."""
        return [sys.executable, self.servers[self.missing]["command"]]

    @property
    def refused(self) -> list[str]:
        """The entries that cannot work, each for a reason of its own."""
        return [self.bad, self.missing, self.forbidden]

    @property
    def document(self) -> dict[str, Any]:
        """The declarative list, a fresh copy."""
        copy: dict[str, Any] = json.loads(json.dumps({"mcpServers": self.servers}))
        return copy

    def add(self, name: str, *command: object) -> str:
        """A server that notes its pid when it starts."""
        words = ["-I", "-S", str(self.folder / "start.py"), str(self.pid_file(name)), *map(str, command)]
        self.servers[name] = {"command": sys.executable, "args": words}
        return name

    def pid_file(self, name: str) -> Path:
        return self.folder / f"{name}.pids"

    def pids(self, name: str) -> list[int]:
        """The processes that this server has had, oldest first."""
        with contextlib.suppress(OSError):
            return [int(line) for line in self.pid_file(name).read_text().split()]
        return []

    def calls_received(self) -> int:
        """How many calls the fragile server has received, in all its lives."""
        with contextlib.suppress(OSError):
            return (self.folder / "record").read_bytes().count(b'tools/call"')
        return 0


def make_stage(folder: Path, data: random.Random, *, real: bool = False, modern: bool = False) -> Stage:
    """A server list with names that no harness can know before. `modern`: one server speaks 2026-07-28."""
    stage = Stage(folder)
    (folder / "start.py").write_text(STARTER)
    words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty"]
    names = iter(data.sample(words, len(words)))
    python = (sys.executable, "-S")
    faulty = (*python, SERVERS / "faulty.py")
    stage.first, stage.second, third = next(names), next(names), next(names)
    trap = json.dumps([["lamp", f"{stage.second}/search"]])  # a name that the prefix of another server makes
    stage.forbidden = next(names)
    script = f'echo $$ >> "{stage.pid_file(stage.forbidden)}"'
    if real:
        stage.start_limit = REAL_START_LIMIT
        real_servers(stage, third)
    else:
        stage.add(stage.first, *python, SERVERS / "notes.py")
        stage.flood = stage.add(next(names), *faulty, "stderr-flood", "--count", 1, "--tools", trap)
        stage.add(stage.second, *python, SERVERS / "notes.py")
        stage.add(third, *python, SERVERS / "files.py", *(["--era", "2026-07-28"] if modern else []))
        title = "".join(data.choices("abcdefghij", k=8))
        stage.probes = [
            Probe(stage.second, "create", {"title": title, "text": "x"}, title),
            Probe(stage.second, "search", {"query": title}, title),
            Probe(stage.first, "search", {"query": title}, "no note found"),
            Probe(third, "search", {"query": "plan"}, "plan.txt"),
        ]
    stage.flood = stage.flood or stage.add(next(names), *faulty, "stderr-flood", "--count", 1, "--tools", trap)
    stage.mute = stage.add(next(names), *faulty, "never-answers")
    record = ("--record", folder / "record")
    stage.fragile = stage.add(next(names), *faulty, "dies-mid-call", *record)
    stage.good = [name for name in stage.servers if name != stage.forbidden]
    stage.bad = stage.add(next(names), *faulty, "exits-at-once", "--text", "the disk is full")
    stage.servers[stage.forbidden] = {"command": "sh", "args": ["-c", script]}
    stage.missing = next(names)
    stage.servers[stage.missing] = {"command": "no-such-program-10", "args": []}
    return stage


def real_servers(stage: Stage, third: str) -> None:
    """A file server from npm twice, and a clock from PyPI: both revisions."""
    modules = Path(os.environ.get("MCP_NODE_SERVERS") or CODE.parent / "work" / "node_servers") / "node_modules"
    programs = Path(os.environ.get("MCP_PYPI_SERVERS") or CODE.parent / "work" / "pypi_servers") / "bin"
    script, clock = modules / "@modelcontextprotocol/server-filesystem/dist/index.js", programs / "mcp-server-time"
    for path in (script, clock):
        if not path.exists():
            raise SystemExit(
                f"{path.name} is not installed: run code/tests/node_servers/install.py and code/tests/pypi_servers/"
                "install.py"
            )
    for name in (stage.first, stage.second):
        home = stage.folder.resolve() / name
        home.mkdir()
        (home / "note.txt").write_text(f"this is {name}")
        stage.add(name, "node", script, home)
        stage.probes.append(Probe(name, "read_text_file", {"path": str(home / "note.txt")}, f"this is {name}"))
    stage.add(third, clock)
    stage.probes.append(Probe(third, "get_current_time", {"timezone": "UTC"}, "UTC"))
