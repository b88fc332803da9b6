# %% [markdown]
# # Exercise 8: The same client on the official SDK
#
# You move the small client to the official Python SDK: one call, all pages, many servers with their routing, and
# an owner task that survives a bad server. Lesson 8 explains every word used here.
#
# How to work: read the prompt, fill the cell below it, run the check below that. A check says in one sentence what is
# wrong, and shows the last lines of the wire where that helps. The tasks do not depend on each other.

# %% [markdown]
# ## The SDK
#
# The cell below looks for the SDK and installs it where it is missing, as in Colab. That takes about twenty seconds,
# once.

# %% id="sdk" locked=true
try:
    from mcp import Client, StdioServerParameters, stdio_client
except ImportError:
    print("Installing the official SDK …")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "mcp>=2.3,<3"], check=True)
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.split(".")[0] == "mcp"]:
        del sys.modules[name]  # an older version, which was looked into just now
    from mcp import Client, StdioServerParameters, stdio_client

# %% [markdown]
# ## The stage
#
# The cell below makes the servers of this exercise: each one is a process of its own. You need not read it. Know this:
#
# - `transport(command)` is what a `Client` needs to start a server: `Client(transport(command))`. It is the SDK's
#   `stdio_client` with `errlog=None`, so it works in Colab.
# - Use a `Client` with `async with`, and `await` what it does. It must be left by the task that entered it, and in one
#   task the newest must be left first.
# - A line without `await` gives the turn to nobody: a loop that only looks, or `time.sleep`, stops all tasks.
# - The servers are of two revisions, 2025-11-25 and 2026-07-28. The SDK finds out which.
# - The checks run your coroutines in an event loop of their own. To try something out, add a cell:
#   `await ask(FILES, "search", {"query": "plan"})`. In a notebook no `asyncio.run` is needed, and none works.


# %% id="stage" locked=true
import asyncio
import contextlib
import gc
import json
import logging
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

CODE = Path(main.__file__).resolve().parent
SECONDS = 8  # for everything that a check asks of an answer: servers start in a moment
CELLS = ("ipykernel_", "<ipython-input")  # in the file names of notebook cells
SCOPES = (
    "A client was left by another task than the one that entered it, or before a newer one of the same task. "
    "Enter and leave it in one task: in task 3 through the stack and without `gather`, "
    "in task 4 with one `async with` in `own`."
)
STANDS = (
    "{} runs and comes to no `await`, so nothing else in the event loop has its turn. "
    "A loop that looks again and again, or `time.sleep`, stops all tasks: wait with `await`."
)
ENDING = 6  # seconds more to leave what was entered; the SDK needs four for a server that does not want to end
LIMIT = SECONDS + ENDING + 6  # for a whole check; before that, `run` says what is wrong
SERVER = """
import json, os, sys
spec = json.loads(sys.argv[1])
sys.path.insert(0, spec["code"])
from servers.stateless import stateless

def record(name, text):
    with open(os.path.join(spec["folder"], name), "a") as file:
        file.write(text + "\\n")

first_pages = []

def listed(cursor):
    first_pages.extend([1] * (cursor is None))
    if len(first_pages) > 5:
        return None
    number = 0 if cursor is None else spec["cursors"].index(cursor) + 1
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in spec["pages"][number]]
    more = number + 1 < len(spec["pages"])
    return {"tools": tools, **({"nextCursor": spec["cursors"][number]} if more else {})}

def serve(message):
    reply = {"jsonrpc": "2.0", "id": message.get("id")}
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        info = {"name": "server", "version": "1"}  # all say the same: this name finds nobody
        body = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        body = listed(params.get("cursor"))
    elif method == "tools/call":
        known = any(params["name"] in page for page in spec["pages"])
        text = f"{spec['name']} ran {params['name']}" if known else f"Unknown tool: {params['name']}"
        body = {"content": [{"type": "text", "text": text}], "isError": not known}
    else:
        body = None
    if body is None:
        why = "this client has asked for the first page again and again" if method == "tools/list" else method
        error = {"code": -32601, "message": f"Not served: {why}"}
        return reply | {"error": error} if "id" in message else None
    return reply | {"result": body}

record("pids", str(os.getpid()))
if spec["broken"]:
    sys.exit(1)
server = stateless(serve) if spec["era"] == "2026-07-28" else serve
for line in sys.stdin:
    record("wire", "→ " + line.strip())
    reply = server(json.loads(line))
    if reply is not None:
        record("wire", "← " + json.dumps(reply))  # first: the client goes on as soon as it has the reply
        print(json.dumps(reply), flush=True)
"""
for name in ("mcp", "asyncio"):  # what a failing answer leaves behind is said by the checks
    logging.getLogger(name).addHandler(logging.NullHandler())


