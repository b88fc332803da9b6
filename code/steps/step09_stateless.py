"""Step 9 of the small client: discover, era probe, cache, listen.

Made by `grader build` from lessons/09_stateless.md.
"""

import functools
import json
import threading
import time

from steps import step03_reader_thread as step03

MODERN, LEGACY = "2026-07-28", step03.VERSION
KEY = "io.modelcontextprotocol/"
META = {
    KEY + "protocolVersion": MODERN,
    KEY + "clientInfo": {"name": "small-client", "version": "9"},
    KEY + "clientCapabilities": {},  # required, even if the client can do nothing
}


UNSUPPORTED_VERSION = -32022


class EitherConnection(step03.Connection):
    """The session with one server of either revision; which one is found out at the start."""

    def __init__(self, name, command, on_notification=None, capabilities=None, patience=3.0):
        super().__init__(name, command, on_notification)
        self.meta = META | {KEY + "clientCapabilities": capabilities or {}}
        self.revision, self.patience = None, patience

    def _request(self, method, params, timeout):
        if self.revision == MODERN:
            params = {**(params or {}), "_meta": self.meta}
        return super()._request(method, params, timeout)

    def _discover(self, timeout):
        result = self._request("server/discover", {}, timeout)
        if MODERN not in result["supportedVersions"]:
            raise RuntimeError(f"server {self.name!r} speaks {', '.join(result['supportedVersions'])} only")
        self.capabilities = result["capabilities"]

    def _shake_hands(self, timeout):
        self.revision = MODERN
        try:
            return self._discover(self.patience)
        except step03.RpcError as error:
            if error.code == UNSUPPORTED_VERSION:
                raise  # a new server, and we speak none of its revisions
        except step03.RequestTimeout:
            pass  # an old server, or a slow one
        self.revision = LEGACY
        try:
            super()._shake_hands(timeout)
        except step03.RpcError as error:
            if error.code != UNSUPPORTED_VERSION:
                raise
            self.revision = MODERN  # only a new server says so: it was slow
            self._discover(timeout)


class Cache:
    """What the server allowed us to keep: (method, params) → (result, when it gets stale)."""

    def __init__(self, clock):
        self._clock, self._lock, self._kept, self._changes = clock, threading.Lock(), {}, 0

    def get(self, method, params, ask):
        """The result of this request: the kept one while it is fresh, else what `ask` returns."""
        key = method, json.dumps(params or {}, sort_keys=True)
        with self._lock:
            result, until = self._kept.get(key, (None, 0.0))
            if result is not None and self._clock() < until:
                return result
            changes = self._changes
        result = ask()
        with self._lock:
            if changes == self._changes:  # else it was on its way when the news came, and may be old
                self._kept[key] = result, self._clock() + result.get("ttlMs", 0) / 1000
        return result

    def forget(self, method):
        """The list has changed: throw away all its pages."""
        with self._lock:
            self._changes += 1
            self._kept = {key: entry for key, entry in self._kept.items() if key[0] != method}


CACHEABLE = ("server/discover", "tools/list")


class CachingConnection(EitherConnection):
    """The same, with a cache in front of what a new server allows to keep."""

    def __init__(self, *args, clock=time.monotonic, **options):
        super().__init__(*args, **options)
        self.clock, self.cache = clock, Cache(clock)

    def _request(self, method, params, timeout):
        ask = functools.partial(super()._request, method, params, timeout)
        if self.revision == MODERN and method in CACHEABLE:
            return self.cache.get(method, params, ask)
        return ask()

    def _sort(self, message):
        if message.get("method") == step03.LIST_CHANGED:
            self.cache.forget("tools/list")
        super()._sort(message)


class Connection(CachingConnection):
    """The same, told of changes where it asks to be, and able to look by itself."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._asked = self.clock()

    def listen(self):
        """Ask to be told of changes. The request stays open, without a deadline; its future ends with the stream."""
        request_id, future = self._tracker.add()
        params = {"notifications": {"toolsListChanged": True}, "_meta": self.meta}
        self._transport.send({"jsonrpc": "2.0", "id": request_id, "method": "subscriptions/listen", "params": params})
        return future

    def _list_tools(self, timeout):
        self._asked = self.clock()
        return super()._list_tools(timeout)

    def poll(self, every):
        """List again if the last list was asked for `every` seconds ago. To be called now and then."""
        if self.clock() - self._asked >= every:
            with self._list_lock:
                self._listed -= 1  # as if a notice had come
            self._refresh(10.0)
