# %% [markdown]
# # Exercise 3: Nobody waits for anybody
#
# You write the four parts of a client that waits for nobody: a table of the requests under way, the thread that
# reads, the thread that lists again, and the request with a deadline. Lesson 3 explains every word used here.
#
# How to work: read the prompt, fill the cell below it, run the check below that. The tasks do not depend on
# each other: if you are stuck in one, go to the next. An answer that hangs is stopped after a few seconds,
# with its processes.

# %% [markdown]
# ## The stage
#
# The cell below makes the servers of this exercise. You need not read it. Know these things:
#
# - Each server is a real process, written to be awkward: it answers in another order, it asks you something, it
#   changes its tools, it is slow, it dies.
# - `Tracker` is the one of the lesson. `tracker.add()` gives a new id and a future, `tracker.take(id)` removes the
#   future of an id and returns it, or `None`, and `tracker.end(reason)` fails all that wait.
# - A future is a place for a value that comes later: `future.set_result(x)` fills it, `future.result(2)` waits at
#   most 2 seconds for it.
#
# Threads that you need are started by the checks.


# %% id="stage" locked=true
import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future

from steps import step03_reader_thread as lesson
from steps.step03_reader_thread import RpcError, Tracker

FOLDER = tempfile.TemporaryDirectory(prefix="course-")
SERVER = r"""
import json, sys

config = json.loads(sys.argv[1])
record = open(config["record"], "a", encoding="utf-8", buffering=1)
held, own, lists = [], 0, 0


def send(*messages):
    lines = [message if isinstance(message, str) else json.dumps(message) for message in messages]
    record.writelines("← " + line + "\n" for line in lines)
    sys.stdout.buffer.write("".join(line + "\n" for line in lines).encode())
    sys.stdout.buffer.flush()


def reply(message, text):
    content = {"content": [{"type": "text", "text": text}], "isError": False}
    return {"jsonrpc": "2.0", "id": message["id"], "result": content}


def call(message, tool):
    global own
    if tool == config.get("hold"):
        held.append(message)
        return
    if tool == config.get("die"):
        sys.exit(3)
    if tool == config.get("release"):
        send(*[reply(late, f"{config['hold']} done") for late in reversed(held)])
        held.clear()
    for method in config.get("asks", []) if tool == config.get("nudge") else []:
        own += 1
        send({"jsonrpc": "2.0", "id": own, "method": method})
    send(*(config.get("says", []) if tool == config.get("nudge") else []), reply(message, f"{tool} done"))


def list_tools(message):
    global lists
    lists += 1
    if lists == 1:
        send(*[{"jsonrpc": "2.0", "method": config["changed"]}] * config.get("burst", 0))
    pages = config["first_pages"] if lists == 1 and "first_pages" in config else config["pages"]
    cursors = ["(start)", *config.get("cursors", [])]
    cursor = message.get("params", {}).get("cursor", "(start)")
    if cursor not in cursors:
        send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32602, "message": f"bad cursor {cursor!r}"}})
        return
    place = cursors.index(cursor)
    tools = [{"name": tool, "description": "", "inputSchema": {"type": "object"}} for tool in pages[place]]
    more = {"nextCursor": cursors[place + 1]} if place + 1 < min(len(pages), len(cursors)) else {}
    send({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools, **more}})


for line in sys.stdin.buffer:
    record.write("→ " + line.decode("utf-8", "replace").rstrip("\n") + "\n")
    message = json.loads(line)
    if message.get("method") == "tools/call" and "id" in message:
        call(message, message["params"]["name"])
    elif message.get("method") == "tools/list" and "id" in message:
        list_tools(message)
    elif "method" in message and "id" in message and message["method"] not in config.get("silent", []):
        error = {"code": -32601, "message": "Method not found: " + message["method"]}
        send({"jsonrpc": "2.0", "id": message["id"], "error": error})
"""


