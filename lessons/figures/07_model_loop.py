"""The figures of lesson 7. Calls, refusals and numbers come from runs of the step and of the committed queries."""

import itertools
import json
from pathlib import Path

import main
from mcp_harness import boxes, lanes
from mcp_harness.selection import estimate_tokens, recall
from steps import step07_model_loop as step07
from steps.step01_namespace import MergedTool, merge

QUERIES = Path(main.__file__).resolve().parent / "tests" / "model" / "queries.json"
SERVERS = {"notes": main.make_notes_server, "github": main.make_github_server}


def ways():
    """What stands between a model and the servers: two parts on the way out and in, two on the way back."""
    parts = [
        boxes.Box("definitions", 0.22, 1.3, 1.25, 0.42, "part"),
        boxes.Box("read the call", 1.6, 1.3, 1.3, 0.42, "part"),
        boxes.Box("cap and mark", 3.03, 1.3, 1.25, 0.42, "part"),
        boxes.Box("ask first", 1.6, 2.12, 1.3, 0.42, "part"),
    ]
    servers = boxes.Box("notes, files, github", 0.22, 3.3, 4.06, 0.4, "server")
    picture = boxes.Picture(
        height=3.78,
        boxes=(
            boxes.Box("model", 0.22, 0.06, 4.06, 0.44, "model"),
            boxes.Box("host", 0.08, 0.98, 4.34, 1.78, "host"),
            *parts,
            servers,
        ),
        arrows=(
            boxes.Arrow("definitions", "model", "tools"),
            boxes.Arrow("model", "read the call", "call"),
            boxes.Arrow("read the call", "ask first"),
            boxes.Arrow("ask first", "notes, files, github", "tools/call"),
            boxes.Arrow("cap and mark", "model", "result", "result"),
            boxes.Arrow("notes, files, github", "definitions", "tools/list"),
            boxes.Arrow("notes, files, github", "cap and mark", "result", "result"),
        ),
    )
    return boxes.draw(picture)


class Wired:
    """A connection to a server in this process that keeps what passes as rows of a diagram."""

    alive, state = True, "ready"

    def __init__(self, name, server, rows):
        self.name, self._server, self._rows = name, server, rows
        self.tools = main.list_tools(server)

    def request(self, method, params, timeout=None):
        number = next(main.request_ids)
        self._rows.append(lanes.Message("host", self.name, f"{method} {params['name']}", number))
        reply = self._server({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        self._rows.append(lanes.Message(self.name, "host", "result", number, "result"))
        return reply["result"]


def one_round():
    """Two calls of a model: one that the user's list allows, one that the user refuses."""
    rows = []
    connections = {name: Wired(name, make(), rows) for name, make in SERVERS.items()}
    main.request_ids = itertools.count(7)
    table = step07.by_model_name(merge(connections))

    def confirm(entry, arguments):
        rows.append(lanes.Message("host", "user", f"{entry.local_name}?"))
        rows.append(lanes.Message("user", "host", "no", kind="error"))
        return False

    for name, arguments in [("notes__search", {"query": "plan"}), ("github__open_pr", {"title": "x"})]:
        rows.append(lanes.Message("model", "host", f"call {name}"))
        wanted = {"id": "call_1", "function": {"name": name, "arguments": json.dumps(arguments)}}
        message = step07.answer(wanted, table, connections, {"search"}, confirm, 1000, step07.new_word)
        failed = message["content"].startswith("error")
        label = "error" if failed else "marked result"
        rows.append(lanes.Message("host", "model", label, kind="error" if failed else "result"))
    return lanes.draw(lanes.Lanes(("model", "host", "user", "notes", "github"), tuple(rows)))


def choice():
    """Recall and cost against the number of tools shown, on the committed queries."""
    data = json.loads(QUERIES.read_text(encoding="utf-8"))
    registry = {
        f"{server}/{name}": MergedTool(f"{server}/{name}", server, name, about)
        for server, its in data["tools"].items()
        for name, (about, _) in its.items()
    }
    table = step07.by_model_name(registry)
    counts = range(1, len(table) + 1)
    ranked = [step07.choose(table, query, len(table)).values() for query, _ in data["queries"]]
    wanted = [right for _, right in data["queries"]]
    share = [recall([[entry.canonical_name for entry in order][:k] for order in ranked], wanted) for k in counts]
    sent = [step07.for_openai(name, entry.description, {"type": "object"}) for name, entry in table.items()]
    whole = estimate_tokens(sent)
    cost = [estimate_tokens(sent[:k]) / whole for k in counts]
    figure, canvas = lanes.canvas(2.9)
    canvas.remove()
    axes = figure.add_axes((0.14, 0.19, 0.82, 0.76))
    axes.plot(counts, share, color=lanes.BLUE, linewidth=2)
    axes.plot(counts, cost, color=lanes.ORANGE, linewidth=2, linestyle="--")
    axes.text(12, share[11] - 0.1, "recall", color=lanes.BLUE, fontsize=lanes.TEXT)
    axes.text(23, cost[22] - 0.15, "tokens a turn", color=lanes.ORANGE, fontsize=lanes.TEXT)
    axes.set(xlim=(0, len(table)), ylim=(0, 1.05), xlabel=f"tools shown, of {len(table)}", ylabel="share of all")
    axes.tick_params(labelsize=lanes.TEXT - 1)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


FIGURES = {"07_model_loop": ways, "07_model_loop-round": one_round, "07_model_loop-choice": choice}
