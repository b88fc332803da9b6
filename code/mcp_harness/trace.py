"""A transcript of the wire: what was sent and heard, as a table, a lane diagram, or lines of JSON.

    recorder = Recorder()
    with recorder.attach(Host(configs)) as host:
        host.call("files/search", {"query": "plan"})
    print(recorder.table())

Guarantees: each line is recorded as it was, in the order in which it was written or read. A
host without a recorder pays nothing: there is no test in the path of a message, the recorder
puts itself in front of the functions of a new session. Memory is bounded; what no longer fits
is counted. Secrets are shown only if asked for (masking.py).

What it leaves out: stderr (`host.status()` has it), and hosts that are open already.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import wire
from .carries import LONGEST, as_object, carries, shorten
from .config import ServerConfig
from .errors import UsageError
from .masking import Masker
from .wire import Line, Message

if TYPE_CHECKING:
    from .host import Host
    from .lanes import Lanes
    from .session import PostFrame, WriteFrame

MAX_LINES = 20_000
MAX_BYTES = 32 * 1024 * 1024  # of all lines together
LONGEST_LABEL = 34  # characters on an arrow: readable at 360 pixels
MOST_ROWS = 60  # of a diagram: a longer one is no picture any more


@dataclass(frozen=True)
class Entry:
    """One line on the wire, or the end of a process (`line` is None, `note` the reason)."""

    at: float  # seconds since the recorder was made
    server: str
    generation: int  # of the process
    sent: bool  # by us
    line: bytes | None
    note: str = ""


@dataclass(frozen=True)
class Row:
    """An entry, read. `kind` is request, result, error, notification, noise or end; `size` in bytes of compact JSON."""

    entry: Entry
    kind: str
    label: str  # "tools/call", "result", …
    id: int | str | None
    carries: str
    size: int
    message: Message


class Recorder:
    """Records the wire of a host. All methods may be called from any thread."""

    def __init__(self, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> None:
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._entries: list[Entry] = []
        self._max_lines, self._bytes_left = max_lines, max_bytes
        self._configs: list[ServerConfig] = []
        self.dropped = 0  # lines that were not recorded: there was no room

    def attach(self, host: "Host") -> "Host":
        """Record everything that this host will say and hear. Before it is entered; returns the host."""
        if host.is_open:
            raise UsageError("a recorder has to be attached before the host is entered")
        host.tap = self
        self._configs += host.configs
        return host

    @property
    def entries(self) -> list[Entry]:
        """What was recorded so far, oldest first."""
        with self._lock:
            return list(self._entries)

    # --- what a session asks for, once, when it is made ------------------------------------

    def hear(self, server: str, generation: int, on_line: Callable[[Line], None]) -> Callable[[Line], None]:
        """`on_line`, with a recorder in front of it."""

        def recorded(line: Line) -> None:
            whole = line.head + b" [...] " + line.tail if isinstance(line, wire.TooLong) else bytes(line)
            self._add(server, generation, False, whole)
            on_line(line)

        return recorded

    def speak(self, server: str, generation: int, write: "WriteFrame") -> "WriteFrame":
        """`write`, with a recorder in front of it."""

        def recorded(frame: bytes, deadline: float) -> None:
            self._add(server, generation, True, frame)
            write(frame, deadline)

        return recorded

    def post(self, server: str, generation: int, post: "PostFrame") -> "PostFrame":
        """`post`, with a recorder in front of it."""

        def recorded(frame: bytes) -> bool:
            self._add(server, generation, True, frame)
            return post(frame)

        return recorded

    def ended(self, server: str, generation: int, reason: str) -> None:
        """A process has ended, and we had not asked for it."""
        self._add(server, generation, False, None, reason)

    def _add(self, server: str, generation: int, sent: bool, line: bytes | None, note: str = "") -> None:
        entry = Entry(time.monotonic() - self._began, server, generation, sent, line and line.rstrip(b"\r\n"), note)
        with self._lock:
            self._bytes_left -= len(line or b"")
            if self._bytes_left < 0 or len(self._entries) >= self._max_lines:
                self.dropped += 1
            else:
                self._entries.append(entry)

    # --- reading -----------------------------------------------------------------------------

    def rows(self, secrets: bool = False) -> Iterator[Row]:
        """The entries, read one by one. `secrets=True` shows them as they were."""
        masker, entries = self._masker(secrets), self.entries
        for entry in [] if secrets else entries:
            masker.learn(read_object(entry.line))
        asked: dict[tuple[str, int, bool, Any], str] = {}  # who asked what under which id
        for entry in entries:
            if entry.line is None:
                yield Row(entry, "end", "process ended", None, shorten(masker.text(entry.note), LONGEST), 0, {})
                continue
            incoming = wire.parse(entry.line)
            if incoming is None:
                continue
            if isinstance(incoming, wire.Noise):
                yield Row(
                    entry, "noise", "noise", None, shorten(masker.text(incoming.preview), LONGEST), len(entry.line), {}
                )
                continue
            true = read_object(entry.line)
            yield read_row(entry, true, masker.message(true), asked)

    def table(self, secrets: bool = False) -> str:
        """The transcript as text: direction, message, what it carries, bytes of its compact JSON."""
        cells = [("", "message", "carries", "bytes")]
        for row in self.rows(secrets):
            arrow = "→" if row.entry.sent else "←"
            name = row.label if row.id is None else f"{row.label} id {row.id}"
            cells.append((f"{arrow} {row.entry.server}", name, row.carries, str(row.size) if row.size else ""))
        widths = [max(len(line[column]) for line in cells) for column in range(4)]
        lines = [
            f"{where:<{widths[0]}}  {name:<{widths[1]}}  {what:<{widths[2]}}  {size:>{widths[3]}}".rstrip()
            for where, name, what, size in cells
        ]
        if self.dropped:
            lines.append(f"({self.dropped} more lines were not recorded: there was no room)")
        return "\n".join(lines)

    def lines(self, secrets: bool = False) -> Iterator[Message]:
        """The messages as they were, each with its server and who wrote it; for a file of JSON lines."""
        for row in self.rows(secrets):
            if row.message:
                writer = "client" if row.entry.sent else "server"
                yield {"server": row.entry.server, "from": writer, "message": row.message}

    def lanes(self, secrets: bool = False, most_rows: int = MOST_ROWS) -> "Lanes":
        """The transcript as a lane diagram; `lanes.draw` makes a figure of it."""
        from . import lanes

        names = dict.fromkeys(config.name for config in self._configs)
        names.update(dict.fromkeys(entry.server for entry in self.entries))
        drawn: list[lanes.Message | lanes.Mark] = []
        for row in self.rows(secrets):
            if len(drawn) == most_rows:
                drawn.append(lanes.Mark("host", "and so on"))
                break
            if row.kind == "end":
                drawn.append(lanes.Mark(row.entry.server, "ended", "dead"))
            elif row.kind in lanes.STYLES:
                ends = ("host", row.entry.server) if row.entry.sent else (row.entry.server, "host")
                drawn.append(lanes.Message(*ends, label(row), row.id, row.kind))
        return lanes.Lanes(("host", *names), tuple(drawn))

    def servers(self, secrets: bool = False) -> str:
        """How each server was started: its command, and the names of its environment."""
        masker, said = self._masker(secrets), []
        for config in self._configs:
            env = "".join(f" {key}={value}" for key, value in masker.environment(config.env).items())
            said.append(f"{config.name}:{env} {' '.join(masker.command([config.command, *config.args]))}")
        return "\n".join(said)

    def _masker(self, secrets: bool) -> Masker:
        return Masker((value for config in self._configs for value in config.env.values()), show=secrets)


def read_object(line: bytes | None) -> Message:
    """The JSON object in a line, an empty one where there is none."""
    try:
        value = json.loads((line or b"{}").decode().removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def read_row(entry: Entry, true: Message, shown: Message, asked: dict[tuple[str, int, bool, Any], str]) -> Row:
    """One message as a row; `asked` remembers the requests, so that a reply is known by what it answers."""
    id, method = true.get("id"), true.get("method")
    id = id if isinstance(id, int | str) else None if id is None else str(id)
    key = (entry.server, entry.generation)
    if method is not None:
        kind = "request" if "id" in true else "notification"
        if kind == "request":
            asked[(*key, entry.sent, str(id))] = str(method)
        return Row(entry, kind, shorten(str(method), LONGEST), id, carries(shown), size_of(true), shown)
    answered = asked.get((*key, not entry.sent, str(id)), "")
    kind = "error" if true.get("error") is not None else "result"
    return Row(entry, kind, kind, id, carries(shown, answered), size_of(true), shown)


def size_of(message: Message) -> int:
    """Bytes of the message as compact JSON in UTF-8, however the sender spaced and escaped it."""
    return len(json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass"))


def label(row: Row) -> str:
    """The words on an arrow."""
    if row.kind == "error":
        return carries(row.message, longest=LONGEST_LABEL)
    if row.kind == "result":
        asks = as_object(row.message.get("result")).get("resultType") == "input_required"
        return "input required" if asks else "result"
    if row.label == "tools/call":
        return f"tools/call {as_object(row.message.get('params')).get('name')}"[:LONGEST_LABEL]
    return row.label.removeprefix("notifications/")[:LONGEST_LABEL]
