# %% [markdown]
# # Exercise 2: A server is a process
#
# Until now a server was a function. Here it is a process: you write the bytes, shake hands, take the place of
# a stub, notice the death of a server, and end a process so that nothing of it is left. Lesson 2 explains
# every word used here.
#
# How to work: read the prompt, fill the cell below it, run the check below that. The tasks do not depend on
# each other: if you are stuck in one, go to the next. An answer that hangs is stopped after a few seconds,
# with its processes.

# %% [markdown]
# ## The stage
#
# The cell below makes the servers of this exercise. You need not read it. Know these things:
#
# - `stage = Stage("notes", ["search"])` prepares a server of that name with these tools. `stage.start()` starts
#   it and gives the `subprocess.Popen`, with binary pipes `.stdin` and `.stdout`.
# - `send(process, message)` writes one message. `receive(process)` waits for one line: it returns the message,
#   `None` for a line that is no message, or raises `EOFError` at the end of the pipe.
# - `stage.wire()` shows what the server received, →, and wrote, ←.
#
# To try something out, add a cell of your own and end what you start there: `process.kill()`.


# %% id="stage" locked=true
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

FOLDER = tempfile.TemporaryDirectory(prefix="course-")

SERVER = r"""
import json, os, signal, sys, time

config = json.loads(sys.argv[1])
record = open(config["record"], "a", encoding="utf-8", buffering=1)
ready = False


def send(message):
    line = json.dumps(message, ensure_ascii=False)
    record.write("← " + line + "\n")
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def on_sigterm(number, frame):
    os.write(record.fileno(), b"(SIGTERM)\n")  # record.write may be under way, and does not bear a second one
    if not config.get("ignores_sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTERM)


def result_of(message):
    global ready
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        info = {"name": config["name"], "version": config["release"]}
        return {"protocolVersion": config["version"], "capabilities": {"tools": {}}, "serverInfo": info}
    if not ready:
        return {"code": -32600, "message": "not initialized yet"}
    if method == "tools/list":
        tools = [{"name": tool, "description": "", "inputSchema": {"type": "object"}} for tool in config["tools"]]
        return {"tools": tools}
    if method == "tools/call" and params.get("name") in config["tools"]:
        if config.get("dies_in_call"):
            sys.exit(7)
        text = f"{config['name']} ran {params['name']}: {config['secret']}"
        return {"content": [{"type": "text", "text": text}], "isError": False}
    return {"code": -32602, "message": f"Unknown: {params.get('name', method)}"}


if config.get("ignores_sigterm") or not config.get("ignores_eof"):
    signal.signal(signal.SIGTERM, on_sigterm)
record.write("(started)\n")
for line in sys.stdin.buffer:
    record.write("→ " + line.decode("utf-8", "replace").rstrip("\n") + "\n")
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if message.get("method") == "notifications/initialized" and "id" not in message:
        ready = True
    for early in config.get("talks_first", []):
        send(early)
    if "id" in message and "method" in message:
        outcome = result_of(message)
        send({"jsonrpc": "2.0", "id": message["id"], "error" if "code" in outcome else "result": outcome})
record.write("(end of stdin)\n")
if config.get("cleans_up"):
    time.sleep(config["cleans_up"])
    record.write("(cleaned up)\n")
while config.get("ignores_eof"):
    signal.pause()
"""


class Stage:
    """A server that is prepared and not started yet. `mode` says what is special about it."""

    def __init__(self, name, tools, secret="", **mode):
        self.name = name
        handle, self.record = tempfile.mkstemp(dir=FOLDER.name)
        os.close(handle)
        config = {"name": name, "tools": tools, "secret": secret, "record": self.record, "release": "1.0.0"}
        config = {**config, "version": main.PROTOCOL_VERSION, **mode}
        self.command = [sys.executable, "-S", "-c", SERVER, json.dumps(config)]

    def start(self):
        """Start the server; returns when it runs."""
        pipe = subprocess.PIPE
        process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        while not self.wire() and process.poll() is None:
            time.sleep(0.002)
        return process

    def wire(self):
        """What the server received and wrote so far, as lines."""
        with open(self.record, encoding="utf-8") as file:
            return file.read().split("\n")[:-1]

    def received(self):
        """The messages that the server received; a line that is no JSON stays text."""
        lines = [line[2:] for line in self.wire() if line.startswith("→ ")]
        return [json.loads(line) if line.startswith("{") and line.endswith("}") else line for line in lines]


