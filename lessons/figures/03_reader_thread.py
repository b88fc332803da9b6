"""The figures of lesson 3. The lane diagrams are drawn from traces recorded in runs of real processes."""

import sys
import time
from pathlib import Path

import main
from mcp_harness import boxes, lanes
from steps.step02_subprocess import Process, decode
from steps.step03_reader_thread import Connection, call, merge

CODE = str(Path(main.__file__).parent)
HEAD = """
import json, sys, threading, time
sys.path.insert(0, sys.argv[1])
import main
from servers.stdio_loop import serve
"""
WEATHER = (
    HEAD
    + """
def report(city):
    "The weather, from a slow service."
    time.sleep(0.6)
    return f"{city}: rain"
serve(main.make_server("weather", {"tools": {}}, report))
"""
)
FEED = (
    HEAD
    + """
def notice():
    params = {"_meta": {"sentAt": time.monotonic()}}
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params}), flush=True)
def watch():
    "Announce a change soon."
    threading.Timer(0.1, notice).start()
    return "watching"
serve(main.make_server("feed", {"tools": {"listChanged": True}}, watch))
"""
)
COMMANDS = {"weather": [sys.executable, "-c", WEATHER, CODE], "feed": [sys.executable, "-c", FEED, CODE]}
NAMES = ("weather", "host", "feed")


def label(message):
    """What an arrow says: no longer than a lane is wide."""
    name = message.get("params", {}).get("name")
    return name or message.get("method", "result").removeprefix("notifications/").removeprefix("tools/")


def rows(events):
    """Events (seconds, server, arrow, message) as rows, with a mark where a notice was sent."""
    found = []
    for seconds, name, arrow, message in events:
        ends = ("host", name) if arrow == "→" else (name, "host")
        kind = "result" if "method" not in message else "request" if "id" in message else "notification"
        found.append((seconds, lanes.Message(*ends, label(message), message.get("id"), kind)))
        sent = message.get("params", {}).get("_meta", {}).get("sentAt")
        if sent:
            found.append((sent, lanes.Mark(name, "notice sent")))
    return tuple(row for _, row in sorted(found, key=lambda pair: pair[0]))


def before():
    """The client of lesson 2: the notice of feed is read when weather has answered."""
    events = []
    with Process(COMMANDS["weather"]) as weather, Process(COMMANDS["feed"]) as feed:
        main.connect("weather", weather), main.connect("feed", feed)
        main.request(feed, "tools/call", {"name": "watch", "arguments": {}})
        message = {"id": 3, "method": "tools/call", "params": {"name": "report", "arguments": {"city": "Oslo"}}}
        events.append((time.monotonic(), "weather", "→", message))
        reply = weather({"jsonrpc": "2.0", **message})
        events.append((time.monotonic(), "weather", "←", reply))
        notice = decode(feed.popen.stdout.readline())
        events.append((time.monotonic(), "feed", "←", notice))
    return lanes.draw(lanes.Lanes(NAMES, rows(events)))


def after():
    """The client of lesson 3: the notice is read when it is sent, and the list is asked for at once."""
    with Connection("weather", COMMANDS["weather"]) as weather, Connection("feed", COMMANDS["feed"]) as feed:
        both = {"weather": weather, "feed": feed}
        registry = merge(both)
        call(registry, both, "watch", {})
        began = time.monotonic()
        call(registry, both, "report", {"city": "Oslo"})
        events = [(*entry[:1], name, *entry[1:]) for name, one in both.items() for entry in one.record]
    return lanes.draw(lanes.Lanes(NAMES, rows([event for event in events if event[0] >= began])))


def late():
    """The reply to a request whose deadline is over finds nobody."""
    with Connection("weather", COMMANDS["weather"]) as weather:
        both = {"weather": weather}
        registry = merge(both)
        call(registry, both, "report", {"city": "Oslo"}, timeout=0.2)
        call(registry, both, "report", {"city": "Rome"})
        record = weather.record[5:]
    found, asked = [], set()
    for _, arrow, message in record:
        (row,) = rows([(0.0, "weather", arrow, message)])
        if label(message) == "cancelled":
            asked.discard(message["params"]["requestId"])
            found.append(lanes.Mark("host", "deadline"))
            row = lanes.Message(row.source, row.target, f"cancelled {message['params']['requestId']}", kind=row.kind)
        elif arrow == "→":
            asked.add(message["id"])
        found.append(row)
        if arrow == "←" and message["id"] not in asked:
            found.append(lanes.Mark("host", "late: nobody waits"))
    return lanes.draw(lanes.Lanes(("host", "weather"), tuple(found)))


def threads():
    """The reader sorts: replies to the pending map, notifications to the inbox and on to the worker."""
    picture = boxes.Picture(
        height=4.4,
        boxes=(
            boxes.Box("callers, any thread", 2.4, 0.06, 1.8, 0.4, "part"),
            boxes.Box("connection", 0.08, 1.0, 4.34, 2.2, "host"),
            boxes.Box("pending map", 2.9, 1.34, 1.3, 0.4, "part"),
            boxes.Box("worker", 0.3, 1.34, 1.3, 0.4, "client"),
            boxes.Box("inbox", 0.3, 2.0, 1.3, 0.36, "part"),
            boxes.Box("reader thread", 0.3, 2.66, 3.9, 0.4, "client"),
            boxes.Box("process of the server", 0.3, 3.86, 3.9, 0.46, "server"),
        ),
        arrows=(
            boxes.Arrow("pending map", "callers, any thread", "futures", "result"),
            boxes.Arrow("reader thread", "pending map", "replies", "result"),
            boxes.Arrow("reader thread", "inbox", "notifications", "notification"),
            boxes.Arrow("inbox", "worker", "", "notification"),
            boxes.Arrow("process of the server", "reader thread", "stdout, line by line", "result"),
        ),
    )
    return boxes.draw(picture)


def states():
    """Five states, one direction."""
    names = ("disconnected", "connecting", "initializing", "ready")
    column = [boxes.Box(name, 0.3, 0.1 + 0.78 * place, 1.5, 0.42, "part") for place, name in enumerate(names)]
    dead = boxes.Box("dead", 3.3, 0.88, 0.9, 1.98, "server")
    arrows = [
        boxes.Arrow(a, b, text) for a, b, text in zip(names, names[1:], ("start", "spawned", "listed"), strict=False)
    ]
    arrows += [boxes.Arrow(name, "dead", "end", "error") for name in names[1:]]
    return boxes.draw(boxes.Picture(3.0, (*column, dead), tuple(arrows)))


FIGURES = {
    "03_reader_thread": threads,
    "03_reader_thread-before": before,
    "03_reader_thread-after": after,
    "03_reader_thread-states": states,
    "03_reader_thread-late": late,
}