class Stage:
    """A server that is prepared and not started yet. `mode` says what is special about it."""

    def __init__(self, **mode):
        handle, self.record = tempfile.mkstemp(dir=FOLDER.name)
        os.close(handle)
        config = {"record": self.record, "pages": [[]], "changed": lesson.LIST_CHANGED, **mode}
        self.command = [sys.executable, "-S", "-c", SERVER, json.dumps(config)]

    def start(self):
        """Start the server."""
        pipe = subprocess.PIPE
        return subprocess.Popen(self.command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)

    def wire(self):
        """What the server received, →, and wrote, ←, so far."""
        with open(self.record, encoding="utf-8") as file:
            return file.read().split("\n")[:-1]

    def received(self):
        """The messages that the server received."""
        return [json.loads(line[2:]) for line in self.wire() if line.startswith("→ ")]

    def settle(self):
        """Wait until nothing more passes on the wire."""
        before = None
        while before != (before := self.wire()):
            time.sleep(0.05)

    def __len__(self):
        return len(self.wire())

    def __getitem__(self, key):  # a stage is its own wire, read when a check fails
        return self.wire()[key]


class Client:
    """A right client around your function: `send`, `tracker`, `inbox`; `late` counts replies nobody waits for."""

    def __init__(self, stage):
        self.tracker, self.inbox, self.late = Tracker(), queue.Queue(), 0
        self.transport = lesson.Transport(stage.command, self.sort, self.tracker.end)
        self.transport.start()
        self.send = self.transport.send

    def sort(self, message):
        future = None if "method" in message else self.tracker.take(message.get("id"))
        if "method" in message:
            self.inbox.put(message)
        elif future is None:
            self.late += 1
        else:
            future.set_result(message)

    def request(self, method, params=None):
        """Send a request and return its result."""
        request_id, future = self.tracker.add()
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}})
        reply = future.result(3)
        if "error" in reply:
            raise RpcError(reply["error"]["code"], reply["error"]["message"])
        return reply["result"]


class Running:
    """Your function in a thread of its own; what it raises comes up again in `wait`."""

    def __init__(self, function, *args):
        self.error = None
        self.thread = threading.Thread(target=self.run, args=(function, args), daemon=True)
        self.thread.start()

    def run(self, function, args):
        try:
            function(*args)
        except BaseException as error:
            self.error = error

    def wait(self, ready, what, seconds=3.0):
        """Wait until `ready()` is true; TimeLimit if that does not happen."""
        deadline = time.monotonic() + seconds
        while not ready():
            if self.error is not None:
                time.sleep(0.3)  # so that the server has written what it was about to write
                raise self.error
            if time.monotonic() > deadline:
                raise checks.TimeLimit(f"no {what} within {seconds:g} seconds")
            time.sleep(0.002)


def tool_call(request_id, tool):
    """The message of one call."""
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {"name": tool, "arguments": {}}}


def text_of(reply):
    """The text in the reply to a call."""
    return reply["result"]["content"][0]["text"] if isinstance(reply, dict) and "result" in reply else reply


# %% [markdown] task=1 minutes=5 difficulty="easy"
# ## Task 1: which reply belongs to which request?
#
# `MyTracker` remembers the requests under way: id → future. `add` is written. One line is missing in `take`: remove
# the future of this id from `self.pending` and return it. If nobody waits for this id, return `None`.
#
# Example. After `add()`, `add()` two requests are under way, 1 and 2. `take(2)` returns the future of the second, then
# `self.pending` holds only 1. Another `take(2)` returns `None`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Which method of a dict removes a key and gives back its value?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `{1: "a"}.pop(1)` gives `"a"`. With a second argument it gives that one for a key that is not there.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Return what `self.pending` pops for this id, with `None` as the second argument.
#
# </details>


# %% id="task1" answer=true
class MyTracker:
    """The requests that wait for a reply."""

    def __init__(self):
        self.lock, self.last, self.pending = threading.Lock(), 0, {}

    def add(self):
        """A new id, and the future that its reply will fill."""
        with self.lock:
            self.last += 1
            self.pending[self.last] = Future()
            return self.last, self.pending[self.last]

    def take(self, request_id):
        """Remove and return the future of this id; None if nobody waits for it."""
        with self.lock:
            ### BEGIN SOLUTION
            return self.pending.pop(request_id, None)
            ### END SOLUTION


