"""Step 3 of the small client: reader thread, pending map, deadlines.

Made by `grader build` from lessons/03_reader_thread.md.
"""

import contextlib
import itertools
import queue
import subprocess
import threading
import time
from collections import deque
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime

from main import PROTOCOL_VERSION as VERSION
from main import text_result
from steps.step01_namespace import merge as merge
from steps.step02_subprocess import decode, drain, encode, shut_down, spawn


class RpcError(RuntimeError):
    """The server answered with an error."""

    def __init__(self, code, message):
        super().__init__(f"answered error {code}: {message}")
        self.code, self.message = code, message


class RequestTimeout(RuntimeError):
    """No reply came in time. The server may be alive, and may have done the work."""


class ServerDied(RuntimeError):
    """The session is over; no reply will come."""

    def __init__(self, reason):
        super().__init__(f"is dead: {reason}")
        self.reason = reason


class Tracker:
    """The requests that wait for a reply: id → future. Any thread may use it."""

    def __init__(self):
        self._lock, self._ids, self._pending, self._over = threading.Lock(), itertools.count(1), {}, None

    def add(self):
        """A new id and the future that its reply will fill."""
        with self._lock:
            if self._over is not None:
                raise ServerDied(self._over)
            request_id, future = next(self._ids), Future()
            self._pending[request_id] = future
        return request_id, future

    def take(self, request_id):
        """Remove and return the future; None if nobody waits for this id."""
        with self._lock:
            return self._pending.pop(request_id, None)

    def end(self, reason):
        """Fail every request that waits, and every one to come. Only the first reason counts."""
        with self._lock:
            self._over = self._over or reason
            futures, self._pending = list(self._pending.values()), {}
        for future in futures:
            future.set_exception(ServerDied(self._over))


class Transport:
    """A server process whose output is read by a thread of its own."""

    def __init__(self, command, on_message, on_end):
        self.popen, self.log, self.record = spawn(command), deque(maxlen=50), []
        self._on_message, self._on_end, self._lock = on_message, on_end, threading.Lock()

    def start(self):
        drain(self.popen.stderr, self.log)
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, message):
        """Write one message, whole, from any thread."""
        with self._lock:
            self.record.append((time.monotonic(), "→", message))
            with contextlib.suppress(OSError, ValueError):  # a broken pipe: the reader finds out why
                self.popen.stdin.write(encode(message))
                self.popen.stdin.flush()

    def _read(self):
        """Hand on each message, until the output ends; then say why it ended, and leave no process."""
        try:
            with self.popen.stdout as stream:
                for line in stream:
                    message = decode(line)
                    if message is not None:
                        self.record.append((time.monotonic(), "←", message))
                        self._on_message(message)
        finally:
            self._on_end(self._why())
            shut_down(self.popen)

    def _why(self):
        try:
            return f"it ended with exit code {self.popen.wait(0.5)}"
        except subprocess.TimeoutExpired:
            return "it closed its output"


class Lifecycle:
    """The state of a session: disconnected, connecting, initializing, ready, dead."""

    def __init__(self):
        self.state, self.reason = "disconnected", None
        self._tracker, self._inbox = Tracker(), queue.Queue()
        self._state_lock = threading.Lock()

    @property
    def alive(self):
        return self.state == "ready"

    def _become(self, state):
        """The next state. Nothing leads out of dead."""
        with self._state_lock:
            if self.state == "dead":
                raise ServerDied(self.reason)
            self.state = state

    def _die(self, reason):
        """The only way into the state dead: whoever waits is told why."""
        with self._state_lock:
            if self.state == "dead":
                return
            self.state, self.reason = "dead", reason
        self._tracker.end(reason)
        self._inbox.put(None)