def transport(command):
    """What a Client needs to start a server. errlog=None: the server writes to the same stderr as we do."""
    return stdio_client(StdioServerParameters(command=command[0], args=command[1:]), errlog=None)


class Stage(Sequence):
    """Commands for servers, and what passed: as a sequence, the lines of the wire."""

    def __init__(self):
        self.kept = tempfile.TemporaryDirectory(prefix="exercise8-", ignore_cleanup_errors=True)
        self.folder = Path(self.kept.name)

    def command(self, name, *pages, era="2025-11-25", cursors=None, broken=False):
        """The command of a server; a page is a list of tool names."""
        cursors = [f"page{number}" for number in range(1, len(pages))] if cursors is None else cursors
        spec = {"name": name, "pages": pages, "era": era, "cursors": cursors, "broken": broken}
        spec |= {"code": str(CODE), "folder": str(self.folder)}
        return [sys.executable, "-c", SERVER, json.dumps(spec)]

    def lines(self, name):
        file = self.folder / name
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def __len__(self):
        return len(self.lines("wire"))

    def __getitem__(self, place):
        return self.lines("wire")[place]

    def alive(self):
        """How many of the servers still run, after a moment to end."""
        deadline = time.monotonic() + 1
        while (left := sum(map(lives, self.lines("pids")))) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left