class Wire:
    """The lines of a stage, read at the moment when a check fails."""

    def __init__(self, stage):
        self.stage = stage

    def __len__(self):
        return len(self.stage.wire())

    def __getitem__(self, key):
        return self.stage.wire()[key]


def send(process, message):
    """Write one message to the server."""
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def receive(process):
    """Wait for one line: the message in it, None for another line; EOFError at the end of the pipe."""
    line = process.stdout.readline()
    if not line:
        raise EOFError("the server's output has ended")
    try:
        return json.loads(line)
    except ValueError:
        return None


# %% [markdown] task=1 minutes=5 difficulty="easy"
# ## Task 1: messages to lines, bytes to lines
#
# On the wire a message is one line: its JSON in UTF-8, and a newline at the end. Fill in one line in each of
# two functions.
#
# - `encode(message)` gives the bytes of one message.
# - `split_lines(buffer)` takes what was read so far. It returns the complete lines, without their newline, and
#   the rest: the beginning of a line whose end has not come yet. There may be no rest, `b""`.
#
# Example. `encode({"id": 1})` gives `b'{"id": 1}\n'`; with or without the space.
# `split_lines(b'{"id": 1}\n{"id": 2}\n{"i')` gives `([b'{"id": 1}', b'{"id": 2}'], b'{"i')`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# A line ends where the byte `b"\n"` stands. If you cut the buffer there, into how many pieces does the
# example fall, and what is special about the last piece?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `json.dumps` gives text, `.encode()` makes bytes of text. Bytes have `.split(b"\n")`. Do not use
# `.splitlines()`: it does not tell whether the last line was complete.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# `encode`: the text of the message, as bytes, plus a newline byte. `split_lines`: cut at the newline; all
# pieces but the last are lines, the last one is the rest. Python can write this as `*lines, rest = …`.
#
# </details>


# %% id="task1" answer=true
def encode(message):
    """One message as one line of bytes."""
    ### BEGIN SOLUTION
    return json.dumps(message).encode() + b"\n"
    ### END SOLUTION


def split_lines(buffer):
    """The complete lines in these bytes, and the rest: ([bytes, …], bytes)."""
    ### BEGIN SOLUTION
    *lines, rest = buffer.split(b"\n")
    ### END SOLUTION
    return lines, rest