class Requests(Lifecycle):
    """What the client says: requests, notifications, the handshake, the list."""

    def request(self, method, params=None, timeout=10.0):
        """Send a request, return its result. Raises RpcError, RequestTimeout, ServerDied."""
        if self.state not in ("ready", "dead"):
            raise RuntimeError(f"server {self.name!r} is {self.state}: {method} was not sent")
        return self._request(method, params, timeout)

    def notify(self, method, params=None):
        """Send a notification: nobody will answer it."""
        message = {"jsonrpc": "2.0", "method": method}
        self._transport.send(message if params is None else message | {"params": params})

    def _request(self, method, params, timeout):
        request_id, future = self._tracker.add()
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        try:
            self._transport.send(message if params is None else message | {"params": params})
            reply = future.result(timeout)
        except NotInTime:
            reply = None
        finally:
            self._tracker.take(request_id)  # a reply that comes from now on is late
        if reply is None:
            if method != "initialize":  # the only request that must not be cancelled
                params = {"requestId": request_id, "reason": "no reply in time"}
                self.notify("notifications/cancelled", params)
            raise RequestTimeout(f"gave no reply to {method} within {timeout:g} s")
        if "result" not in reply:
            error = reply.get("error") or {}
            raise RpcError(error.get("code"), error.get("message"))
        return reply["result"]

    def _shake_hands(self, timeout):
        client = {"name": "small-client", "version": "3"}
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}
        result = self._request("initialize", params, timeout)
        if result["protocolVersion"] != VERSION:
            raise RuntimeError(f"server {self.name!r} speaks {result['protocolVersion']} only")
        self.capabilities = result["capabilities"]
        self.notify("notifications/initialized")

    def _list_tools(self, timeout):
        """All pages. The list ends where `nextCursor` is absent; an empty cursor is a cursor."""
        if "tools" not in self.capabilities:
            return []
        page = self._request("tools/list", {}, timeout)
        tools = list(page["tools"])
        while page.get("nextCursor") is not None:
            page = self._request("tools/list", {"cursor": page["nextCursor"]}, timeout)
            tools += page["tools"]
        return tools


LIST_CHANGED = "notifications/tools/list_changed"


class Connection(Requests):
    """The session with one server. No call waits for another call, or for another server."""

    def __init__(self, name, command, on_notification=None):
        super().__init__()
        self.name, self.command = name, command
        self.on_notification = on_notification or (lambda connection, message: None)
        self.capabilities, self.tools, self.record, self.popen = {}, [], [], None
        self.late = 0  # replies that came when nobody waited any more
        self._list_lock = threading.Lock()
        self._changes, self._listed = 1, 0  # the first list is owed

    def start(self, timeout=10.0):
        """Spawn, shake hands, list the tools. If that fails, no process stays."""
        if self.state != "disconnected":
            raise RuntimeError(f"server {self.name!r} is {self.state}: make a new connection")
        self._become("connecting")
        try:
            self._transport = Transport(self.command, self._sort, self._die)
            self.popen, self.log = self._transport.popen, self._transport.log
            self.record = self._transport.record
            self._transport.start()
            threading.Thread(target=self._work, daemon=True).start()
            self._become("initializing")
            self._shake_hands(timeout)
            self._refresh(timeout)
            self._become("ready")
        except BaseException as error:
            self.close(f"it could not be started: {error}")
            raise
        return self

    def close(self, reason="it was closed"):
        """End session and process. To close twice does no harm."""
        self._die(reason)
        if self.popen is not None:
            shut_down(self.popen)

    def __enter__(self):
        return self.start()

    def __exit__(self, *error):
        self.close()

    # The reader thread. It only sorts; what takes time goes to the worker.

    def _sort(self, message):
        if "method" not in message:  # a reply
            future = self._tracker.take(message.get("id"))
            if future is None:
                self.late += 1
            else:
                future.set_result(message)
        elif "id" in message:  # a request: the server waits for an answer
            self._answer(message)
        else:  # a notification: never answered
            if message["method"] == LIST_CHANGED:
                self._changes += 1
            self._inbox.put(message)

    def _answer(self, message):
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping":
            self._transport.send(reply | {"result": {}})
        else:
            text = f"Method not found: {message['method']}"
            self._transport.send(reply | {"error": {"code": -32601, "message": text}})

    # The worker thread: what takes time.

    def _work(self):
        while True:
            message = self._inbox.get()
            if message is None:  # the session is dead
                return
            if message["method"] == LIST_CHANGED:
                with contextlib.suppress(RuntimeError):  # if it fails, the old list stays
                    self._refresh(10.0)
            self.on_notification(self, message)

    def _refresh(self, timeout):
        """List again, unless a list that was asked for after the newest notice is here already."""
        with self._list_lock:
            if self._listed < self._changes:
                self._listed = self._changes  # before we ask: it covers no later notice
                self.tools = self._list_tools(timeout)


def call(registry, connections, name, arguments, timeout=10.0):
    """Route one call by the table; whatever goes wrong comes back as an error result."""
    entry = registry.get(name)
    if entry is None:
        return text_result(f"no server offers the tool {name!r}", is_error=True)
    connection = connections[entry.server_name]
    if not connection.alive:
        reason = f"server {connection.name!r} is {connection.state}: {name!r} was not called"
        return text_result(reason, is_error=True)
    params = {"name": entry.local_name, "arguments": arguments}
    try:
        return connection.request("tools/call", params, timeout)
    except RuntimeError as error:
        return text_result(f"server {connection.name!r} {error}", is_error=True)
