"""The situation in front of a question: who is connected, which policy holds, what is asked.

A setup is data in the quiz file. The same data is drawn as an SVG for the page
(`quiz_figure.py`), as text for the terminal, and told in words as the alt text, so the
three cannot disagree. It shows the situation and leaves the answer open.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

POLICIES = {"prefix": "PREFIX", "reject": "REJECT", "?": "?"}  # as written in a quiz file → as drawn
KEYS = ("servers", "policy", "calls", "sees", "table", "reply", "process")


@dataclass(frozen=True)
class Server:
    """One server behind its client. Servers stand in the order of registration."""

    name: str
    tools: tuple[str, ...]
    dead: bool = False


@dataclass(frozen=True)
class Setup:
    """What a question's figure shows; an empty part is not drawn."""

    servers: tuple[Server, ...]
    policy: str = ""  # a key of POLICIES
    calls: tuple[str, ...] = ()  # the names that the model asks for
    sees: str = ""  # what the host shows to the model
    table: tuple[tuple[str, str, str], ...] = ()  # rows of the dispatch table: canonical name, server, local name
    reply: tuple[str, str] | None = None  # a server and what it answers
    process: bool = False  # draw one process round host and servers


def problems(data: Any) -> list[str]:
    """What is wrong with the data of a setup, each with what mends it."""
    if not isinstance(data, Mapping):
        return ["setup is not a mapping: give it `servers:` and what else the figure shows"]
    found = [f"setup has the unknown key {key!r}: use {', '.join(KEYS)}" for key in data if key not in KEYS]
    servers = data.get("servers")
    if not isinstance(servers, list) or not servers:
        return [*found, "setup has no servers: list at least one as {name: …, tools: […]}"]
    names = []
    for server in servers:
        if not isinstance(server, Mapping) or not isinstance(server.get("name"), str):
            found.append("a server of the setup has no name: write {name: …, tools: […]}")
            continue
        names.append(server["name"])
        found += [
            f"server {server['name']!r} of the setup has the unknown key {key!r}: use name, tools, dead"
            for key in server
            if key not in ("name", "tools", "dead")
        ]
        if not _strings(server.get("tools")):
            found.append(f"server {server['name']!r} of the setup has no list of tool names: write tools: […]")
        if not isinstance(server.get("dead", False), bool):
            found.append(f"server {server['name']!r} of the setup: dead is true or false")
    if len(set(names)) < len(names):
        found.append("setup names a server twice: give each its own name")
    if data.get("policy", "?") not in POLICIES:
        found.append(f"setup has the unknown policy {data['policy']!r}: use {', '.join(POLICIES)}")
    if "calls" in data and not _strings(data["calls"]):
        found.append("setup: calls is a list of tool names")
    if not isinstance(data.get("sees", ""), str):
        found.append("setup: sees is a string; put quotes round it")
    if not isinstance(data.get("process", False), bool):
        found.append("setup: process is true or false")
    rows = data.get("table", [])
    if not isinstance(rows, list) or not all(_strings(row) and len(row) == 3 for row in rows):
        found.append("setup: a row of table is [canonical name, server, local name]")
    reply = data.get("reply")
    if reply is not None and not (_strings(reply) and len(reply) == 2 and reply[0] in names):
        found.append("setup: reply is [a server of this setup, what it answers]")
    return found


def _strings(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def from_data(data: Mapping[str, Any]) -> Setup:
    """The setup for data in which `problems` finds nothing."""
    return Setup(
        servers=tuple(Server(s["name"], tuple(s["tools"]), s.get("dead", False)) for s in data["servers"]),
        policy=data.get("policy", ""),
        calls=tuple(data.get("calls", ())),
        sees=data.get("sees", ""),
        table=tuple((row[0], row[1], row[2]) for row in data.get("table", ())),
        reply=(data["reply"][0], data["reply"][1]) if data.get("reply") else None,
        process=data.get("process", False),
    )


def in_words(setup: Setup) -> str:
    """The alt text: what is to be seen, in one paragraph."""
    parts = []
    if setup.calls:
        parts.append(f"The model asks the host for {' and for '.join(setup.calls)}.")
    if setup.sees:
        parts.append(f"The host shows the model {setup.sees}.")
    if setup.policy:
        parts.append(f"The host's policy is {'open' if setup.policy == '?' else POLICIES[setup.policy]}.")
    clients = "one client" if len(setup.servers) == 1 else f"{len(setup.servers)} clients"
    servers = [
        f"{number}: server {server.name} with {', '.join(server.tools)}{', dead' if server.dead else ''}"
        for number, server in enumerate(setup.servers, 1)
    ]
    parts.append(f"In the host {clients}, each with its own server; {'; '.join(servers)}.")
    parts += [
        f"A row of the dispatch table: canonical name {_open(name)}, server {_open(server)}, local name {_open(local)}."
        for name, server, local in setup.table
    ]
    if setup.reply:
        parts.append(f"Server {setup.reply[0]} answers: {setup.reply[1]}.")
    if setup.process:
        parts.append("Host and servers are in one process.")
    return " ".join(parts)


def _open(cell: str) -> str:
    return "left open" if cell == "?" else cell


def as_text(setup: Setup) -> str:
    """The same figure for a terminal, at most 72 columns for the servers of this course."""
    lines = []
    if setup.calls:
        lines += ["model", f"  │ calls {', '.join(setup.calls)}", "  ▼"]
    if setup.sees:
        lines += ["model", f"  ▲ sees {setup.sees}", "  │"]
    lines.append("host" + (f" · policy {POLICIES[setup.policy]}" if setup.policy else ""))
    width = max(len(server.name) for server in setup.servers)
    for number, server in enumerate(setup.servers, 1):
        corner = "└" if number == len(setup.servers) else "├"
        wire = "─✕─" if server.dead else "───"
        tools = ", ".join(server.tools) + ("   (dead)" if server.dead else "")
        lines.append(f"  {corner}─ client {number} {wire} {server.name:<{width}}  {tools}")
    lines += [f"dispatch table: {name} → server {server}, local name {local}" for name, server, local in setup.table]
    if setup.reply:
        lines.append(f"{setup.reply[0]} answers: {setup.reply[1]}")
    if setup.process:
        lines = [f"│ {line}" for line in lines]
        rule = "─" * (max(map(len, lines)) - 15)
        lines = ["┌─ one process " + rule, *lines, "└──────────────" + rule]
    return "\n".join(lines)