# %% id="task1_check" points=2
with checks.task(1, "encode and split lines", points=2) as check:

    def is_one_line(data, message):
        """Whether these bytes are this message, on one line."""
        if not isinstance(data, bytes) or data.count(b"\n") != 1 or not data.endswith(b"\n"):
            return False
        try:
            return json.loads(data.decode("utf-8")) == message
        except ValueError:
            return False

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"text": "two\nlines, ✓"}}
    data = check.call(encode, message)
    check.true(
        is_one_line(data, message),
        "Called encode with a message that has a newline in a text. The JSON in UTF-8 was expected, with exactly "
        "one newline byte, at the end, as bytes. "
        f"It returned {type(data).__name__}: {checks.shown(checks.plain(data))}.",
    )
    check.returns(
        split_lines,
        b'{"id": 1}\n{"id": 2}\n{"i',
        expected=([b'{"id": 1}', b'{"id": 2}'], b'{"i'),
        why="what follows the last newline is the rest, to be read on later",
    )
    check.returns(split_lines, b'{"id": 3}\n', expected=([b'{"id": 3}'], b""), why="a line that ends leaves no rest")
    ### BEGIN HIDDEN TESTS
    with check.hidden("a server writes in pieces"):
        data = check.random()
        texts = [data.choice(["é", "語", "\u2028", "\x85", "\r", "plain"]) * data.randint(1, 9) for _ in range(20)]
        sent = [json.dumps({"id": number, "text": text}, ensure_ascii=False) for number, text in enumerate(texts)]
        code = "import sys; sys.stdout.buffer.write(sys.argv[1].encode() + b'\\n')"
        command = [sys.executable, "-S", "-c", code, "\n".join(sent)]
        written = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=10).stdout
        got, rest = [], b""
        while written:
            size = data.randint(1, 7)
            piece, written = written[:size], written[size:]
            answer = check.call(split_lines, rest + piece)
            pair = isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], bytes)
            check.true(pair, "a pair", why="split_lines returns (lines, rest), whatever it gets")
            got, rest = got + list(answer[0]), answer[1]
        check.equal(
            [line.rstrip(b"\r").decode("utf-8", "replace") if isinstance(line, bytes) else line for line in got],
            sent,
            what="the lines",
            why="read in small pieces the lines came out changed; cut bytes at the newline byte and nowhere else",
        )
    with check.hidden("other messages"):
        for text in texts:
            check.true(
                is_one_line(check.call(encode, {"text": text, "more": [text]}), {"text": text, "more": [text]}),
                "one line",
                why="encode gives the JSON of any message in UTF-8 and one newline at its end",
            )
    ### END HIDDEN TESTS

# %% [markdown] task=2 minutes=12 difficulty="medium"
# ## Task 2: the handshake
#
# Write `handshake(process)` for a server that has just started. Three messages, in this order:
#
# 1. The request `initialize`, with `"id": 1` and the params `{"protocolVersion": main.PROTOCOL_VERSION,
#    "capabilities": {}, "clientInfo": {"name": "exercise", "version": "1"}}`.
# 2. The server's reply to it. Other messages may come before; skip them. If the reply's `protocolVersion` is
#    not the one we asked for, raise `ValueError`: we do not speak that one.
# 3. The notification `notifications/initialized`. Nobody answers a notification.
#
# Return the result of the reply, the whole dict.
#
# Use `send(process, message)` and `receive(process)` from the stage. `notes` answers for example
# `{"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes",
# "version": "1.0.0"}}`; this dict is what you return.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# How do you recognise the reply among other messages? What has it that no notification has?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# Both requests and notifications have `"jsonrpc": "2.0"` and a `method`. Only one of the two has an `id`. Read
# in a loop, and leave it when the message is the reply.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Send the request. Receive until the message is a dict whose `id` is 1. Compare the version in its result; raise
# if it differs. Send the notification, without an id. Return the result.
#
# </details>