def lives(pid):
    """Whether a process runs; one that has ended and was not yet waited for does not count."""
    with contextlib.suppress(OSError):
        os.kill(int(pid), 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def run(steps, seconds=SECONDS):
    """Run a coroutine in a loop and a thread of its own, with a limit; what it raised comes without its groups."""
    outcome, hook, loops = Future(), sys.unraisablehook, []

    async def limited():
        loops.append(asyncio.get_running_loop())
        try:
            outcome.set_result(await asyncio.wait_for(steps, seconds))
        except BaseException as error:
            outcome.set_exception(error)

    sys.unraisablehook = lambda given: None
    thread = threading.Thread(target=lambda: asyncio.run(limited()), daemon=True)
    try:
        thread.start()
        return outcome.result(seconds + ENDING)
    except BaseException as error:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if "cancel scope" in str(error):
            raise checks.CheckFailed(SCOPES) from None
        if not outcome.done() and loops:
            stands_still(loops[0], thread)
        if isinstance(error, TimeoutError):
            raise checks.TimeLimit(f"no answer within {seconds:g} seconds") from None
        raise error from None
    finally:
        thread.join(2)
        gc.collect()
        sys.unraisablehook = hook


def stands_still(loop, thread):
    """Fail with the name of the function that keeps this loop from giving turns; return if it gives them."""
    turn = threading.Event()
    loop.call_soon_threadsafe(turn.set)
    if not turn.wait(1):
        frame = sys._current_frames().get(thread.ident)
        while frame is not None and not any(cell in frame.f_code.co_filename for cell in CELLS):
            frame = frame.f_back
        name = f"`{frame.f_code.co_name}`" if frame else "A function"
        raise checks.CheckFailed(STANDS.format(name)) from None


def words(random, number):
    """Names that no answer can know before."""
    known = "open find send drop copy sort join move fold peek poke pull push read list lock mark pick scan wrap"
    return random.sample(known.split(), number)


FILES = [sys.executable, str(CODE / "servers" / "files.py")]

# %% [markdown] task=1 minutes=2 difficulty="easy"
# ## Task 1: one client, one call
#
# `ask` starts a server, calls one of its tools and returns the text. Only one line is missing: call the tool with
# `client.call_tool(tool, arguments)`, and keep what comes in `result`. It is a coroutine: it wants an `await`.
#
# Example. `await ask(FILES, "search", {"query": "plan"})` returns `"plan.txt"`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# What does `client.call_tool(…)` return while nobody has awaited it?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `value = await coroutine(…)` waits for the coroutine and gives its value.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# One assignment to `result`: the word `await`, then the call from the prompt.
#
# </details>


# %% id="task1" answer=true
async def ask(command, tool, arguments):
    """Start a server, call one of its tools, return the text of the result."""
    async with Client(transport(command)) as client:
        ### BEGIN SOLUTION
        result = await client.call_tool(tool, arguments)
        ### END SOLUTION
        return result.content[0].text


# %% id="task1_check" points=2
with checks.task(1, "one client, one call", points=2) as check:
    check.returns(
        lambda: run(ask(FILES, "search", {"query": "plan"})),
        called="ask(FILES, 'search', {'query': 'plan'})",
        expected="plan.txt",
        seconds=LIMIT,
        why="without `await`, a call of call_tool is a coroutine that nobody has run",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("another server, of the other revision"):
        name, tool = words(check.random(), 2)
        stage = Stage()
        check.returns(
            lambda: run(ask(stage.command(name, [tool], era="2026-07-28"), tool, {})),
            expected=f"{name} ran {tool}",
            why="call the tool that was asked for, with the arguments that were given",
            seconds=LIMIT,
        )
    ### END HIDDEN TESTS

# %% [markdown] task=2 minutes=6 difficulty="easy"
# ## Task 2: all pages
#
# `await client.list_tools(cursor=…)` gives *one page*. `page.tools` is a list, `page.next_cursor` the cursor of the
# next page, or `None` on the last one. For the first page the cursor is `None`. A cursor is a text, and an empty text
# is a cursor like any other.
#
# `list_all(client)` returns the names of all tools of a server, in the order of the pages.
#
# Example. A server with the pages `["search", "create"]` and `["delete"]`: `["search", "create", "delete"]`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# How do you know that there is another page, and how do you ask for it?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `while cursor:` ends at an empty text too. What says "no more pages" here is `None`, and only that.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# The cursor begins as `None`. For ever: await a page, add the names of its tools, take its next cursor; if that is
# `None`, return the names.
#
# </details>


# %% id="task2" answer=true
async def list_all(client):
    """The names of all tools of a server, page by page."""
    ### BEGIN SOLUTION
    names, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names
    ### END SOLUTION


# %% id="task2_check" points=2
with checks.task(2, "all pages", points=2) as check:

    async def listed(command):
        async with Client(transport(command)) as client:
            return await list_all(client)

    stage = Stage()
    check.wire(stage)
    check.returns(
        lambda: run(listed(stage.command("notes", ["search", "create"], ["delete"]))),
        called="list_all(client) for a server with the pages ['search', 'create'] and ['delete']",
        expected=["search", "create", "delete"],
        seconds=LIMIT,
        why="a page that has a next_cursor is not the last one",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other pages, other cursors"):
        names = words(check.random(), 7)
        pages = [names[:2], [], names[2:3], names[3:]]
        stage = Stage()
        check.returns(
            lambda: run(listed(stage.command("x", *pages, era="2026-07-28", cursors=["0", "", "end"]))),
            expected=names,
            seconds=LIMIT,
            why="a list ends where next_cursor is None; an empty cursor and an empty page are no end",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=3 minutes=16 difficulty="medium"
# ## Task 3: many servers, routing kept
#
# Write the two methods of `Hub` that are missing. `commands` is `{server name: command}`.
#
# `connect(stack)` is called once, inside `async with`. For each server, in the order of `commands`, it enters a
# `Client(transport(command))` into the stack and keeps it in `self.clients[name]`. Then it puts each tool of the server
# into `self.registry`: canonical name → `(server name, local name)`. The first server keeps a bare name; a later one
# gets `<server>/<name>`. One page of tools is enough here.
#
# `call(name, arguments)` routes by the registry and returns the text of the result. A name that is not in the registry
# is a `KeyError`.
#
# What is given does the rest: `contextlib.AsyncExitStack` leaves what was entered, the newest first, in the same task.
# `await stack.enter_async_context(x)` is `async with x` without the block.
#
# Example. `notes` has `search`, `files` has `read` and `search`: the registry is
# `{"search": ("notes", "search"), "read": ("files", "read"), "files/search": ("files", "search")}`, and
# `await hub.call("files/search", {})` reaches `files` as `search`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# In the small client, which parts talked to a server, and which parts only looked into a dict? Which of them changes?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `await stack.enter_async_context(x)` gives what `async with x as …` gives: here, the open client. The routing is that
# of exercise 1: a dict holds where a name leads, and nobody looks into the text of a canonical name.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# connect: for each name and command, enter a client and keep it; await its page of tools; for each tool choose the
# bare or the prefixed name and put the pair into the registry. call: take the pair from the registry, await `call_tool`
# of that server's client with the local name, return the text of the first block.
#
# </details>


# %% id="task3" answer=true
class Hub:
    """Many servers on the SDK: `async with Hub(commands) as hub: await hub.call(name, arguments)`."""

    def __init__(self, commands):
        self.commands, self.clients, self.registry = commands, {}, {}

    async def __aenter__(self):
        async with contextlib.AsyncExitStack() as stack:
            await self.connect(stack)
            self._stack = stack.pop_all()  # all is well: the stack is left later, in __aexit__
        return self

    async def __aexit__(self, *error):
        await self._stack.aclose()

    async def connect(self, stack):
        """Enter a client for each server, and fill the registry."""
        ### BEGIN SOLUTION
        for server, command in self.commands.items():
            client = await stack.enter_async_context(Client(transport(command)))
            self.clients[server] = client
            for tool in (await client.list_tools()).tools:
                canonical = tool.name if tool.name not in self.registry else f"{server}/{tool.name}"
                self.registry[canonical] = (server, tool.name)
        ### END SOLUTION

    async def call(self, name, arguments):
        """Route one call by the registry."""
        ### BEGIN SOLUTION
        server, local = self.registry[name]
        result = await self.clients[server].call_tool(local, arguments)
        return result.content[0].text
        ### END SOLUTION


# %% id="task3_check" points=3
with checks.task(3, "many servers, routing kept", points=3) as check:

    async def through_hub(stage, commands, names):
        """Open a hub, look into its registry, call these names, leave it, and count the servers that still run."""
        async with Hub(commands) as hub:
            called = {name: await hub.call(name, {}) for name in names}
            try:
                called["no such tool"] = await hub.call("no such tool", {})
            except KeyError:
                called["no such tool"] = "KeyError"
            found = {"registry": dict(hub.registry), "called": called}
        return found | {"servers left": await asyncio.to_thread(stage.alive)}

    stage = Stage()
    check.wire(stage)
    commands = {
        "notes": stage.command("notes", ["search"]),
        "files": stage.command("files", ["read", "search"], era="2026-07-28"),
    }
    check.returns(
        lambda: run(through_hub(stage, commands, ["search", "read", "files/search"])),
        called="Hub for notes and files, three calls, and one of a name that does not exist",
        expected={
            "registry": {
                "search": ("notes", "search"),
                "read": ("files", "read"),
                "files/search": ("files", "search"),
            },
            "called": {
                "search": "notes ran search",
                "read": "files ran read",
                "files/search": "files ran search",
                "no such tool": "KeyError",
            },
            "servers left": 0,
        },
        seconds=LIMIT,
        why="the entry says which client and which local name; what is entered into the stack is left with it",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other servers, and a tool with a slash in its own name"):
        tool, other, free, *names = words(check.random(), 6)
        a, b, c = names
        stage = Stage()
        tools = {a: [tool, f"{b}/{other}"], b: [other, tool], c: [free, tool, other]}
        commands = {
            name: stage.command(name, listed, era=check.random().choice(["2025-11-25", "2026-07-28"]))
            for name, listed in tools.items()
        }
        registry = {tool: (a, tool), f"{b}/{other}": (a, f"{b}/{other}"), other: (b, other), f"{b}/{tool}": (b, tool)}
        registry |= {free: (c, free), f"{c}/{tool}": (c, tool), f"{c}/{other}": (c, other)}
        why = "a call went astray: server and local name stand in the registry, not in the text of a name"
        result = check.call(lambda: run(through_hub(stage, commands, registry)), seconds=LIMIT, why=why)
        check.equal(result["registry"], registry, what="registry", why="the registry is wrong for them")
        wanted = {name: f"{server} ran {local}" for name, (server, local) in registry.items()}
        check.equal(result["called"], wanted | {"no such tool": "KeyError"}, what="calls", why=why)
    with check.hidden("the second server does not start"):
        stage = Stage()
        commands = {a: stage.command(a, [tool]), b: stage.command(b, [], broken=True)}

        def half_way():
            try:
                run(through_hub(stage, commands, []))
            except NotImplementedError:
                raise
            except Exception:
                return stage.alive()
            return "no exception"

        why = "when one server does not start, the stack must end the others: enter them into it and nowhere else"
        check.returns(half_way, expected=0, seconds=LIMIT, why=why)
    ### END HIDDEN TESTS

# %% [markdown] task=4 minutes=16 difficulty="hard"
# ## Task 4: an owner task, and one bad server
#
# In `Hub` one bad server takes all down, the servers start one after the other, and all must be left in one order. Now
# each server gets a task of its own, its owner. `Server` below is given: `server.start()` begins the task `own(server)`
# and waits for `server.ready`, `server.close()` sets `server.stop` and waits for the task to end.
#
# Write `own(server)`.
#
# 1. Enter `Client(transport(server.command))`, keep it in `server.client`, set `server.ready`.
# 2. Wait for `server.stop`, then leave the client. Set `server.client` to `None`.
# 3. If the server cannot be started: keep the reason in `server.reason` as a text, and set `server.ready` too. Raise
#    nothing.
#
# The SDK wraps what happened, often twice: `ExceptionGroup("unhandled errors in a TaskGroup (1 sub-exception)",
# [ExceptionGroup(…, [MCPError(…)])])`. The reason is the text of the innermost exception, as in `"Connection closed"`.
# The inner exceptions of a group are in `error.exceptions`; here there is one.
#
# Example. Of three servers one has a command that does not exist. All three are started together; two have a client,
# one has the reason `[Errno 2] No such file or directory: '…'`. They may be closed in any order.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Who waits for `server.ready`, and what becomes of them if the client cannot be entered?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `try … except Exception as error … finally` round the whole `async with`. An `ExceptionGroup` is an `Exception`, and
# `isinstance(error, ExceptionGroup)` tells.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Try: async with the client: keep it, set ready, await the stop. Except: while the error is a group, take its first
# inner one; keep its text. Finally: no client any more, and set ready for whoever still waits.
#
# </details>


# %% id="task4" answer=true
class Server:
    """One server and the task that owns it."""

    def __init__(self, command):
        self.command, self.client, self.reason = command, None, None
        self.ready, self.stop = asyncio.Event(), asyncio.Event()

    async def start(self):
        self.task = asyncio.create_task(own(self))
        ready = asyncio.create_task(self.ready.wait())
        await asyncio.wait([self.task, ready], return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self.task.done():
            self.task.result()  # raises what `own` raised

    async def close(self):
        self.stop.set()
        await self.task


async def own(server):
    """Enter, say ready, wait for stop, leave: all in this one task."""
    ### BEGIN SOLUTION
    try:
        async with Client(transport(server.command)) as client:
            server.client = client
            server.ready.set()
            await server.stop.wait()
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        server.reason = str(error)
    finally:
        server.client = None
        server.ready.set()
    ### END SOLUTION


# %% id="task4_check" points=3
with checks.task(4, "an owner task", points=3) as check:

    async def owned(stage, commands, tool):
        """Start all servers together, call a tool of each, close them, the oldest first."""
        servers = {name: Server(command) for name, command in commands.items()}
        await asyncio.gather(*[server.start() for server in servers.values()])
        found = {}
        for name, server in servers.items():
            found[name] = server.reason
            if server.client is not None:
                try:
                    found[name] = (await server.client.call_tool(tool, {})).content[0].text
                except Exception:
                    found[name] = "the call failed"
        for server in servers.values():
            await server.close()
        found["clients left"] = [name for name, server in servers.items() if server.client is not None]
        found["never ready"] = [name for name, server in servers.items() if not server.ready.is_set()] or "nobody"
        return found | {"servers left": await asyncio.to_thread(stage.alive)}

    stage = Stage()
    commands = {
        "notes": stage.command("notes", ["search"]),
        "ghost": ["no-such-command"],
        "files": stage.command("files", ["search"], era="2026-07-28"),
    }
    check.returns(
        lambda: run(owned(stage, commands, "search")),
        called="own for notes, ghost (whose command does not exist) and files, together; closed in the same order",
        expected={
            "notes": "notes ran search",
            "ghost": "[Errno 2] No such file or directory: 'no-such-command'",
            "files": "files ran search",
            "clients left": [],
            "never ready": "nobody",
            "servers left": 0,
        },
        seconds=LIMIT,
        why="each task enters its client, awaits the stop and leaves; who waits for ready hears of a failure too",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("a server that ends at once"):
        a, b, c, tool = words(check.random(), 4)
        stage, left = Stage(), {"clients left": [], "never ready": "nobody", "servers left": 0}
        commands = {name: stage.command(name, [tool], era=era) for name, era in ((a, "2026-07-28"), (c, "2025-11-25"))}
        commands = {b: stage.command(b, [tool], broken=True), **commands}
        result = check.call(
            lambda: run(owned(stage, commands, tool)),
            seconds=LIMIT,
            why="one bad server must cost the others nothing, and own must not raise",
        )
        check.equal(
            result,
            {a: f"{a} ran {tool}", c: f"{c} ran {tool}", b: "Connection closed"} | left,
            what="the servers",
            why="the reason is the text of the innermost exception; the others keep their clients until the stop",
        )
    ### END HIDDEN TESTS

# %% [markdown]
# ## Done?
#
# `solutions/08_sdk_port.md` in the repository discusses the answers and another right way for each.
