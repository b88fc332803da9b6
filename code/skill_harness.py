"""A harness for many MCP servers over stdio: one process and one session a server, one table of tools.

    python harness.py servers.json --allow npx --allow python3 [--policy prefix]

Speaks 2026-07-28 and 2025-11-25. Standard library only; Python 3.11 or newer, Linux or macOS.
"""

import argparse
import contextlib
import difflib
import itertools
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]

POLICIES = ("prefix", "prefix-all", "reject")  # none of them overwrites
MAX_SERVERS = 20  # each costs a process and prompt tokens on every turn; raise it with a reason, written here
AT_ONCE = 8  # servers that start at the same time
START_TIMEOUT, PROBE_TIMEOUT = 30.0, 5.0  # seconds to spawn, shake hands and list; of these, to find the revision
FIRST_DELAY, MAX_DELAY = 1.0, 30.0  # seconds before a restart: 1, 2, 4 … 30
SUSTAINED = 60.0  # seconds of uptime after which earlier failures are forgotten
NOTICE_AT = 3  # failures in a row after which a person is told
GRACE = 2.0  # seconds between two steps of the shutdown
MAX_LINE = 32 * 1024 * 1024  # bytes of one message
MAX_PAGES = 1000  # of tools/list
LIST_FLOOR = 60.0  # seconds; a list is not asked for more often for its age, whatever its `ttlMs` says
OLD, NEW = "2025-11-25", "2026-07-28"
OLDER = (OLD, "2025-06-18", "2025-03-26", "2024-11-05")  # answers to `initialize` that we can live with
UNSUPPORTED_VERSION = -32022  # only a server of the new revision knows this code
CLIENT = {"name": "harness", "version": "1.0.0"}
META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")  # no secrets


# --- Config and spawn plan: nothing is started here ------------------------------------------


@dataclass(frozen=True)
class Start:
    """How one server is started."""

    name: str
    command: list[str]
    env: dict[str, str]
    restart: bool


def plan(document: Message, allowed: list[str]) -> tuple[list[Start], dict[str, str]]:
    """What to start, in file order, and what is refused, with the reason."""
    servers, starts, refused = document["mcpServers"], [], {}
    if len(servers) > MAX_SERVERS:
        raise ValueError(
            f"{len(servers)} servers are listed, {MAX_SERVERS} are the most: drop some, or raise MAX_SERVERS"
        )
    for name, entry in servers.items():
        env = {**{key: os.environ[key] for key in INHERITED if key in os.environ}, **entry.get("env", {})}
        reason = refusal(name, entry, allowed, env.get("PATH"))
        if reason:
            refused[name] = reason
        else:
            command = [entry["command"], *entry.get("args", [])]
            starts.append(Start(name, command, env, entry.get("restart", "on-failure") != "never"))
    return starts, refused


def refusal(name: str, entry: Message, allowed: list[str], path: str | None) -> str | None:
    """Why an entry is not started; None if it can be."""
    command = entry.get("command")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", name):
        return "a server's name has 1 to 32 letters, digits, '_' or '-'"
    if command is None:
        return "it has no command: remote servers and OAuth need the official SDK"
    if command not in allowed:
        return f"its command {command!r} is not on the allow-list"
    return None if shutil.which(command, path=path) else f"its command {command!r} was not found on PATH"


# --- One process: pipes, threads, pending requests -------------------------------------------


class Failure(Exception):
    """A request that came to nothing; the text says which server and why."""


class ServerDied(Failure):
    """The process has ended, or is not running."""


class RpcError(Failure):
    """The server answered with an error."""

    def __init__(self, text: str, code: object, data: object) -> None:
        super().__init__(text)
        self.code, known = code, data if isinstance(data, dict) and code == UNSUPPORTED_VERSION else {}
        self.supported = known.get("supported")  # the revisions that the server speaks, if it says so