# %% id="task1_check" points=2
with checks.task(1, "request tracker", points=2) as check:

    def pair(stage, tools):
        """Call the tools, all at once; then match each reply by your tracker: ([(asked for, got)], left in the map)."""
        process, tracker, futures = stage.start(), MyTracker(), {}
        for tool in tools:
            request_id, future = tracker.add()
            futures[tool] = future
            process.stdin.write(lesson.encode(tool_call(request_id, tool)))
        process.stdin.flush()
        for _ in tools:
            reply = json.loads(process.stdout.readline())
            future = tracker.take(reply["id"])
            if future is None:
                return f"take({reply['id']}) gave None, but a request with this id was waiting"
            future.set_result(reply)
        left = len(tracker.pending)
        return [(tool, text_of(future.result(0)) if future.done() else None) for tool, future in futures.items()], left

    stage = Stage(hold="search", release="create")
    check.wire(stage)
    check.returns(
        lambda: pair(stage, ["search", "read", "create"]),
        called="add for search, read and create, then take for each reply; the server answers read before search; "
        "the replies, and how many requests are left in pending",
        expected=([("search", "search done"), ("read", "read done"), ("create", "create done")], 0),
        seconds=4,
        why="a reply belongs to the request with the same id, and what is answered leaves the map",
    )
    check.returns(lambda: MyTracker().take(7), expected=None, called="take(7) with nobody waiting", seconds=4)
    ### BEGIN HIDDEN TESTS
    with check.hidden("many replies, in another order"):
        data = check.random()
        many = data.randint(5, 9)
        words = data.sample(["open", "find", "drop", "copy", "sort", "join"], 2)
        stage = Stage(hold=words[0], release=words[1])

        def many_pairs():
            process, tracker, futures = stage.start(), MyTracker(), []
            for tool in [words[0]] * many + [words[1]]:
                request_id, future = tracker.add()
                futures.append((request_id, future))
                process.stdin.write(lesson.encode(tool_call(request_id, tool)))
            process.stdin.flush()
            for _ in futures:
                reply = json.loads(process.stdout.readline())
                tracker.take(reply["id"]).set_result(reply)
            return [future.result(0)["id"] == request_id for request_id, future in futures], tracker.pending

        why = "each reply goes to the future of its own id, whatever the order, and the map is empty at the end"
        check.returns(many_pairs, expected=([True] * (many + 1), {}), seconds=4, why=why)
    with check.hidden("the same reply twice"):
        tracker = MyTracker()
        ids = [tracker.add()[0] for _ in range(3)]
        first, second = check.call(lambda: (tracker.take(ids[1]), tracker.take(ids[1])))
        check.true(
            first is not None and second is None and sorted(tracker.pending) == [ids[0], ids[2]],
            "once",
            why="the first take removes this id and no other, so the second one gives None",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=2 minutes=15 difficulty="medium"
# ## Task 2: the reader thread
#
# Write `read(stdout, send, tracker, inbox)`. It runs in a thread of its own, one for each server. It reads lines from
# `stdout` until the end, and sorts the messages:
#
# | message | what to do |
# |---|---|
# | a line that is no JSON object | skip it |
# | no `method`: a reply | take its future from the tracker; if there is one, `future.set_result(message)` |
# | `method` and `id`: the server asks | answer with `send(…)` under the same id |
# | `method` and no `id`: a notification | `inbox.put(message)`; it is never answered |
#
# The answer to `ping` has the result `{}`. The answer to any other method has the error
# `{"code": -32601, "message": "…"}`.
#
# At the end of the output: `tracker.end("its output has ended")`, so that nobody waits in vain, and
# `inbox.put(None)`. Then return.
#
# `for line in stdout:` gives each line as bytes as soon as it is there, and ends at the end of the pipe. `json.loads`
# takes bytes; it raises `ValueError` for what is no JSON.
#
# Example. The server writes `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`. You send
# `{"jsonrpc": "2.0", "id": 1, "result": {}}`. The request number 1 of your own is another one: look for `method` first.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Both sides number their requests from 1. If a message has the id 1, what tells you whether it is an answer to you or a
# question to you?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# Ask in the order of the table: is it a dict, has it no `method`, has it an `id`. What comes last is the notification.
# Whatever happens in a line, the next line must be read: nothing in the loop may raise.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# For each line: try to load it, `continue` on `ValueError` or if it is no dict. Then `if "method" not in message`,
# `elif "id" in message`, `else`. Behind the loop, not in it: end the tracker, put `None`.
#
# </details>


# %% id="task2" answer=true
def read(stdout, send, tracker, inbox):
    """Sort every message of one server, until its output ends. Runs in a thread of its own."""
    ### BEGIN SOLUTION
    for line in stdout:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict):
            continue
        if "method" not in message:
            future = tracker.take(message.get("id"))
            if future is not None:
                future.set_result(message)
        elif "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"]}
            if message["method"] == "ping":
                send(reply | {"result": {}})
            else:
                send(reply | {"error": {"code": -32601, "message": f"Method not found: {message['method']}"}})
        else:
            inbox.put(message)
    tracker.end("its output has ended")
    inbox.put(None)
    ### END SOLUTION


