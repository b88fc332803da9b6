"""The figures of lesson 2. What they show of messages comes from a run of real processes."""

import itertools
import sys
from pathlib import Path

import main
from mcp_harness import boxes, lanes
from steps.step01_namespace import call, merge
from steps.step02_subprocess import Process, connect

SERVERS = Path(main.__file__).parent / "servers"


def command(name):
    """How one of the course's servers is started."""
    return [sys.executable, str(SERVERS / f"{name}.py")]


def pipes():
    """One process, three pipes: two carry messages, one carries a log."""
    names = ("stdin", "stdout", "stderr")
    streams = [boxes.Box(name, 0.3 + 1.36 * place, 1.5, 1.18, 0.36, "part") for place, name in enumerate(names)]
    picture = boxes.Picture(
        height=3.06,
        boxes=(
            boxes.Box("host", 0.08, 0.06, 4.34, 0.98, "host"),
            boxes.Box("client", 0.3, 0.42, 3.9, 0.4, "client"),
            *streams,
            boxes.Box("process of the server", 0.3, 2.46, 3.9, 0.46, "server"),
        ),
        arrows=(
            boxes.Arrow("client", "stdin", "messages"),
            boxes.Arrow("stdin", "process of the server"),
            boxes.Arrow("process of the server", "stdout", "", "result"),
            boxes.Arrow("stdout", "client", "messages", "result"),
            boxes.Arrow("process of the server", "stderr", "", "notification"),
            boxes.Arrow("stderr", "client", "log", "notification"),
        ),
    )
    return boxes.draw(picture)


def label(message):
    """What an arrow says."""
    name = message.get("params", {}).get("name")
    return f"{message['method']} {name}" if name else message["method"]


def recorded(name, process, rows):
    """The same server, with each message kept as a row."""

    def serve(message):
        kind = "request" if "id" in message else "notification"
        rows.append(lanes.Message("host", name, label(message), message.get("id"), kind))
        reply = process(message)
        if reply is not None:
            rows.append(lanes.Message(name, "host", "result", reply["id"], "result"))
        return reply

    return serve


def handshake():
    """The handshake, the list and one call, as they passed."""
    main.request_ids, rows = itertools.count(1), []
    with Process(command("files")) as process:
        serve = recorded("files", process, rows)
        main.connect("files", serve)
        main.request(serve, "tools/call", {"name": "search", "arguments": {"query": "plan"}})
    return lanes.draw(lanes.Lanes(("host", "files"), tuple(rows)))


def death():
    """notes gets SIGTERM; the next call finds the end of its pipe, and files is called as before."""
    main.request_ids, rows = itertools.count(1), []
    sessions = {name: connect(name, command(name)) for name in ("notes", "files")}
    try:
        registry, processes = merge(sessions), {name: session.server_fn for name, session in sessions.items()}
        for name, session in sessions.items():
            session.server_fn = recorded(name, processes[name], rows)
        processes["notes"].popen.terminate()
        processes["notes"].popen.wait()
        rows.append(lanes.Mark("notes", "SIGTERM", "dead"))
        call(registry, sessions, "search", {"query": "plan"})
        assert not sessions["notes"].alive
        rows.append(lanes.Mark("host", "end of the pipe: notes is dead"))
        call(registry, sessions, "files/search", {"query": "plan"})
    finally:
        for process in processes.values():
            process.close()
    return lanes.draw(lanes.Lanes(("host", "notes", "files"), tuple(rows)))


FIGURES = {"02_subprocess": pipes, "02_subprocess-handshake": handshake, "02_subprocess-death": death}
