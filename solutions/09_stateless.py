# %% [markdown]
# # Exercise 9: No handshake
#
# You write four parts of a client that speaks revision 2026-07-28: what each request carries, how to find out which
# revision a server speaks, a cache that obeys the server's hints, and a watch that does not trust notifications
# alone. Lesson 9 explains every word used here.
#
# How to work: read the prompt, fill the cell below it, run the check below that. The tasks do not depend on each
# other: if you are stuck in one, go to the next.

# %% [markdown]
# ## The stage
#
# The cell below makes the servers of this exercise. You need not read it. Know these things:
#
# - Each server is a real process. It speaks one revision or the other, refuses, is silent, is slow, or loses a
#   notification.
# - A server that answers with an error makes `RpcError`: `error.code`, `error.message`, `error.data`. A server that
#   does not answer in time makes `TimeoutError`.
# - `Clock` is a clock that only the check moves: `clock()` gives seconds. Use it, and never `time`.


# %% id="stage" locked=true
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

VERSION = "2026-07-28"
KEY = "io.modelcontextprotocol/"  # the keys in `_meta` that the protocol itself defines begin so
UNSUPPORTED_VERSION = -32022
LIST_CHANGED = "notifications/tools/list_changed"
PROBE_SECONDS, SECONDS = 0.4, 3.0  # how long a reply may take: to server/discover, to all else
FOLDER = tempfile.TemporaryDirectory(prefix="course-")
SERVER = r"""
import json, sys

config = json.loads(sys.argv[1])
record = open(config["record"], "a", encoding="utf-8", buffering=1)
supported, tools = config.get("supported", ["2026-07-28"]), list(config.get("tools", []))
KEY, ACK = "io.modelcontextprotocol/", "notifications/subscriptions/acknowledged"
held, listening = [], []


def send(body):
    line = json.dumps({"jsonrpc": "2.0", **body})
    record.write("← " + line + "\n")
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def result(message, **body):
    send({"id": message["id"], "result": body})


def error(message, code, text, data=None):
    send({"id": message["id"], "error": {"code": code, "message": text, **({"data": data} if data else {})}})


def unsupported(message, asked):
    error(message, -32022, "Unsupported protocol version", {"supported": supported, "requested": asked})


def kept(message, **body):
    hints = {key: config[key] for key in ("ttlMs", "cacheScope") if key in config}
    result(message, resultType="complete", **body, **hints)


def discover(message):
    kept(message, supportedVersions=supported, capabilities={"tools": {"listChanged": True}})


def tools_list(message):
    pages, cursors = config.get("pages") or [tools], ["(start)", *config.get("cursors", [])]
    place = cursors.index(message["params"].get("cursor", "(start)"))
    more = {"nextCursor": cursors[place + 1]} if place + 1 < len(pages) else {}
    kept(message, tools=[{"name": name, "inputSchema": {"type": "object"}} for name in pages[place]], **more)


def tools_call(message):
    tools.append(message["params"]["name"])
    for request in listening if not config.get("lose") else []:
        send({"method": "notifications/tools/list_changed", "params": {"_meta": {KEY + "subscriptionId": request}}})
    result(message, resultType="complete", content=[{"type": "text", "text": "done"}])


def listen(message):
    listening.append(message["id"])
    params = {"_meta": {KEY + "subscriptionId": message["id"]}, "notifications": message["params"]["notifications"]}
    send({"method": ACK, "params": params})


METHODS = {"server/discover": discover, "tools/list": tools_list, "tools/call": tools_call}
METHODS["subscriptions/listen"] = listen


def modern(message):
    meta = message.get("params", {}).get("_meta", {})
    for key in ("protocolVersion", "clientCapabilities"):
        if KEY + key not in meta:
            return error(message, -32602, "Missing _meta key: " + KEY + key)
    if not isinstance(meta[KEY + "clientCapabilities"], dict):
        return error(message, -32602, KEY + "clientCapabilities must be an object")
    if meta[KEY + "protocolVersion"] not in supported:
        return unsupported(message, meta[KEY + "protocolVersion"])
    METHODS[message["method"]](message)


def serve(message):
    probe = config.get("probe")
    if message["method"] == "server/discover" and probe == "slow" and not held:
        held.append(message)
    elif message["method"] == "server/discover" and probe == "silent":
        pass
    elif message["method"] == "server/discover" and isinstance(probe, list):
        error(message, *probe)
    elif message["method"] == "initialize" and config.get("initialize"):
        result(message, protocolVersion=config["initialize"], capabilities={"tools": {}},
               serverInfo={"name": "stage", "version": "1"})
    elif message["method"] == "initialize":
        for late in held:
            modern(late)
        unsupported(message, message["params"].get("protocolVersion"))
    else:
        modern(message)


sys.stderr.write("up\n")
sys.stderr.flush()
for line in sys.stdin:
    record.write("→ " + line.rstrip("\n") + "\n")
    if "id" in (message := json.loads(line)):
        serve(message)
"""