class Connection:
    """A process and the session with it. Nothing here blocks a caller beyond its timeout."""

    def __init__(self, start: Start) -> None:
        self.name, self.era, self.reason = start.name, OLD, ""
        self.stale, self.fresh_until = False, 0.0
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            start.command, stdin=pipe, stdout=pipe, stderr=pipe, env=start.env, start_new_session=True
        )
        self.stderr: deque[bytes] = deque(maxlen=5)
        self.ended = threading.Event()
        self._ids, self._lock, self._buried = itertools.count(1), threading.Lock(), False
        self._pending: dict[int, Future[Message]] = {}
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=job, daemon=True) for job in (self._read, self._drain, self._write)]
        for thread in self._threads:
            thread.start()

    def open(self, probe: bool) -> list[Message]:
        """Find the revision, shake hands if it has a handshake, list the tools."""
        deadline = time.monotonic() + START_TIMEOUT
        if not (probe and self._speaks_new(PROBE_TIMEOUT)):
            hello = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": CLIENT}
            try:
                answer = self.request("initialize", hello, deadline - time.monotonic())
            except RpcError as error:  # the probe was answered late: the server is of the new revision
                if error.code != UNSUPPORTED_VERSION or not self._speaks_new(deadline - time.monotonic()):
                    raise
            else:
                if answer.get("protocolVersion") not in OLDER:
                    raise Failure(f"server {self.name!r} speaks {answer.get('protocolVersion')!r}")
                self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self.list_tools(deadline)

    def _speaks_new(self, seconds: float) -> bool:
        """Ask `server/discover`. No answer, or an error that lists no revisions, means the old one."""
        self.era, offered = NEW, None
        try:
            offered = self._ask("server/discover", {}, seconds).get("supportedVersions")
        except RpcError as error:
            offered = error.supported
        except NotInTime:
            pass
        listed = offered if isinstance(offered, list) else []
        if listed and not any(version in listed for version in (NEW, *OLDER)):  # `initialize` would be of no use
            raise Failure(f"server {self.name!r} speaks {', '.join(map(str, listed))}, this harness {NEW} and {OLD}")
        self.era = NEW if NEW in listed else OLD
        return self.era == NEW

    def list_tools(self, deadline: float) -> list[Message]:
        """All pages; the list ends where `nextCursor` is absent, and an empty one is a cursor."""
        asked = time.monotonic()
        self.stale, self.fresh_until = False, asked + LIST_FLOOR
        tools: list[Message] = []
        params: Message = {}
        ages: list[float] = []
        for _ in range(MAX_PAGES):
            page = self.request("tools/list", params, deadline - time.monotonic())
            tools += [tool for tool in page.get("tools", []) if isinstance(tool, dict) and tool.get("name")]
            ages.append(page["ttlMs"] / 1000 if isinstance(page.get("ttlMs"), int) else 0.0)
            if page.get("nextCursor") in (None, params.get("cursor")):
                break
            params = {"cursor": page["nextCursor"]}
        self.fresh_until = max(asked + min(ages), self.fresh_until)
        return tools

    def is_old(self) -> bool:
        """The list was announced as changed, or is older than a new server allows: it announces nothing by itself."""
        return self.stale or (self.era == NEW and time.monotonic() >= self.fresh_until)

    def request(self, method: str, params: Message, seconds: float) -> Message:
        """Send once, wait at most so long. Raises RpcError, ServerDied, Failure."""
        try:
            return self._ask(method, params, seconds)
        except NotInTime:
            raise Failure(f"server {self.name!r} gave no reply to {method} within {seconds:.1f} s") from None

    def _ask(self, method: str, params: Message, seconds: float) -> Message:
        params = {**params, "_meta": META} if self.era == NEW else params
        future: Future[Message] = Future()
        with self._lock:
            if self.ended.is_set():
                raise ServerDied(self._epitaph())
            number = next(self._ids)
            self._pending[number] = future
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        try:
            reply = future.result(max(0.0, seconds))
        except NotInTime:
            if method != "initialize":
                self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            raise
        finally:
            with self._lock:
                self._pending.pop(number, None)
        result, error = reply.get("result"), reply.get("error")
        if not isinstance(result, dict):
            error = error if isinstance(error, dict) else {"message": "a reply with neither result nor error"}
            text = f"server {self.name!r} answered {method} with an error: {error.get('message')}"
            raise RpcError(text, error.get("code"), error.get("data"))
        return result

    def _send(self, message: Message) -> None:
        self._outbox.put(json.dumps(message).encode() + b"\n")

    def _write(self) -> None:
        """A thread of its own, so that a server which does not read blocks nobody."""
        assert self.process.stdin
        with contextlib.suppress(OSError, ValueError):
            while (line := self._outbox.get()) is not None:
                self.process.stdin.write(line)
                self.process.stdin.flush()
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.close()

    def _drain(self) -> None:
        """stderr is read to its end: a full pipe would stop the server."""
        assert self.process.stderr
        with self.process.stderr as stream:
            for line in iter(lambda: stream.readline(4096), b""):
                self.stderr.append(line)

    def _read(self) -> None:
        assert self.process.stdout
        try:
            with self.process.stdout as stream:
                for line in iter(lambda: stream.readline(MAX_LINE), b""):
                    with contextlib.suppress(ValueError, RecursionError):  # a stray print is no message
                        message = json.loads(line)
                        if isinstance(message, dict):
                            self._hear(message)
        finally:
            self._end()

    def _hear(self, message: Message) -> None:
        if "method" not in message:
            number = message.get("id")
            with self._lock:
                future = self._pending.pop(number, None) if isinstance(number, int) else None
            if future:  # else it is late, and nobody's
                future.set_result(message)
        elif "id" not in message:  # a notification is never answered
            self.stale |= message["method"] == "notifications/tools/list_changed"
        elif message["method"] == "ping":
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        else:  # we declared no capability, so nothing else may be asked
            error = {"code": -32601, "message": f"Method not found: {message['method']}"}
            self._send({"jsonrpc": "2.0", "id": message["id"], "error": error})

    def _end(self) -> None:
        """stdout has ended, so the session is over: say why, fail what waits, leave no process."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.5)
        code = self.process.poll()
        ending = "it closed its output" if code is None else f"it exited with code {code}"
        last = b" ".join(self.stderr).decode("utf-8", "replace").split("\n")
        words = next((line.strip()[:200] for line in reversed(last) if line.strip()), "")
        self.reason = f"{ending} (stderr: {words})" if words else ending
        with self._lock:
            self.ended.set()
            waiting, self._pending = list(self._pending.values()), {}
        for future in waiting:
            future.set_exception(ServerDied(self._epitaph()))
        self.close()

    def _epitaph(self) -> str:
        return f"server {self.name!r} died: {self.reason}; the call was not repeated"

    def close(self) -> None:
        """Close stdin, wait, SIGTERM, wait, SIGKILL: the whole group of the process. May be called twice."""
        self._outbox.put(None)
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE)
                break
            self._signal(number)
        self.process.wait()
        if not self._buried:
            self._buried = True  # from now on the number may belong to somebody else
            self._signal(signal.SIGTERM)  # what the server has started and left behind

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)


# --- One server through its lives ------------------------------------------------------------


class Server:
    """Keeps one server alive, in a thread of its own, until it is closed."""

    def __init__(self, start: Start, slots: threading.Semaphore) -> None:
        self.start, self.slots = start, slots
        self.state, self.reason, self.tools = "starting", "", list[Message]()
        self.connection: Connection | None = None
        self.decided = threading.Event()  # the first start has gone well, or not
        self._closing, self._lock = threading.Event(), threading.Lock()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def _keep(self) -> None:
        failures = 0
        while not self._closing.is_set():
            try:
                with self.slots:
                    connection, tools = self._connect()
                self.tools, self.state, ready_at = tools, "ready", time.monotonic()
                self.decided.set()
                connection.ended.wait()
                reason = connection.reason
                failures = 0 if time.monotonic() - ready_at >= SUSTAINED else failures
            except Exception as error:  # whatever it was, it costs this server only
                reason = str(error)
                if isinstance(error, ServerDied) and self.connection:
                    reason = self.connection.reason
            failures += 1
            delay = min(FIRST_DELAY * 2 ** min(failures - 1, 10), MAX_DELAY)
            self.reason = f"{reason}; next start in {delay:g} s" if self.start.restart else reason
            self.state = "restarting" if self.start.restart else "failed"
            self.decided.set()
            if failures == NOTICE_AT:
                print(f"server {self.start.name!r} failed {failures} times in a row: {reason}", file=sys.stderr)
            if not self.start.restart:
                return
            self._closing.wait(delay)

    def _connect(self) -> tuple[Connection, list[Message]]:
        """A new process, ready. One that dies of the probe gets a second chance without it."""
        try:
            return self._open(probe=True)
        except ServerDied:
            if self.connection is None or self.connection.era == OLD:  # it was not the probe
                raise
            return self._open(probe=False)

    def _open(self, probe: bool) -> tuple[Connection, list[Message]]:
        with self._lock:  # no process is spawned after close
            if self._closing.is_set():
                raise ServerDied("the harness is closed")
            self.connection = connection = Connection(self.start)
        try:
            return connection, connection.open(probe)
        except BaseException:
            connection.close()
            raise

    def call(self, tool: str, arguments: Message, seconds: float) -> Message:
        """One call, sent once. Raises Failure."""
        connection = self.connection
        if self.state != "ready" or connection is None:
            raise ServerDied(f"server {self.start.name!r} is {self.state}: {self.reason}")
        return connection.request("tools/call", {"name": tool, "arguments": arguments}, seconds)

    def refresh(self) -> bool:
        """List the tools again if the list is stale; True if it was."""
        connection = self.connection
        if self.state != "ready" or connection is None or not connection.is_old():
            return False
        with contextlib.suppress(Failure):  # the old list stays
            self.tools = connection.list_tools(time.monotonic() + START_TIMEOUT)
        return True

    def close(self) -> None:
        with self._lock:
            self._closing.set()
        if self.connection is not None:
            self.connection.close()
        self._keeper.join(2 * GRACE)
        self.state, self.reason = "closed", "the harness was closed"


# --- The table, and the harness ----------------------------------------------------------------


@dataclass(frozen=True)
class Route:
    """One entry of the table: where a call goes. The name is looked up, never taken apart."""

    canonical_name: str
    server_name: str
    local_name: str
    definition: Message


class Harness:
    """Starts every server of the document that may be started, and offers their tools under one table."""

    def __init__(self, document: Message, allowed: list[str], policy: str = "prefix") -> None:
        if policy not in POLICIES:
            raise ValueError(f"unknown policy {policy!r}: use one of {', '.join(POLICIES)}")
        starts, self._refused = plan(document, allowed)
        self._order, self._policy = list(document["mcpServers"]), policy
        self._names: dict[str, tuple[str, str]] = {}  # canonical → server, local: once given, for ever
        self.collisions: list[str] = []  # a sentence for each
        slots = threading.Semaphore(AT_ONCE)
        self._servers = {start.name: Server(start, slots) for start in starts}
        for server in self._servers.values():
            server.decided.wait(START_TIMEOUT)
        self._table = self._merge()

    def _merge(self) -> dict[str, Route]:
        """Name what has no name yet, in the order of the document, and make the table."""
        given = {pair: name for name, pair in self._names.items()}
        table: dict[str, Route] = {}
        for name, server in self._servers.items():
            for definition in server.tools:
                pair = (name, definition["name"])
                canonical = given.get(pair) or self._give(*pair)
                if canonical and canonical not in table:  # a server may list a name twice: its first one counts
                    given[pair] = canonical
                    table[canonical] = Route(canonical, *pair, definition)
        return table

    def _give(self, server: str, local: str) -> str | None:
        """A name that nobody has; None if the policy skips the tool. Each collision is kept as a sentence."""
        wanted = f"{server}/{local}" if self._policy == "prefix-all" else local
        choices = [wanted, *([f"{server}/{local}"] if wanted == local else [])]
        more = (f"{server}/{local}/{number}" for number in itertools.count(2))
        name = next(one for one in itertools.chain(choices, more) if one not in self._names)
        if name != wanted:
            outcome = "skipped" if self._policy == "reject" else f"renamed to {name}"
            sentence = f"{wanted!r} of {server} is already {self._names[wanted][0]}'s: {outcome}"
            if sentence not in self.collisions:
                self.collisions.append(sentence)
            if self._policy == "reject":
                return None
        self._names[name] = (server, local)
        return name

    def tools(self) -> dict[str, Route]:
        """Canonical name → route; also of servers that are down at the moment."""
        changed = [name for name, server in self._servers.items() if server.refresh()]
        if changed:
            self._table = self._merge()
        return dict(self._table)

    def call(self, name: str, arguments: Message, timeout: float = 60.0) -> Message:
        """The result of the tool; whatever goes wrong is an error result that a model can read."""
        route = self._table.get(name) or self.tools().get(name)
        if route is None:
            near = difflib.get_close_matches(name, self._table, 3)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            return error_result(f"no server offers the tool {name!r}{hint}")
        try:
            result = self._servers[route.server_name].call(route.local_name, arguments, timeout)
        except Failure as failure:
            return error_result(str(failure))
        if not isinstance(result.get("content"), list):
            return error_result(
                f"server {route.server_name!r} gave no content for {name!r}: it asks back, or is broken"
            )
        return result

    def status(self) -> dict[str, str]:
        """Each server of the document → "ready", or why it is not."""
        states = {
            name: one.state if one.state == "ready" else f"{one.state}: {one.reason}"
            for name, one in self._servers.items()
        }
        return {name: self._refused.get(name) or states[name] for name in self._order}

    def summary(self) -> str:
        """One line: servers ready, tools, who is missing and why."""
        status = self.status()
        absent = [f"{name} ({why})" for name, why in status.items() if why != "ready"]
        line = f"{len(status) - len(absent)} of {len(status)} servers ready, {len(self.tools())} tools"
        return f"{line}; not ready: {', '.join(absent)}" if absent else line

    def close(self) -> None:
        """End all servers, together. May be called twice."""
        closers = [threading.Thread(target=server.close) for server in self._servers.values()]
        for closer in closers:
            closer.start()
        for closer in closers:
            closer.join()

    def __enter__(self) -> "Harness":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def error_result(text: str) -> Message:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def main() -> int:
    """Start, say what is there, end."""
    parser = argparse.ArgumentParser(description="Start the servers of a config file and list their tools.")
    parser.add_argument("config")
    parser.add_argument("--allow", action="append", default=[], metavar="COMMAND", help="a command that may be started")
    parser.add_argument("--policy", choices=POLICIES, default="prefix")
    options = parser.parse_args()
    with open(options.config, encoding="utf-8") as file:
        document = json.load(file)
    with Harness(document, options.allow, options.policy) as harness:
        print(harness.summary())
        print("\n".join([*harness.collisions, *(f"  {name}" for name in harness.tools())]))
        return 0 if all(state == "ready" for state in harness.status().values()) else 1


if __name__ == "__main__":
    sys.exit(main())