# %% id="task2" answer=true
def handshake(process):
    """Open the session with a server that has just started; returns what it said of itself."""
    ### BEGIN SOLUTION
    client = {"name": "exercise", "version": "1"}
    params = {"protocolVersion": main.PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}
    send(process, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    reply = receive(process)
    while reply is None or reply.get("id") != 1:
        reply = receive(process)
    result = reply["result"]
    if result["protocolVersion"] != main.PROTOCOL_VERSION:
        raise ValueError(f"the server speaks {result['protocolVersion']}, we speak {main.PROTOCOL_VERSION}")
    send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return result
    ### END SOLUTION


# %% id="task2_check" points=3
with checks.task(2, "handshake", points=3) as check:
    INITIALIZE = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": main.PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "exercise", "version": "1"},
        },
    }
    INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}

    def opened(stage):
        """Start the server and shake hands, then list: (what handshake returned, the tools)."""
        process = stage.start()
        answer = handshake(process)
        send(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        reply = receive(process)
        while reply is None or reply.get("id") != 2:
            reply = receive(process)
        return answer, [tool["name"] for tool in reply.get("result", {}).get("tools", [])] or reply

    def first_lines(stage):
        """What the server received before `tools/list`."""
        received = stage.received()
        return received[:-1] if received and received[-1] == LIST else received

    LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    notes = Stage("notes", ["search", "create"])
    check.wire(Wire(notes))
    called = "handshake(process) for the server notes, then tools/list"
    answer, tools = check.call(opened, notes, called=called, seconds=4)
    check.equal(
        first_lines(notes),
        [INITIALIZE, INITIALIZED],
        what="what notes received before tools/list",
        why="the request initialize with id 1, then the notification, which has no id",
    )
    info = {"name": "notes", "version": "1.0.0"}
    result = {"protocolVersion": main.PROTOCOL_VERSION, "capabilities": {"tools": {}}, "serverInfo": info}
    check.equal(answer, result, what="what handshake returned", why="the result of the reply, as it is")
    check.equal(tools, ["search", "create"], what="what tools/list gave afterwards")
    ### BEGIN HIDDEN TESTS
    with check.hidden("a server that talks before its reply"):
        data = check.random()
        name, release = data.choice(["mail", "wiki", "shop"]), f"{data.randint(2, 9)}.{data.randint(0, 9)}"
        log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hello"}}
        stage = Stage(name, ["open"], release=release, talks_first=[log] * data.randint(1, 3))
        answer, tools = check.call(opened, stage, seconds=4, why="the reply is the message with the id of the request")
        check.equal(
            answer.get("serverInfo") if isinstance(answer, dict) else answer,
            {"name": name, "version": release},
            what="serverInfo",
            why="messages came before the reply; skip what has not the id of the request",
        )
        check.equal(
            first_lines(stage),
            [INITIALIZE, INITIALIZED],
            what="the messages",
            why="notifications of the server are not answered, and the two messages stay the same",
        )
    with check.hidden("a server of another revision"):
        stage = Stage(name, ["open"], version=data.choice(["2024-11-05", "2025-03-26", "2025-06-18"]))
        check.raises(
            lambda: handshake(stage.start()),
            error=ValueError,
            seconds=4,
            why="the server answered with another protocolVersion; raise ValueError, it is not the one we speak",
        )
        check.equal(
            stage.received(),
            [INITIALIZE],
            what="the messages",
            why="after a wrong protocolVersion the client sends nothing more, also no notifications/initialized",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=3 minutes=15 difficulty="medium"
# ## Task 3: a process in the stub's place
#
# A stub is called with a message and returns the reply, or `None` for a notification. Write `Stub.__call__` so
# that a process can take its place:
#
# - Send the message. If it is a notification, return `None` at once.
# - Otherwise receive until the message with the same `id` comes, and return that.
# - The server may die at any moment, before you send or while you wait. Then mark its session as dead,
#   `self.session.alive = False`, and raise `RuntimeError` with a sentence. `main.call` makes an error result of it
#   and sends nothing more to a dead session.
#
# How do you notice? `receive` raises `EOFError` at the end of the pipe, and writing to a process that has gone
# raises `BrokenPipeError`.
#
# Example. `files` runs as a process and gets SIGTERM. The next call of its tool `read` gives an error result, and
# `sessions["files"].alive` is false. Tools of `notes`, still a stub, work as before.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Which of the lines that you need can raise one of the two exceptions? All of them go into one `try`.
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `except (EOFError, OSError):` catches both: a broken pipe is an `OSError`. A loop that reads until the right
# message has come ends with `return`.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# In a `try`: send; if the message has no id, return `None`; then for ever: receive, and return what has
# the id of the message. Behind the `except`: set the flag of the session, raise `RuntimeError`.
#
# </details>


# %% id="task3" answer=true
class Stub:
    """A process in the place of a server function: message in, reply out."""

    def __init__(self, process, session):
        self.process, self.session = process, session

    def __call__(self, message):
        ### BEGIN SOLUTION
        try:
            send(self.process, message)
            if "id" not in message:
                return None
            while True:
                reply = receive(self.process)
                if reply is not None and reply.get("id") == message["id"]:
                    return reply
        except (EOFError, OSError) as error:
            self.session.alive = False
            raise RuntimeError("has died, so no reply will come") from error
        ### END SOLUTION


# %% id="task3_check" points=3
with checks.task(3, "a process in the stub's place", points=3) as check:

    def make_sessions(stage):
        """Three sessions: notes and github are functions, `stage` is a process behind your Stub."""
        sessions = main.connect_all({"notes": main.make_notes_server(), "github": main.make_github_server()})
        session = sessions[stage.name] = main.Session(stage.name, None, {}, [])
        process = stage.start()
        session.server_fn = Stub(process, session)
        connected = main.connect(stage.name, session.server_fn)
        session.capabilities, session.tools = connected.capabilities, connected.tools
        return sessions, process

    def life(stage, tool, end):
        """One call, then `end(process)`, then two calls more and one of another server."""
        sessions, process = make_sessions(stage)
        registry, seen = main.merge(sessions), {}
        seen["first"] = main.call(registry, sessions, tool, {})
        end(process)
        before = len(stage.received())
        seen["second"] = main.call(registry, sessions, tool, {})["isError"]
        seen["alive"] = sessions[stage.name].alive
        main.call(registry, sessions, tool, {})
        seen["sent to the dead"] = stage.received()[before:]
        seen["others"] = main.call(registry, sessions, "list_issues", {})["isError"]
        return seen

    def sigterm(process):
        process.terminate()
        process.wait()

    files = Stage("files", ["read"], secret="plan.txt")
    check.wire(Wire(files))
    called = "read, sent SIGTERM to files, called read twice more"
    seen = check.call(life, files, "read", sigterm, called=called, seconds=4)
    check.equal(
        seen["first"],
        main.text_result("files ran read: plan.txt"),
        what="the result of read while files lives",
        why="Stub hands back the reply that has the id of the message",
    )
    check.true(
        seen["alive"] is False,
        "After SIGTERM and one more call sessions['files'].alive is still true. The write broke, or the pipe "
        "ended: mark the session as dead there.",
    )
    check.true(seen["second"], "The call after SIGTERM gave no error result: Stub raises RuntimeError when it is over.")
    check.equal(seen["others"], False, what="whether a call to another server failed too")
    ### BEGIN HIDDEN TESTS
    with check.hidden("a server that dies in the middle of a call"):
        data = check.random()
        name, tool = data.choice(["mail", "wiki", "shop"]), data.choice(["open", "find", "join"])
        stage = Stage(name, [tool], dies_in_call=True)
        why = "a server died while we waited: at the end of the pipe mark the session as dead and raise RuntimeError"
        seen = check.call(life, stage, tool, lambda process: None, seconds=4, why=why)
        check.equal((seen["first"]["isError"], seen["alive"]), (True, False), what="error and flag", why=why)
        check.equal(seen["sent to the dead"], [], what="sent", why="a dead server gets no message")
    with check.hidden("other servers, a server that talks in between"):
        secret = f"{data.getrandbits(40):x}"
        log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": secret}}
        asks = {"jsonrpc": "2.0", "id": f"q{secret}", "method": "ping"}
        stage = Stage(name, [tool], secret=secret, talks_first=data.sample([log, asks, log], 3))
        seen = check.call(life, stage, tool, sigterm, seconds=4, why="wait for the reply with the same id, skip others")
        check.equal(
            seen["first"],
            main.text_result(f"{name} ran {tool}: {secret}"),
            what="the result",
            why="messages came before the reply; only the one with the id of the message is the reply",
        )
        check.equal(seen["alive"], False, what="the flag", why="the session of a server that got SIGTERM is dead")
    ### END HIDDEN TESTS

# %% [markdown] task=4 minutes=12 difficulty="medium"
# ## Task 4: leave no process
#
# Write `shut_down(process, grace)`. It ends a server politely, then less politely, and always in bounded time:
#
# 1. Close its stdin: a server that reads to the end of its input ends by itself. Wait at most `grace` seconds.
# 2. If it still lives, send SIGTERM (`process.terminate()`). Wait at most `grace` seconds.
# 3. If it still lives, send SIGKILL (`process.kill()`). No process survives that. Wait until it is gone.
#
# Return the exit code. A server that has gone already is no error; closing its stdin may raise `OSError` then.
#
# Example. A server that obeys gives `0`. One that ignores the end of its input gives `-15`, the number of SIGTERM.
# One that ignores SIGTERM as well gives `-9`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# What does `process.wait(grace)` do if the process lives longer than that?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# It raises `subprocess.TimeoutExpired`; otherwise it returns the exit code. `contextlib.suppress(OSError)` or
# `try … except OSError: pass` keeps a broken pipe from stopping you at the first step.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Close stdin. For each of the two pushes, first terminate, then kill: try to return the exit code after a
# limited wait; if the time is up, push. At the end wait without a limit: a killed process is gone at once.
#
# </details>


# %% id="task4" answer=true
def shut_down(process, grace):
    """Close stdin, wait, SIGTERM, wait, SIGKILL; returns the exit code."""
    ### BEGIN SOLUTION
    with contextlib.suppress(OSError):  # the server may have gone already
        process.stdin.close()
    for push in (process.terminate, process.kill):
        try:
            return process.wait(grace)
        except subprocess.TimeoutExpired:
            push()
    return process.wait()
    ### END SOLUTION


# %% id="task4_check" points=2
with checks.task(4, "leave no process", points=2) as check:

    def ended(process, grace):
        """Shut a server down: (what shut_down returned, whether the process is gone)."""
        code = shut_down(process, grace)
        gone = process.poll() is not None
        process.kill()
        return code, gone

    def events(stage):
        """What happened to the server, without messages."""
        return [line for line in stage.wire() if line.startswith("(")]

    polite = Stage("notes", ["search"], cleans_up=0.1)
    check.wire(Wire(polite))
    called = "shut_down(process, 5.0) for a server that obeys"
    code, gone = check.call(ended, polite.start(), 5.0, called=called, seconds=8)
    check.equal(
        events(polite),
        ["(started)", "(end of stdin)", "(cleaned up)"],
        what="what happened to a server that cleans up after the end of its input",
        why="close stdin first and give it time; no signal comes before that",
    )
    check.equal((code, gone), (0, True), what="exit code, and whether it is gone")
    stubborn = Stage("files", ["read"], ignores_eof=True, ignores_sigterm=True)
    check.wire(Wire(stubborn))
    called = "shut_down(process, 0.8) for a server that ignores the end of its input and SIGTERM"
    code, gone = check.call(ended, stubborn.start(), 0.8, called=called, seconds=4)
    check.equal(
        events(stubborn),
        ["(started)", "(end of stdin)", "(SIGTERM)"],
        what="what happened to a server that ignores everything",
        why="stdin, then SIGTERM, then SIGKILL, which no process can notice",
    )
    check.equal((code, gone), (-9, True), what="exit code, and whether it is gone", why="SIGKILL is the last step")
    ### BEGIN HIDDEN TESTS
    with check.hidden("a server that ignores only the end of its input"):
        stage = Stage("mail", ["open"], ignores_eof=True)
        code, gone = check.call(ended, stage.start(), 0.5, seconds=4, why="it has to be ended by SIGTERM")
        check.equal((code, gone), (-15, True), what="code", why="SIGTERM has to end it and its exit code is returned")
    with check.hidden("a server that has gone already"):

        def broken(number):
            process = Stage("wiki", ["find"]).start()
            process.stdin.write(b"never flushed")
            process.send_signal(number)
            process.wait()
            return shut_down(process, 1.0)

        number = check.random().choice([signal.SIGKILL, signal.SIGTERM])
        check.returns(
            broken,
            number,
            expected=-number,
            seconds=4,
            why="the server had gone already: nothing is raised, and its exit code is returned",
        )
    with check.hidden("no more patience than asked for"):
        stage = Stage("shop", ["send"], ignores_eof=True, ignores_sigterm=True)
        why = "each of the two waits takes at most `grace` seconds"
        check.call(ended, stage.start(), 0.05, seconds=2.5, why=why)
    ### END HIDDEN TESTS

# %% [markdown]
# ## Done?
#
# `solutions/02_subprocess.md` in the repository discusses the answers and another right way for each.