class RpcError(Exception):
    """The server answered with an error."""

    def __init__(self, code, message, data=None):
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.data = code, message, data


class Clock:
    """Seconds that pass only when somebody says so."""

    def __init__(self, now=100.0):
        self.now = now

    def __call__(self):
        return self.now

    def move(self, seconds):
        self.now += seconds


class Client:
    """A new server process: `request` sends and gives the result, `notices` are the notifications that came."""

    def __init__(self, **mode):
        handle, self.record = tempfile.mkstemp(dir=FOLDER.name)
        os.close(handle)
        command = [sys.executable, "-S", "-c", SERVER, json.dumps({"record": self.record, **mode})]
        pipe = subprocess.PIPE
        self.popen = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        with self.popen.stderr as stderr:
            stderr.readline()  # the server is up: from here on a reply takes no time
        self.replies, self.notices, self.last = queue.Queue(), [], 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.popen.stdout:
            message = json.loads(line)
            (self.notices.append if "method" in message else self.replies.put)(message)

    def request(self, method, params):
        """Send one request. A reply to an older one is late, and nobody waits for it."""
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.popen.stdin.write(json.dumps(message).encode() + b"\n")
        self.popen.stdin.flush()
        until = time.monotonic() + (PROBE_SECONDS if method == "server/discover" else SECONDS)
        while True:
            try:
                reply = self.replies.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise TimeoutError(f"no reply to {method}") from None
            if reply["id"] == self.last and "error" in reply:
                raise RpcError(**reply["error"])
            if reply["id"] == self.last:
                return reply["result"]

    def discover(self, version):
        """Ask server/discover in this revision: the result."""
        return self.request("server/discover", {"_meta": right_meta(version)})

    def initialize(self):
        """Open a session of the older kind: the result."""
        info = {"name": "exercise", "version": "9"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        return self.request("initialize", params)

    def call(self, tool):
        return self.request("tools/call", {"name": tool, "arguments": {}, "_meta": right_meta()})

    def names(self):
        """The names of the server's tools, asked now."""
        result = self.request("tools/list", {"_meta": right_meta()})
        return [tool["name"] for tool in result["tools"]]

    def asked(self):
        """What the server was asked so far: the method of each request, with the revision where it says one."""
        return [
            " ".join([message["method"], *filter(None, [meta_of(message).get(KEY + "protocolVersion")])])
            for message in (json.loads(line[2:]) for line in self if line.startswith("→"))
        ]

    def __len__(self):
        return len(self[:])

    def __getitem__(self, key):  # a client is its own wire, read when a check fails
        with open(self.record, encoding="utf-8") as file:
            return file.read().split("\n")[:-1][key]


def meta_of(message):
    """The `_meta` of a message."""
    return message.get("params", {}).get("_meta", {})


def right_meta(version=VERSION):
    """A `_meta` that is right."""
    info = {"name": "exercise", "version": "9"}
    return {KEY + "protocolVersion": version, KEY + "clientInfo": info, KEY + "clientCapabilities": {}}


def first_common(speaks, offered):
    """The first of our revisions that the server offers too. RuntimeError if there is none."""
    for version in speaks:
        if version in offered:
            return version
    raise RuntimeError(f"no revision in common: we speak {', '.join(speaks)}, the server {', '.join(offered)}")


def some_words(random, count):
    """Names that no answer can know before."""
    return random.sample(["open", "find", "drop", "copy", "sort", "join", "move", "send", "wipe", "fold"], count)


# %% [markdown] task=1 minutes=3 difficulty="easy"
# ## Task 1: what each request carries
#
# In revision 2026-07-28 there is no handshake. Each request carries in `_meta` what `initialize` used to say once.
# `with_meta(params, capabilities)` returns new params with `_meta` in them. One of its three keys is missing: add it.
# `KEY` is the text `"io.modelcontextprotocol/"`.
#
# | key | value |
# |---|---|
# | `io.modelcontextprotocol/protocolVersion` | `"2026-07-28"` |
# | `io.modelcontextprotocol/clientInfo` | name and version of the client |
# | `io.modelcontextprotocol/clientCapabilities` | what this client can do: `capabilities` |
#
# Example. `with_meta({}, {"sampling": {}})` gives a dict whose `_meta` says
# `"io.modelcontextprotocol/clientCapabilities": {"sampling": {}}`. With it, a server answers `server/discover`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# The two keys that are there begin with `KEY`. What stands in the third row of the table behind that beginning?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# A key is added to a dict by `meta[…] = …`. The value is an argument of the function.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# `meta[KEY + "…"] = capabilities`, with the word of the third row.
#
# </details>


# %% id="task1" answer=true
def with_meta(params, capabilities):
    """The params of a request in revision 2026-07-28; what was given stays as it is."""
    meta = {KEY + "protocolVersion": VERSION, KEY + "clientInfo": {"name": "exercise", "version": "9"}}
    ### BEGIN SOLUTION
    meta[KEY + "clientCapabilities"] = capabilities
    ### END SOLUTION
    return {**params, "_meta": meta}


# %% id="task1_check" points=2
with checks.task(1, "_meta and discover", points=2) as check:
    client = Client(tools=["search"])
    check.wire(client)
    check.returns(
        lambda: client.request("server/discover", with_meta({}, {}))["supportedVersions"],
        called="server/discover with with_meta({}, {}); the supportedVersions in its result",
        expected=[VERSION],
        seconds=4,
        why="each request needs protocolVersion and clientCapabilities in its _meta, even if the client can do nothing",
    )
    check.returns(
        with_meta,
        {"cursor": "a"},
        {"sampling": {}},
        expected={"cursor": "a", "_meta": {**right_meta(), KEY + "clientCapabilities": {"sampling": {}}}},
        why="the params that were given stay, and _meta has exactly the three keys of the table",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other params, other capabilities"):
        data = check.random()
        word, key = some_words(data, 2)
        capabilities = {name: {} for name in data.sample(["sampling", "elicitation", "roots"], 2)}
        given = {"name": word, "arguments": {key: data.randrange(10**6)}}
        before = json.loads(json.dumps(given))
        made = check.call(with_meta, given, capabilities)
        check.equal(
            made,
            {**before, "_meta": {**right_meta(), KEY + "clientCapabilities": capabilities}},
            what="the params",
            why="clientCapabilities is what was given, not always the same, and the other params stay",
        )
        check.equal(given, before, what="the given params", why="the dict that was given must not be changed")
        client = Client(tools=[word])
        check.returns(
            lambda: client.request("tools/list", with_meta({}, capabilities))["tools"][0]["name"],
            expected=word,
            seconds=4,
            why="a server takes the first tools/list without any other message before it",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=2 minutes=14 difficulty="hard"
# ## Task 2: which revision does this server speak?
#
# Write `open_session(discover, initialize, speaks)`. It asks, and returns the revision that client and server will
# use.
#
# - `discover(version)` sends `server/discover` in this revision and returns its result, which has a list
#   `"supportedVersions"`.
# - `initialize()` opens a session of the older kind and returns its result, which has a `"protocolVersion"`.
# - Both raise `RpcError` or `TimeoutError` as the stage says.
# - `speaks` is what your client speaks without a handshake, the newest first, such as `["2027-01-15", "2026-07-28"]`.
#   (The first is invented, for there will be others.)
# - `first_common(speaks, offered)` gives the first of `speaks` that is in the list `offered`. If there is none, it
#   raises `RuntimeError`. Let that exception pass.
#
# Begin with `discover(speaks[0])`. Then:
#
# | what comes | it means | do |
# |---|---|---|
# | a result | a new server | return the common revision |
# | `RpcError` with -32022 | a new server, another revision | *choose again* |
# | any other `RpcError` | an old server | `initialize` and return its `protocolVersion` |
# | `TimeoutError` | a silent old server, or a slow new one | `initialize`, see below |
#
# *Choose again*: take the common revision of `speaks` and `error.data["supported"]`, `discover` in that one, return
# it.
#
# After a `TimeoutError`, `initialize` either gives a result: return its `protocolVersion`. Or it raises `RpcError`
# with -32022: the server was new and slow, so *choose again*. Any other exception passes.
#
# Example. A server answers `discover` with `RpcError(-32602, …)`. Then `initialize()` gives `{"protocolVersion":
# "2025-11-25", …}`, and you return `"2025-11-25"`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Which single error code proves that a server is new, and what do you do after any other one?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# One `try` with two `except` blocks: `except RpcError as error:` and `except TimeoutError:`. The second row is needed
# in two places, so write it once: as a small function of `error`.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Helper: choose from `error.data["supported"]`, discover in that one, return it. Then try to discover; on `RpcError`
# with the one code, the helper; with any other, initialize; on `TimeoutError`, try to initialize, and on `RpcError`
# with the one code, the helper again; any other code is raised on. After the try: `first_common` of the result's
# list.
#
# </details>


# %% id="task2" answer=true
def open_session(discover, initialize, speaks):
    """Find out which revision the server speaks: the revision to use."""

    ### BEGIN SOLUTION
    def again(error):
        version = first_common(speaks, error.data["supported"])
        discover(version)
        return version

    try:
        result = discover(speaks[0])
    except RpcError as error:
        if error.code == UNSUPPORTED_VERSION:
            return again(error)
        return initialize()["protocolVersion"]
    except TimeoutError:
        try:
            return initialize()["protocolVersion"]
        except RpcError as error:
            if error.code == UNSUPPORTED_VERSION:
                return again(error)
            raise
    return first_common(speaks, result["supportedVersions"])
    ### END SOLUTION


# %% id="task2_check" points=3
with checks.task(2, "era probe", points=3) as check:

    def opened(client, speaks=(VERSION,)):
        """The revision that the answer found, or the exception; and what the server was asked."""
        try:
            version = open_session(client.discover, client.initialize, list(speaks))
        except (RuntimeError, TimeoutError) as error:
            if isinstance(error, NotImplementedError):
                raise
            version = type(error).__name__
        return version, client.asked()

    NEWEST = "2027-01-15"
    CASES = [
        (
            "a new server",
            {},
            [VERSION],
            (VERSION, [f"server/discover {VERSION}"]),
            "a result means: a new server, and nothing more needs to be asked",
        ),
        (
            "an old server that answers -32601, method not found",
            {"probe": [-32601, "Method not found"], "initialize": "2025-11-25"},
            [VERSION],
            ("2025-11-25", [f"server/discover {VERSION}", "initialize"]),
            "any error but -32022 means: an old server",
        ),
        (
            "an old server that answers -32602, invalid params",
            {"probe": [-32602, "Invalid request parameters"], "initialize": "2025-11-25"},
            [VERSION],
            ("2025-11-25", [f"server/discover {VERSION}", "initialize"]),
            "no single code means old: any error but -32022 does",
        ),
        (
            "an old server that is silent",
            {"probe": "silent", "initialize": "2025-06-18"},
            [VERSION],
            ("2025-06-18", [f"server/discover {VERSION}", "initialize"]),
            "silence means old as well, and initialize says which of the old revisions it is",
        ),
        (
            f"a new server that speaks {VERSION}, asked in {NEWEST} first",
            {},
            [NEWEST, VERSION],
            (VERSION, [f"server/discover {NEWEST}", f"server/discover {VERSION}"]),
            "-32022 comes only from a new server: ask it again in a revision of its list, and never initialize",
        ),
    ]
    for title, mode, speaks, expected, why in CASES:
        client = Client(**mode)
        check.wire(client)
        called = f"open_session for {title}; the revision, and what the server was asked"
        check.returns(opened, client, speaks, called=called, expected=expected, seconds=6, why=why)
    ### BEGIN HIDDEN TESTS
    data = check.random()
    with check.hidden("old servers with other errors"):
        for code in data.sample([-32600, -32603, -32700, -32000, -32002, 0, 1, 404], 3):
            version = data.choice(["2025-11-25", "2025-06-18", "2025-03-26"])
            client = Client(probe=[code, data.choice(["what?", "no", "Method not found"])], initialize=version)
            why = "any error but -32022 means an old server: initialize, and use the revision of its result"
            check.returns(lambda client=client: opened(client)[0], expected=version, seconds=6, why=why)
    with check.hidden("a slow new server"):
        client = Client(probe="slow")
        check.returns(
            opened,
            client,
            expected=(VERSION, [f"server/discover {VERSION}", "initialize", f"server/discover {VERSION}"]),
            seconds=6,
            why="it was silent, then it answered initialize with -32022: so it is new; discover again",
        )
    with check.hidden("a slow new server with another revision"):
        client = Client(probe="slow", supported=["2026-12-01", VERSION])
        expected = (VERSION, [f"server/discover {NEWEST}", "initialize", f"server/discover {VERSION}"])
        why = "the error to initialize lists what the server supports: choose from it as in the second row"
        check.returns(opened, client, [NEWEST, VERSION], expected=expected, seconds=6, why=why)
    with check.hidden("nothing in common"):
        for mode, speaks in (
            ({"supported": ["2028-02-02"]}, [VERSION]),
            ({"supported": ["2028-02-02", "2027-09-09"]}, [NEWEST]),
        ):
            client = Client(initialize="2025-11-25", **mode)
            expected = ("RuntimeError", [f"server/discover {speaks[0]}"])
            why = "no common revision: the RuntimeError of first_common passes, and no initialize is sent"
            check.returns(opened, client, speaks, expected=expected, seconds=6, why=why)
    with check.hidden("our order decides"):
        client = Client(supported=[VERSION, NEWEST])
        why = "the revision is the first of ours that the server has too, not the first of the server's list"
        check.returns(lambda: opened(client, [NEWEST, VERSION])[0], expected=NEWEST, seconds=6, why=why)
    ### END HIDDEN TESTS

# %% [markdown] task=3 minutes=14 difficulty="medium"
# ## Task 3: a cache that obeys
#
# A result says how long it may be kept, `ttlMs` in milliseconds, and for whom, `cacheScope`. Write the two methods of
# `Cache`. Behind it, each user has a connection of their own; `ask(user, method, params)` sends a request on it and
# returns the result.
#
# `get(user, method, params)` returns the result of a request, from the cache if it may, else from `ask`:
#
# - A result is fresh as long as `clock()` is *less* than the time when it was received, plus `ttlMs` (mind the unit).
#   Received means: after `ask` has returned. With `ttlMs` absent, 0 or negative it is never fresh.
# - A result belongs to its method and its params. Another cursor is another request, and `{"cursor": ""}` is a cursor
#   too.
# - `"cacheScope": "public"`: any user may get it from the cache. Anything else, or no scope: only the user who asked.
#
# `forget(method)`: a notification said that this list has changed, so all results of this method are thrown away: all
# pages, all users.
#
# Example. A result with `"ttlMs": 5000, "cacheScope": "private"` is received at 100 seconds for ada. At 104.9 ada
# gets it from the cache, at 105 the server is asked. bob's request always goes to the server.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Which facts must two requests have in common, so that one may get the other's result? Is the user one of them?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# A dict cannot be a key of a dict, its text can: `json.dumps(params, sort_keys=True)`. For whom a result is can be a
# part of the key: the user, or something that stands for everybody.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# `get`: for the owner "everybody", then for the owner `user`: look up (method, text of params, owner); if there is an
# entry and its time is not over, return it. Then ask; take the time; choose the owner by the scope; keep result and
# end of time; return. `forget`: keep only the entries whose key has another method.
#
# </details>


# %% id="task3" answer=true
class Cache:
    """Results that may be used again, as the server allows."""

    def __init__(self, ask, clock):
        self.ask, self.clock = ask, clock
        self.kept = {}

    def get(self, user, method, params):
        """The result of this request: from the cache while it is fresh, else from the server."""
        ### BEGIN SOLUTION
        text = json.dumps(params, sort_keys=True)
        for owner in ((), (user,)):
            result, until = self.kept.get((method, text, owner), (None, 0.0))
            if result is not None and self.clock() < until:
                return result
        result = self.ask(user, method, params)
        owner = () if result.get("cacheScope") == "public" else (user,)
        self.kept[method, text, owner] = result, self.clock() + max(0, result.get("ttlMs", 0)) / 1000
        return result
        ### END SOLUTION

    def forget(self, method):
        """This list has changed: throw its results away."""
        ### BEGIN SOLUTION
        self.kept = {key: entry for key, entry in self.kept.items() if key[0] != method}
        ### END SOLUTION


# %% id="task3_check" points=3
with checks.task(3, "ttl cache", points=3) as check:

    def play(steps, slow=0.0, wire=None, **hints):
        """Ask for lists as the steps say: what each `get` returned (its tools), and whether the server was asked."""
        clock, clients, asked, seen = Clock(), {}, [], []

        def ask(user, method, params):
            if user not in clients:
                clients[user] = Client(**{"tools": [f"{user}-tool"], **hints})
            asked.append(user)
            clock.move(slow)
            return clients[user].request(method, {**params, "_meta": right_meta()})

        cache = Cache(ask, clock)
        for step in steps:
            if isinstance(step, (int, float)):
                clock.move(step)
            elif step.startswith("forget "):
                cache.forget(step.removeprefix("forget "))
            else:
                user, _, cursor = step.partition(" ")
                params = {"cursor": cursor.removeprefix("cursor=")} if cursor else {}
                before = len(asked)
                result = cache.get(user, "tools/list", params)
                tools = [tool["name"] for tool in result["tools"]] if isinstance(result, dict) else result
                seen.append((tools, "server" if len(asked) > before else "cache"))
            if wire is not None and "ada" in clients:
                wire[:] = clients["ada"][:]
        return seen

    SERVED, CACHED = (["ada-tool"], "server"), (["ada-tool"], "cache")
    lines = []
    check.wire(lines)
    CASES = [
        (
            "ada asks, 4.9 s pass, ada asks, 0.1 s pass, ada asks; ttlMs is 5000",
            ["ada", 4.9, "ada", 0.1, "ada"],
            {"ttlMs": 5000, "cacheScope": "public"},
            [SERVED, CACHED, SERVED],
            "5000 milliseconds are 5 seconds, and at 5 s the result is stale",
        ),
        (
            "ada asks twice; ttlMs is absent",
            ["ada", "ada"],
            {"cacheScope": "public"},
            [SERVED, SERVED],
            "without ttlMs a result is stale at once",
        ),
        (
            "ada asks twice, then list_changed, then ada asks; ttlMs is 60000",
            ["ada", "ada", "forget tools/list", "ada"],
            {"ttlMs": 60000, "cacheScope": "public"},
            [SERVED, CACHED, SERVED],
            "list_changed ends the life of a result at once",
        ),
        (
            "ada asks, then bob; cacheScope is public",
            ["ada", "bob"],
            {"ttlMs": 60000, "cacheScope": "public"},
            [SERVED, CACHED],
            "a public result is for every user",
        ),
        (
            "ada asks, then bob, then ada; cacheScope is private",
            ["ada", "bob", "ada"],
            {"ttlMs": 60000, "cacheScope": "private"},
            [SERVED, (["bob-tool"], "server"), CACHED],
            "a private result is only for the user who asked",
        ),
    ]
    for title, steps, hints, expected, why in CASES:
        called = f"get when {title}: (tools, where from)"
        check.returns(play, steps, wire=lines, **hints, called=called, expected=expected, seconds=6, why=why)
    ### BEGIN HIDDEN TESTS
    data = check.random()
    with check.hidden("zero and negative"):
        for ttl in (0, -data.randrange(1, 10**6)):
            why = "a result with a ttlMs of 0, or a negative one, is stale at once"
            check.returns(
                play, ["ada", "ada"], ttlMs=ttl, cacheScope="public", expected=[SERVED, SERVED], seconds=6, why=why
            )
    with check.hidden("each page for itself"):
        first, second, third = some_words(data, 3)
        pages = [[first], [second], [third]]
        steps = [
            "ada",
            "ada cursor=",
            "ada cursor=x",
            "ada",
            "ada cursor=",
            "ada cursor=x",
            "forget tools/list",
            "ada cursor=",
        ]
        sources = ["server"] * 3 + ["cache"] * 3 + ["server"]
        names = [first, second, third, first, second, third, second]
        expected = [([name], source) for name, source in zip(names, sources, strict=True)]
        why = 'each cursor is a request of its own, and "" is a cursor; forget throws all pages away'
        mode = {"ttlMs": 60000, "cacheScope": "public", "pages": pages, "cursors": ["", "x"]}
        check.returns(lambda: play(steps, **mode), expected=expected, seconds=6, why=why)
    with check.hidden("the time begins when the result is received"):
        slow, ttl = data.randrange(3, 9), data.randrange(10, 20)
        mode = {"slow": slow, "ttlMs": ttl * 1000, "cacheScope": "public"}
        why = "take the time after ask has returned: a slow server's result lives as long as any other"
        check.returns(
            lambda: play(["ada", ttl - 0.5, "ada", 1, "ada"], **mode),
            expected=[SERVED, CACHED, SERVED],
            seconds=6,
            why=why,
        )
    with check.hidden("no scope, or one that nobody knows"):
        for scope in ({}, {"cacheScope": data.choice(["team", "PUBLIC", ""])}):
            why = "only the scope public may be shared; whatever else stands there is private"
            expected = [SERVED, (["bob-tool"], "server"), CACHED, (["bob-tool"], "cache")]
            check.returns(
                lambda scope=scope: play(["ada", "bob", "ada", "bob"], ttlMs=60000, **scope),
                expected=expected,
                seconds=6,
                why=why,
            )
    with check.hidden("forget for everybody, and for one method only"):
        steps = ["ada", "bob", "forget resources/list", "ada", "bob", "forget tools/list", "ada", "bob"]
        bobs = [(["bob-tool"], source) for source in ("server", "cache", "server")]
        expected = [SERVED, bobs[0], CACHED, bobs[1], SERVED, bobs[2]]
        why = "forget(method) throws away the results of this method for all users, and of no other method"
        check.returns(lambda: play(steps, ttlMs=60000, cacheScope="private"), expected=expected, seconds=8, why=why)
    ### END HIDDEN TESTS

# %% [markdown] task=4 minutes=9 difficulty="medium"
# ## Task 4: poll, in case a notification is lost
#
# `subscriptions/listen` tells us when the tools have changed, if nothing goes wrong: a notification that is lost is
# never sent again. Write two methods of `Watch`, so that its tools are right at once when a notification comes, and
# after `every` seconds when none comes.
#
# - `heard(message)` is called for each notification. Only `LIST_CHANGED` means something. It must not list by itself:
#   it runs on the reader thread.
# - `tick()` is called often. It sets `self.tools = self.list_tools()` if a `LIST_CHANGED` was heard since the last
#   list was asked for, or if `every` seconds or more have passed since then. Otherwise it does nothing.
#
# A notification that comes *while* `list_tools` runs may be about something newer than the list that is on its way.
# So the next `tick` lists again.
#
# Example. `every` is 60. The list was asked for at 100. A `tick` at 159 does nothing. At 159.5 comes a
# `LIST_CHANGED`: the next `tick` lists, say at 160. Then nothing is heard: the next list is asked for by the first
# `tick` at 220 or later.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# `heard` and `tick` run at different times. What must `heard` leave behind so that `tick` knows?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `__init__` has two fields for you: `self.changed`, a flag, and `self.asked`, a time. In which order must you clear
# the flag and list, so that a notification in between is not forgotten?
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# `heard`: if it is the right method, raise the flag. `tick`: if the flag is up, or now minus `asked` is at least
# `every`: flag down, `asked` is now, then list.
#
# </details>


# %% id="task4" answer=true
class Watch:
    """The tools of one server, kept up to date by notifications, and by polling in case one is lost."""

    def __init__(self, list_tools, every, clock):
        self.list_tools, self.every, self.clock = list_tools, every, clock
        self.changed, self.asked = False, clock()
        self.tools = list_tools()

    def heard(self, message):
        """A notification came."""
        ### BEGIN SOLUTION
        if message["method"] == LIST_CHANGED:
            self.changed = True
        ### END SOLUTION

    def tick(self):
        """List again, if it is time."""
        ### BEGIN SOLUTION
        if self.changed or self.clock() - self.asked >= self.every:
            self.changed, self.asked = False, self.clock()
            self.tools = self.list_tools()
        ### END SOLUTION


# %% id="task4_check" points=2
with checks.task(4, "poll as a backstop", points=2) as check:

    def watched(client, steps, every=60):
        """What a watch knows after each tick of the steps: (its tools, how often it has listed)."""
        clock, lists, early, during, seen = Clock(), [], [], [], []

        def list_tools():
            lists.append(clock())
            names = client.names()
            for tool in during:
                change(tool)
            during.clear()
            return names

        def change(tool):
            """The server gets a tool more, and says so, or forgets to say it."""
            client.call(tool)
            before = len(lists)
            for notice in client.notices:
                watch.heard(notice)
            client.notices.clear()
            early.extend(lists[before:])

        notifications = {"notifications": {"toolsListChanged": True}, "_meta": right_meta()}
        listen = {"jsonrpc": "2.0", "id": "listen-1", "method": "subscriptions/listen", "params": notifications}
        client.popen.stdin.write(json.dumps(listen).encode() + b"\n")  # never answered: the stream stays open
        watch = Watch(list_tools, every, clock)
        for step in steps:
            if isinstance(step, (int, float)):
                clock.move(step)
                watch.tick()
                count = f"{len(lists)}, {len(early)} of them in heard" if early else len(lists)
                seen.append((list(watch.tools), count))
            elif step.startswith("while listing: "):
                during.append(step.removeprefix("while listing: "))
            else:
                change(step)
        return seen

    ONE, TWO = ["search"], ["search", "create"]
    client = Client(tools=ONE)
    check.wire(client)
    check.returns(
        watched,
        client,
        [1, "create", 1, 1],
        called="Watch with every=60: a tick, a change that is announced, two ticks; (tools, lists) after each tick",
        expected=[(ONE, 1), (TWO, 2), (TWO, 2)],
        seconds=6,
        why="a notification leads to one list, by the next tick: heard runs on the reader thread and leaves a sign",
    )
    client = Client(tools=ONE, lose=True)
    check.wire(client)
    check.returns(
        watched,
        client,
        ["create", 59, 1, 1, 59],
        called="Watch with every=60: a change whose notification is lost, ticks at 59, 60, 61 and 120 s",
        expected=[(ONE, 1), (TWO, 2), (TWO, 2), (TWO, 3)],
        seconds=6,
        why="without a notification, the list is asked for every 60 seconds, and not more often",
    )
    ### BEGIN HIDDEN TESTS
    data = check.random()
    with check.hidden("a change while the list is on its way"):
        old, new, newer = some_words(data, 3)
        steps = [new, f"while listing: {newer}", 1, 1, 1]
        expected = [([old, new], 2), ([old, new, newer], 3), ([old, new, newer], 3)]
        why = "clear the flag before you list: a notification that comes meanwhile needs a list of its own"
        check.returns(watched, Client(tools=[old]), steps, expected=expected, seconds=6, why=why)
    with check.hidden("other times, other notifications"):
        every = data.randrange(20, 50)
        client = Client(tools=[old], lose=True)
        client.notices.append({"method": "notifications/message", "params": {"level": "info", "data": "hello"}})
        steps = [new, 1, every - 2, 1, *[0] * data.randrange(5, 9), every - 1, 1]
        ticks = [([old], 1)] * 2 + [([old, new], 2)] * (len(steps) - 4) + [([old, new], 3)]
        why = "only list_changed leads to a list at once; else a list is due `every` seconds after the last one"
        check.returns(watched, client, steps, every, expected=ticks, seconds=6, why=why)
    with check.hidden("a notification moves the next poll"):
        steps = [40, new, 1, 30, 29, 1]
        expected = [([old], 1), ([old, new], 2), ([old, new], 2), ([old, new], 2), ([old, new], 3)]
        why = "the seconds count from the last list, whatever was its reason"
        check.returns(watched, Client(tools=[old]), steps, 60, expected=expected, seconds=6, why=why)
    ### END HIDDEN TESTS

# %% [markdown]
# ## Done?
#
# `solutions/09_stateless.md` in the repository discusses the answers and another right way for each.
