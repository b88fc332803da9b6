"""The figures of lesson 1. What they show of calls and names comes from a run of code/main.py."""

import itertools

import main
from mcp_harness import boxes, lanes

SERVERS = {"notes": main.make_notes_server, "files": main.make_files_server, "github": main.make_github_server}


def connect():
    """Three fresh sessions; the ids of their messages begin at 1."""
    main.request_ids = itertools.count(1)
    return main.connect_all({name: make() for name, make in SERVERS.items()})


def roles():
    """One client for each server; the model reaches the host and nobody else."""
    clients = [boxes.Box("client", 0.22 + 1.4 * place, 2.02, 1.26, 0.36, "client") for place in range(3)]
    clients = [
        boxes.Box(f"client {n}", box.x, box.y, box.width, box.height, "client") for n, box in enumerate(clients, 1)
    ]
    servers = [boxes.Box(name, 0.22 + 1.4 * place, 3.1, 1.26, 0.4, "server") for place, name in enumerate(SERVERS)]
    sessions = [
        boxes.Arrow(client.name, server.name, "session", both=True)
        for client, server in zip(clients, servers, strict=True)
    ]
    picture = boxes.Picture(
        height=3.6,
        boxes=(
            boxes.Box("model", 1.5, 0.06, 1.5, 0.44, "model"),
            boxes.Box("host", 0.08, 1.02, 4.34, 1.5, "host"),
            boxes.Box("dispatch table", 1.25, 1.24, 2.0, 0.4, "part"),
            *clients,
            *servers,
        ),
        arrows=(boxes.Arrow("model", "host", "tool list up, tool calls down", both=True), *sessions),
    )
    return boxes.draw(picture)


def routed_call():
    """The model asks for files/search; only files gets a message, under its local name."""
    return lanes.draw(lanes.Lanes(("model", "host", *SERVERS), tuple(call_rows("files/search"))))


def dead_call():
    """notes is dead: search is answered by the host, and no server gets a message."""
    return lanes.draw(lanes.Lanes(("model", "host", *SERVERS), tuple(call_rows("search", dead="notes"))))


def call_rows(name, dead=None):
    """Make a call, and hand on as rows of a diagram what really passed between host and servers."""
    sessions = connect()
    registry = main.merge(sessions)
    rows = []
    if dead:
        sessions[dead].alive = False
        rows.append(lanes.Mark(dead, "dead", "dead"))
    rows.append(lanes.Message("model", "host", f"call {name}"))
    for session in sessions.values():
        session.server_fn = recorded(session, rows)
    result = main.call(registry, sessions, name, {"query": "plan"})
    rows.append(lanes.Message("host", "model", "error" if result["isError"] else "result", kind=kind(result)))
    return rows


def kind(result):
    """The kind of arrow for a result of a tool."""
    return "error" if result["isError"] else "result"


def recorded(session, rows):
    """The server of a session, with each message in and out kept as a row."""
    server_fn = session.server_fn

    def serve(message):
        label = f"{message['method']} {message['params']['name']}"
        rows.append(lanes.Message("host", session.name, label, message["id"]))
        reply = server_fn(message)
        rows.append(lanes.Message(session.name, "host", "result", reply["id"], kind(reply["result"])))
        return reply

    return serve


def merged_table():
    """What three servers offer, and the dispatch table that the prefix policy makes of it."""
    sessions = connect()
    entries = list(main.merge(sessions).values())
    servers = tuple(
        boxes.Box(name, 0.1 + 1.45 * place, 0.06, 1.4, 1.06, "server", tuple(tool["name"] for tool in session.tools))
        for place, (name, session) in enumerate(sessions.items())
    )
    table = boxes.Table(
        "table",
        0.1,
        1.62,
        (1.7, 1.1, 1.5),
        ("canonical name", "server", "local name"),
        tuple((entry.canonical_name, entry.server_name, entry.local_name) for entry in entries),
        tuple(place for place, entry in enumerate(entries) if entry.canonical_name != entry.local_name),
    )
    arrows = tuple(boxes.Arrow(server.name, "table", "merge" if server is servers[1] else "") for server in servers)
    return boxes.draw(boxes.Picture(1.62 + table.height + 0.1, servers, arrows, (table,)))


FIGURES = {
    "01_namespace": roles,
    "01_namespace-table": merged_table,
    "01_namespace-call": routed_call,
    "01_namespace-dead": dead_call,
}