# %% id="task2_check" points=3
with checks.task(2, "reader thread", points=3) as check:

    def conversation(stage, tools, until=None):
        """Call each tool with your `read` in a thread: (texts of the replies, notifications, answers to the server)."""
        process, tracker, inbox, lock = stage.start(), Tracker(), queue.Queue(), threading.Lock()

        def send(message):
            with lock, contextlib.suppress(OSError):
                process.stdin.write(lesson.encode(message))
                process.stdin.flush()

        reader = Running(read, process.stdout, send, tracker, inbox)
        texts = []
        for tool in tools:
            request_id, future = tracker.add()
            send(tool_call(request_id, tool))
            if tool != stage.hold:
                reader.wait(future.done, f"reply to {tool}")
                texts.append(
                    text_of(future.result(0)) if not future.exception(0) else type(future.exception(0)).__name__
                )
        stage.settle()
        send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}})
        reader.wait(
            lambda: any(message.get("method", "")[-9:] == "cancelled" for message in stage.received()), "sign of life"
        )
        process.kill()
        reader.wait(lambda: not reader.thread.is_alive(), "return of read at the end of the output")
        if reader.error is not None:
            raise reader.error
        found = [inbox.get_nowait() for _ in range(inbox.qsize())]
        answers = [message for message in stage.received() if "method" not in message]
        return texts, found, answers

    def make(nudge, hold=None, **mode):
        stage = Stage(nudge=nudge, hold=hold, **mode)
        stage.hold = hold
        return stage

    CHANGED = {"jsonrpc": "2.0", "method": lesson.LIST_CHANGED}
    stage = make("search", says=["Server ready!", CHANGED, "[1, 2]"], asks=["ping", "roots/list"])
    check.wire(stage)
    called = "read in a thread while the tool search is called; the server prints, asks and notifies before it replies"
    texts, found, answers = check.call(conversation, stage, ["search"], called=called, seconds=6)
    check.equal(texts, ["search done"], what="the reply that the caller of search got")
    check.equal(found, [CHANGED, None], what="the inbox", why="each notification, and None when the output has ended")
    check.equal(
        [{key: message[key] for key in ("id", "result") if key in message} for message in answers][:1],
        [{"id": 1, "result": {}}],
        what="what the server got for its ping",
        why="ping is answered with an empty result under the server's own id",
    )
    check.equal(
        [(message.get("id"), (message.get("error") or {}).get("code")) for message in answers][1:],
        [(2, -32601)],
        what="what else the server got as answers: (id, code)",
        why="another request gets the error -32601; a notification gets nothing",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("a slow call and a quick one"):
        data = check.random()
        slow, quick, free = data.sample(["open", "find", "drop", "copy", "sort", "join"], 3)
        notes = [{"jsonrpc": "2.0", "method": f"notifications/{word}"} for word in data.sample(["a", "b", "c"], 2)]
        stage = make(quick, hold=slow, release=free, says=[notes[0], "\u00e9", notes[1]], asks=["ping"])
        why = "a slow call kept something else from coming through; the reader only sorts and waits for nothing"
        texts, found, answers = check.call(conversation, stage, [slow, quick, free], seconds=6, why=why)
        check.equal(texts, [f"{quick} done", f"{free} done"], what="replies", why=why)
        check.equal(found, [*notes, None], what="inbox", why="notifications go to the inbox, in their order, then None")
        check.equal(len(answers), 1, what="answers", why="only a request is answered, a notification never")
    with check.hidden("a server that dies in the middle of a call"):

        def dying():
            stage = make("x", die=free)
            process, tracker, inbox = stage.start(), Tracker(), queue.Queue()
            future = tracker.add()[1]
            reader = Running(read, process.stdout, lambda message: None, tracker, inbox)
            process.stdin.write(lesson.encode(tool_call(1, free)))
            process.stdin.flush()
            reader.wait(future.done, "end of the wait")
            reader.wait(lambda: not reader.thread.is_alive(), "return of read")
            return type(future.exception(0)).__name__, inbox.get(timeout=1)

        why = "at the end of the output call tracker.end, so that whoever waits is told at once, and put None"
        check.returns(dying, expected=("ServerDied", None), seconds=5, why=why)
    ### END HIDDEN TESTS

# %% [markdown] task=3 minutes=12 difficulty="medium"
# ## Task 3: the list has changed
#
# Two functions.
#
# `list_all(request)` gives all tools of a server. `request("tools/list", params)` returns one page, such as
# `{"tools": [...], "nextCursor": "abc"}`. The next page is asked for with `{"cursor": "abc"}`. The last page has no
# `nextCursor`. An empty string is a cursor like any other.
#
# `work(inbox, request, session)` runs in a thread. It takes messages from `inbox` until `None` comes, then
# returns. When a message has the method `notifications/tools/list_changed`, set
# `session.tools = list_all(request)`. Servers like to send that notification in bursts: what waits in the inbox
# *before* you list is covered by this one list. So 50 notices that wait together lead to one list. A notice that
# comes while you list leads to one more.
#
# Example. The inbox holds list_changed, list_changed, list_changed, `None`: one list, then return.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# When you have taken one message: how do you find out whether more of them are waiting, without waiting yourself?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `inbox.get()` waits for a message. `inbox.empty()` says whether one is waiting, and you are the only one who takes.
# For the pages: `result.get("nextCursor")` is `None` if there is none, and `""` is not `None`.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# For ever: a batch begins with one `get`; as long as the inbox is not empty, the next `get` joins it. If the batch
# has a list_changed, list. If it has `None`, return.
#
# </details>


# %% id="task3" answer=true
def list_all(request):
    """All tools, page by page."""
    ### BEGIN SOLUTION
    result = request("tools/list", {})
    tools = list(result["tools"])
    while result.get("nextCursor") is not None:
        result = request("tools/list", {"cursor": result["nextCursor"]})
        tools += result["tools"]
    return tools
    ### END SOLUTION


def work(inbox, request, session):
    """Keep session.tools fresh until None comes. Runs in a thread of its own."""
    ### BEGIN SOLUTION
    while True:
        batch = [inbox.get()]
        while not inbox.empty():
            batch.append(inbox.get())
        if any(message is not None and message["method"] == lesson.LIST_CHANGED for message in batch):
            session.tools = list_all(request)
        if None in batch:
            return
    ### END SOLUTION


# %% id="task3_check" points=2
with checks.task(3, "list_changed refresh", points=2) as check:

    def names(tools):
        """The names of a list of tools; anything else as it is."""
        return [tool["name"] for tool in tools] if isinstance(tools, list) else tools

    def refreshed(stage, notices, then=()):
        """`work` with these notices waiting, later `then`: (names of the tools afterwards, how often it listed)."""
        client, session = Client(stage), main.Session("notes", None, {}, [])
        for message in notices:
            client.inbox.put(message)
        worker = Running(work, client.inbox, client.request, session)
        worker.wait(lambda: client.inbox.empty() or not worker.thread.is_alive(), "sign that work takes the notices")
        for message in then:
            client.inbox.put(message)
        client.inbox.put(None)
        worker.wait(lambda: not worker.thread.is_alive(), "return of work")
        if worker.error is not None:
            raise worker.error
        starts = [m for m in stage.received() if m["method"] == "tools/list" and "cursor" not in m.get("params", {})]
        return names(session.tools), len(starts)

    stage = Stage(pages=[["search"], ["create"], ["delete"]], cursors=["", "b"])
    check.wire(stage)
    check.returns(
        lambda: names(list_all(Client(stage).request)),
        called="list_all(request) for a server with three pages; its cursors are '' and 'b'",
        expected=["search", "create", "delete"],
        seconds=4,
        why="the list ends where nextCursor is absent; an empty cursor is a cursor",
    )
    OTHER = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hello"}}
    stage = Stage(pages=[["search", "create"]])
    check.wire(stage)
    check.returns(
        lambda: refreshed(stage, [OTHER, CHANGED, CHANGED, OTHER, CHANGED]),
        called="work with three list_changed and two other notifications waiting; the tools, and how often it listed",
        expected=(["search", "create"], 1),
        seconds=5,
        why="all notices that wait are covered by one list",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("a burst while we list"):
        data = check.random()
        old, new, newer = data.sample(["open", "find", "drop", "copy", "sort", "join"], 3)
        stage = Stage(first_pages=[[old]], pages=[[new], [newer]], cursors=[data.choice(["", "x", "0"])], burst=30)
        tools, lists = check.call(refreshed, stage, [CHANGED] * data.randint(2, 50), seconds=5)
        check.equal(
            tools, [new, newer], what="tools", why="a notice came while the list was on its way: list once more"
        )
        check.equal(lists, 2, what="lists", why="notices that wait together lead to one list, not to one each")
    with check.hidden("nothing changed"):
        stage = Stage(pages=[[old]])
        check.returns(
            lambda: refreshed(stage, [OTHER], [OTHER]),
            expected=([], 0),
            seconds=5,
            why="only list_changed makes us list again, and None ends the work",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=4 minutes=13 difficulty="hard"
# ## Task 4: a deadline, and a reply that comes too late
#
# Write `request(client, method, params, timeout)`. `client.tracker` is a `Tracker`, `client.send(message)` sends,
# and a reader thread fills the futures.
#
# 1. Take a new id and its future, send the request, wait at most `timeout` seconds.
# 2. The reply came in time: return its `result`. If it has an `error`, raise `RpcError(code, message)`.
# 3. It did not: take the id out of the tracker, so that the reply finds nobody if it comes late. Tell the server with
#    `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": …}}`; only `initialize` must
#    not be cancelled. Raise `TimeoutError` with a sentence.
#
# Example. `request(client, "tools/call", {"name": "search", "arguments": {}}, 0.2)` for a server that is busy: after
# 0.2 seconds `TimeoutError`, `client.tracker` waits for nothing any more, and the next request gets its own reply.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# What does `future.result(timeout)` do when the time is up, and which lines have to run only then?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# It raises `TimeoutError`. In the `except` you know the id still: `client.tracker.take(request_id)` forgets it. The
# cancellation is a notification: it has no id of its own.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Add; send; try to get the result of the future in time. Except: take the id out; unless the method is `initialize`,
# send the notification; raise. After the try: an `error` in the reply becomes `RpcError`, else return the `result`.
#
# </details>


# %% id="task4" answer=true
def request(client, method, params, timeout):
    """Send one request and wait for its result, at most `timeout` seconds."""
    ### BEGIN SOLUTION
    request_id, future = client.tracker.add()
    client.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    try:
        reply = future.result(timeout)
    except TimeoutError:
        client.tracker.take(request_id)
        if method != "initialize":
            cancelled = {"requestId": request_id, "reason": "no reply in time"}
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
        raise TimeoutError(f"no reply to {method} within {timeout:g} s") from None
    if "error" in reply:
        raise RpcError(reply["error"]["code"], reply["error"]["message"])
    return reply["result"]
    ### END SOLUTION


# %% id="task4_check" points=3
with checks.task(4, "deadline and late reply", points=3) as check:

    def outcome(client, method, tool, timeout):
        """What became of one request: its text, or the name of the exception."""
        params = {"name": tool, "arguments": {}} if tool else {}
        try:
            result = request(client, method, params, timeout)
        except NotImplementedError:
            raise
        except Exception as error:
            return "TimeoutError" if isinstance(error, TimeoutError) else type(error).__name__
        return result["content"][0]["text"] if isinstance(result, dict) and "content" in result else result

    def late(stage, slow, free):
        """A call that is too slow, then one that releases its reply: what happened."""
        client = Client(stage)
        first = outcome(client, "tools/call", slow, 0.2)
        waiting = client.tracker.take(1) is not None
        second = outcome(client, "tools/call", free, 2.0)
        return {"slow call": first, "still waiting": waiting, "next call": second, "late replies": client.late}

    def cancelled(stage):
        """The cancellations that the server received, without their reason."""
        found = [message for message in stage.received() if message.get("method") == "notifications/cancelled"]
        return [{"id" if "id" in m else "requestId": m.get("id", m["params"].get("requestId"))} for m in found]

    stage = Stage(hold="search", release="read")
    check.wire(stage)
    check.returns(
        late,
        stage,
        "search",
        "read",
        called="request for search, which is held back, with 0.2 s, then for read, which lets both replies go",
        expected={"slow call": "TimeoutError", "still waiting": False, "next call": "read done", "late replies": 1},
        seconds=4,
        why="after the deadline nobody waits for that id any more, and a late reply is nobody's",
    )
    check.equal(
        cancelled(stage),
        [{"requestId": 1}],
        what="the cancellations that the server received",
        why="one notification notifications/cancelled, without an id, with the requestId of the request",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("initialize is never cancelled"):
        data = check.random()
        stage = Stage(silent=["initialize"])

        def in_vain():
            client = Client(stage)
            answer = outcome(client, "initialize", "", 0.2)
            with contextlib.suppress(RpcError):
                client.request("ping")  # when it is answered, the server has read whatever came before
            return answer

        answer = check.call(in_vain, seconds=4)
        check.equal(
            (answer, cancelled(stage)),
            ("TimeoutError", []),
            what="initialize",
            why="initialize has a deadline like any request, but no notifications/cancelled may follow",
        )
    with check.hidden("an error, and a server that dies"):
        words = data.sample(["open", "find", "drop", "copy", "sort", "join"], 4)

        def bad_ends():
            client = Client(Stage(die=words[0], hold=words[1]))
            return [outcome(client, words[2], "", 2.0), outcome(client, "tools/call", words[0], 3.5)]

        why = "an error reply becomes RpcError, and the exception of the future (the server died) passes as it is"
        check.returns(bad_ends, expected=["RpcError", "ServerDied"], seconds=4, why=why)
    with check.hidden("many at once"):

        def many():
            stage = Stage(hold=words[1], release=words[3])
            client, results = Client(stage), []
            threads = [
                threading.Thread(target=lambda: results.append(outcome(client, "tools/call", words[1], 3)), daemon=True)
                for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            while len(stage.received()) < 8:
                time.sleep(0.002)
            results.append(outcome(client, "tools/call", words[3], 3))
            for thread in threads:
                thread.join(3)
            return sorted(results)

        why = "eight calls wait at the same time and all get their replies; hold no lock while you wait"
        check.returns(many, expected=sorted([f"{words[1]} done"] * 8 + [f"{words[3]} done"]), seconds=5, why=why)
    ### END HIDDEN TESTS

# %% [markdown]
# ## Done?
#
# `solutions/03_reader_thread.md` in the repository discusses the answers and another right way for each.
