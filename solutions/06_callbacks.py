# %% [markdown]
# # Exercise 6: The server asks back
#
# You write the side of a client that answers: what a server may ask, who answers it, and on which thread.
# Lesson 6 explains every word used here.
#
# How to work: read the prompt, fill the cell below it, run the check below that. A check says in one sentence
# what is wrong, and shows the last messages where that helps. The tasks do not depend on each other.

# %% [markdown]
# ## The stage
#
# The cell below holds the other side of the conversation: real servers, each one a process of its own. You need not
# read it. Know this:
#
# - The server is `code/servers/asker.py`. Its tool `summarize` asks the client's model, in the middle of the
#   call; its tool `count` counts words and asks nobody.
# - `talk(answer, capabilities, tool, arguments)` starts a server, declares the capabilities, calls the tool and
#   returns the text of its result. Each message that the server sends by itself goes through your `answer`.
# - `model(server, params)` is a handler: the model of this exercise. It answers in capital letters.
# - `Refused` is the exception that a handler raises when the user says no.
# - `Client` is the client of task 4, with a reader thread.


# %% id="stage" locked=true
import itertools
import json
import subprocess
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path

ASKER = [sys.executable, str(Path(main.__file__).resolve().parent / "servers" / "asker.py")]
WAIT = 2  # seconds for a reply that a handler waits for; the call around it has three times as long


class Refused(Exception):
    """A handler raises this when the user says no."""


def said(text):
    """The result of sampling/createMessage."""
    content = {"type": "text", "text": text}
    return {"role": "assistant", "content": content, "model": "scripted", "stopReason": "endTurn"}


def asked(params):
    """The text that the server wants the model to read."""
    return params["messages"][0]["content"]["text"]


def model(server, params):
    """A handler for sampling/createMessage: it says what it was asked, in capital letters."""
    return said(asked(params).upper())


class Pipe:
    """A new server process: send a message, hear the next one. `wire` keeps every message as a line."""

    def __init__(self, wire):
        pipe, self.wire, self.lock = subprocess.PIPE, wire, threading.Lock()
        self.popen = subprocess.Popen(ASKER, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)

    def send(self, message):
        """Write one message, whole, from any thread."""
        if not self.lock.acquire(timeout=WAIT):
            raise NotInTime("the lock for writing was not free")
        try:
            self.wire.append(f"→ {json.dumps(message)}")
            self.popen.stdin.write(json.dumps(message).encode() + b"\n")
            self.popen.stdin.flush()
        finally:
            self.lock.release()

    def hear(self):
        line = self.popen.stdout.readline()
        if line:
            self.wire.append(f"← {line.decode().strip()}")
        return json.loads(line or "null")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.popen.stdin.close()
        self.popen.wait(5)


def opening(capabilities):
    """The two messages of the client that open a session; the first one gets a reply."""
    info = {"name": "exercise", "version": "6"}
    params = {"protocolVersion": main.PROTOCOL_VERSION, "capabilities": capabilities, "clientInfo": info}
    yield {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    yield {"jsonrpc": "2.0", "method": "notifications/initialized"}


def talk(answer, capabilities, tool, arguments, wire=None):
    """Call one tool of a new server and return its text; what the server sends by itself goes to `answer`."""
    with Pipe([] if wire is None else wire) as pipe:
        first, second = opening(capabilities)
        pipe.send(first)
        pipe.hear()
        pipe.send(second)
        params = {"name": tool, "arguments": arguments}
        pipe.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
        while message := pipe.hear():
            if message.get("method") is None:
                return message["result"]["content"][0]["text"]
            reply = answer(message)
            if reply is not None:
                pipe.send(reply)


class Client(Pipe):
    """A client with a reader thread, which hands every message to `on_message(client, message)`."""

    def __init__(self, on_message, wire):
        super().__init__(wire)
        self.on_message, self.ids, self.pending = on_message, itertools.count(2), {}  # id → Future
        first, second = opening({"sampling": {}})
        self.send(first)
        self.hear()
        self.send(second)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while message := self.hear():
            try:
                self.on_message(self, message)
            except BaseException as error:  # who waits is told, and the reader goes on
                for future in list(self.pending.values()):
                    if not future.done():
                        future.set_exception(error)

    def call(self, tool, seconds=WAIT, **arguments):
        """Call a tool and return its text. It waits for the reader thread, so it cannot be called there."""
        number, future = next(self.ids), Future()
        self.pending[number] = future
        params = {"name": tool, "arguments": arguments}
        try:
            self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
            reply = future.result(seconds)
        except NotInTime as error:
            return str(error) or f"no reply to {tool} within {seconds} seconds"
        finally:
            self.pending.pop(number, None)
        if "method" in reply:
            return f"a request was taken for the reply to {tool}"
        return reply["result"]["content"][0]["text"]


def call_with(on_message, answer, tool, wire, **arguments):
    """Call one tool with a new client; `on_message` gets the third argument `answer(message)`."""
    with Client(lambda client, message: on_message(client, message, lambda m: answer(client, m)), wire) as client:
        return client.call(tool, 3 * WAIT, **arguments)


def some_words(random, count=3):
    """Words that no answer can know before."""
    return " ".join("".join(random.sample("bcdfghklmnprst", 5)) for _ in range(count))


# %% [markdown] task=1 minutes=4 difficulty="easy"
# ## Task 1: answer a ping, refuse the unknown
#
# A server may send requests too. `answer(message)` gives the reply to one message of the server. A notification
# has no id and gets no reply: `None`. A `ping` gets an empty result. Every other request gets an error, so that
# the server does not wait for ever. Only that last line is missing: return `reply` with the key `error`. Its
# value is a dict with the code -32601 and a message that names the method.
#
# | message | reply |
# |---|---|
# | `{"jsonrpc": "2.0", "method": "notifications/message"}` | `None` |
# | `{"jsonrpc": "2.0", "id": 7, "method": "ping"}` | `{"jsonrpc": "2.0", "id": 7, "result": {}}` |
# | `{"jsonrpc": "2.0", "id": "a", "method": "x/y"}` | `{"jsonrpc": "2.0", "id": "a", "error": …}` |
#
# The error of the last row: `{"code": -32601, "message": "Method not found: x/y"}`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# The line for `ping` adds one key to `reply`. Which key does an error reply have in its place?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `a | b` joins two dicts into a new one. An error is a dict with two keys, `code` and `message`.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Return `reply`, joined with a dict whose only key is `error`. In the message stands `message["method"]`.
#
# </details>


# %% id="task1" answer=true
def answer(message):
    """The reply to one message of the server; None where no reply is due."""
    if "id" not in message:
        return None
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "ping":
        return reply | {"result": {}}
    ### BEGIN SOLUTION
    return reply | {"error": {"code": -32601, "message": f"Method not found: {message['method']}"}}
    ### END SOLUTION


# %% id="task1_check" points=2
with checks.task(1, "answer a ping, refuse the unknown", points=2) as check:

    def in_short(reply):
        """A reply without the words of its error: they are free, as long as they name the method."""
        error = reply.get("error") if isinstance(reply, dict) else None
        return {**reply, "error": {**error, "message": "…"}} if isinstance(error, dict) else reply

    ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    check.returns(
        answer,
        ping,
        expected={"jsonrpc": "2.0", "id": 7, "result": {}},
        why="the reply has the id of the request, which the server chose",
    )
    notice = {"jsonrpc": "2.0", "method": "notifications/message"}
    check.returns(answer, notice, expected=None, why="a notification has no id and never gets a reply")
    strange = {"jsonrpc": "2.0", "id": "a", "method": "x/y"}
    check.returns(
        lambda: in_short(answer(strange)),
        called=checks.shown_call(answer, (strange,), {}),
        expected={"jsonrpc": "2.0", "id": "a", "error": {"code": -32601, "message": "…"}},
        why="a request that we do not know gets the error -32601, method not found",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("a real server asks, with ids of its own"):
        random = check.random()
        for request_id in (0, 2, random.randrange(3, 10**9), some_words(random, 1)):
            for method in ("ping", some_words(random, 1)):
                request = json.dumps({"method": method, "id": request_id})
                why = "the server did not get the right reply; its id goes back as it came, and 0 or a text is one too"
                heard = check.call(talk, answer, {}, "ask_client", {"request": request}, why=why, seconds=6)
                body = {"result": {}} if method == "ping" else {"error": {"code": -32601, "message": "…"}}
                expected = {"jsonrpc": "2.0", "id": request_id, **body}
                check.equal(in_short(json.loads(heard)), expected, what="what the server got", why=why)
                named = method == "ping" or method in json.loads(heard)["error"]["message"]
                check.true(named, "named", why="the message of the error names the method")
    ### END HIDDEN TESTS

# %% [markdown] task=2 minutes=10 difficulty="medium"
# ## Task 2: the client declares, the handler answers
#
# `handlers` says what this client can do: a dict from a method to a function, as in
# `{"sampling/createMessage": model}`. Two functions follow from it.
#
# `capabilities(handlers)` gives what the client declares in `initialize`: one key for each handler, with an empty
# dict as its value, and nothing else. `CAPABILITY` has the names. Example: for
# `{"sampling/createMessage": model}` it returns `{"sampling": {}}`, and for `{}` it returns `{}`.
#
# `answer_with(handlers, server, message)` gives the reply to a request. If there is a handler for its method,
# call it as `handler(server, params)`; what it returns is the `result`. A request may come without `params`: the
# handler then gets `{}`. If there is no handler, the reply is the error -32601, as in task 1. Here every message
# is a request, and `ping` does not occur.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# A server asks only for what was declared. Which handlers may it then expect, and what must `capabilities`
# therefore look at?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# Both functions need nothing but lookups: in `CAPABILITY`, in `handlers`, and `message.get("params", {})`.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# First: a dict with a key `CAPABILITY[method]` for each method in `handlers`. Second: begin with the version and
# the id of the request; without a handler add the error; else call the handler and add its result.
#
# </details>


# %% id="task2" answer=true
CAPABILITY = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}


def capabilities(handlers):
    """What the client declares: a capability for each handler, and nothing else."""
    ### BEGIN SOLUTION
    return {CAPABILITY[method]: {} for method in handlers}
    ### END SOLUTION


def answer_with(handlers, server, message):
    """The reply to a request of the server, by the handler for its method."""
    ### BEGIN SOLUTION
    reply, method = {"jsonrpc": "2.0", "id": message["id"]}, message["method"]
    if method not in handlers:
        return reply | {"error": {"code": -32601, "message": f"Method not found: {method}"}}
    return reply | {"result": handlers[method](server, message.get("params", {}))}
    ### END SOLUTION


# %% id="task2_check" points=3
with checks.task(2, "the client declares, the handler answers", points=3) as check:

    def code_of(reply):
        """The code of an error reply; the reply itself where it is none."""
        error = reply.get("error") if isinstance(reply, dict) else None
        return error.get("code") if isinstance(error, dict) else reply

    def with_handlers(handlers, tool, wire, **arguments):
        """Call a tool of a new server, with the answer's own capabilities and replies."""
        reply = lambda message: answer_with(handlers, "notes", message)  # noqa: E731
        return talk(reply, capabilities(handlers), tool, arguments, wire)

    check.returns(
        capabilities,
        {"sampling/createMessage": model},
        called='capabilities({"sampling/createMessage": model})',
        expected={"sampling": {}},
        why="one capability for each handler, by its name in CAPABILITY",
    )
    wire = []
    check.wire(wire)
    check.returns(
        with_handlers,
        {"sampling/createMessage": model},
        "summarize",
        wire,
        text="a long text",
        called="the tool summarize of a server, with a handler for sampling/createMessage",
        expected="SUMMARIZE: A LONG TEXT",
        why="the result of the handler goes back under the id of the server's request",
        seconds=6,
    )
    del wire[:]
    check.returns(
        with_handlers,
        {},
        "summarize",
        wire,
        text="a long text",
        called="the tool summarize of a server, without any handler",
        expected="RuntimeError: this client did not declare sampling",
        why="a client declares what it has a handler for; then the server knows before it asks",
        seconds=6,
    )
    check.wire([])
    request = {"jsonrpc": "2.0", "id": 3, "method": "roots/list"}
    check.returns(
        lambda: code_of(answer_with({"sampling/createMessage": model}, "notes", request)),
        called="answer_with(handlers, 'notes', …) for roots/list, without a handler for it; the code of its error",
        expected=-32601,
        why="a request without a handler gets an error, or the server waits for ever",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other handlers, other words"):
        random = check.random()
        methods = random.sample(list(CAPABILITY), 2)
        chosen = dict.fromkeys(methods, model)
        names = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}
        why = "declare a capability for each handler that is there, and for no other"
        check.returns(capabilities, chosen, expected={names[method]: {} for method in methods}, why=why)
        text, folder = some_words(random), f"file:///{some_words(random, 1)}"
        roots = {"roots/list": lambda server, params: {"roots": [{"uri": folder}]}}
        why = "the server did not get what the handler returned"
        check.returns(with_handlers, roots, "folders", [], expected=folder, why=why, seconds=6)
        both = {"sampling/createMessage": lambda server, params: said(asked(params)[::-1])} | roots
        expected = f"Summarize: {text}"[::-1]
        check.returns(with_handlers, both, "summarize", [], text=text, expected=expected, why=why, seconds=6)
    with check.hidden("what the handler is given"):
        got = []
        handlers = {"roots/list": lambda server, params: got.append((server, params)) or {"roots": []}}
        name, request_id = some_words(random, 1), random.randrange(100)
        request = {"jsonrpc": "2.0", "id": request_id, "method": "roots/list"}
        why = "a request may come without params; the reply has its id, and the result of the handler"
        expected = {"jsonrpc": "2.0", "id": request_id, "result": {"roots": []}}
        check.returns(answer_with, handlers, name, request, expected=expected, why=why)
        why = "the handler gets the server's name and the params, which are {} where the request has none"
        check.equal(got, [(name, {})], what="what the handler got", why=why)
    ### END HIDDEN TESTS

# %% [markdown] task=3 minutes=8 difficulty="medium"
# ## Task 3: a user who says no, a handler that breaks
#
# Whatever happens in a handler, the server must get a reply. `outcome(handler, server, params)` calls
# `handler(server, params)` and gives the part of the reply that tells how it went:
#
# | what the handler does | what `outcome` returns |
# |---|---|
# | returns a dict | `{"result": that dict}` |
# | raises `Refused("no")`: the user said no | `{"error": {"code": -1, "message": "no"}}` |
# | raises another exception | `{"error": {"code": -32603, "message": …}}`; the message names the exception's class |
# | returns something else than a dict | `{"error": {"code": -32603, "message": …}}` |
#
# -32603 is JSON-RPC's code for "internal error". It means: the client is at fault, not the request.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Which of the four lines is a special case of another, so that it has to be asked for first?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# Python takes the first `except` that fits. `type(error).__name__` is the name of the class.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Try to call the handler. On `Refused`: code -1 and its text. On any other `Exception`: code -32603, class and
# text. Behind that, ask `isinstance(…, dict)`: if not, -32603 too. Else the result.
#
# </details>


# %% id="task3" answer=true
def outcome(handler, server, params):
    """How a handler ended: {"result": …} or {"error": …}; it never raises."""
    ### BEGIN SOLUTION
    try:
        result = handler(server, params)
        if not isinstance(result, dict):
            raise TypeError(f"the handler returned no dict but {type(result).__name__}")
    except Refused as refusal:
        return {"error": {"code": -1, "message": str(refusal)}}
    except Exception as error:
        return {"error": {"code": -32603, "message": f"{type(error).__name__}: {error}"}}
    return {"result": result}
    ### END SOLUTION


# %% id="task3_check" points=2
with checks.task(3, "a user who says no, a handler that breaks", points=2) as check:

    def raising(error):
        """A handler that raises this."""

        def handler(server, params):
            raise error

        return handler

    def code_and_words(ended, *words):
        """The code of an error, and whether its message has these words; anything else as it is."""
        error = ended.get("error") if isinstance(ended, dict) else None
        if not isinstance(error, dict):
            return ended
        return error.get("code"), all(word in str(error.get("message")) for word in words)

    prompt = {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]}
    check.returns(
        outcome,
        model,
        "notes",
        prompt,
        called="outcome(model, 'notes', params)",
        expected={"result": said("HELLO")},
        why="what the handler returns is the result",
    )
    check.returns(
        outcome,
        raising(Refused("no")),
        "notes",
        {},
        called='outcome of a handler that raises Refused("no")',
        expected={"error": {"code": -1, "message": "no"}},
        why="the user said no: the code is -1, and the message is the text of the exception",
    )
    check.returns(
        lambda: code_and_words(outcome(raising(KeyError("key")), "notes", {}), "KeyError"),
        called='outcome of a handler that raises KeyError("key"): the code, and whether the message says KeyError',
        expected=(-32603, True),
        why="a handler that breaks gives the server an error, and nothing breaks here",
    )
    check.returns(
        lambda: code_and_words(outcome(lambda server, params: None, "notes", {})),
        called="outcome of a handler that returns None: the code of the error",
        expected=(-32603, True),
        why="a result is an object; a handler that gives none has failed",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other exceptions, other results"):
        random = check.random()
        for kind in random.sample([ValueError, OSError, ZeroDivisionError, RuntimeError, LookupError, TypeError], 3):
            words = some_words(random, 1)
            why = "an exception of the handler is the error -32603 with its class, whatever exception it is"
            ended = check.call(outcome, raising(kind(words)), "notes", {}, why=why)
            check.equal(code_and_words(ended, kind.__name__), (-32603, True), what="the outcome", why=why)
        for value in (some_words(random, 1), 3, [], True):
            why = "a handler that returns no dict has failed: -32603"
            ended = check.call(outcome, lambda server, params, value=value: value, "notes", {}, why=why)
            check.equal(code_and_words(ended), (-32603, True), what="the outcome", why=why)
        words = some_words(random)
        why = "a refusal has the code -1 and its own words"
        expected = {"error": {"code": -1, "message": words}}
        check.returns(outcome, raising(Refused(words)), "notes", {}, expected=expected, why=why)
        why = "an empty dict is a result too"
        check.returns(outcome, lambda server, params: {}, "notes", {}, expected={"result": {}}, why=why)
    with check.hidden("a real server"):
        for error, words in ((Refused("not today"), "-1: not today"), (ValueError("broken"), "-32603: ")):
            why = "the server did not get an error with the code, although one was due"

            def ended(message, error=error):
                return {"jsonrpc": "2.0", "id": message["id"], **outcome(raising(error), "notes", message["params"])}

            text = check.call(talk, ended, {"sampling": {}}, "summarize", {"text": "x"}, why=why, seconds=6)
            check.true(words in text, "the error reached the server", why=why)
    ### END HIDDEN TESTS

# %% [markdown] task=4 minutes=16 difficulty="hard"
# ## Task 4: an answer in the middle of a call
#
# `on_message(client, message, answer)` runs on the client's **reader thread**, once for every message. It does
# one of three things and comes back at once.
#
# - A *reply* to one of our requests: put it into the future that waits. `client.pending` has it: a dict from our
#   ids to futures. A reply that nobody waits for is left alone.
# - A *request* of the server: `answer(message)` makes the reply, `client.send(reply)` sends it. `answer` may take
#   long. It may even call a tool of the same server, with `client.call(…)`, and wait for the result.
# - A *notification*: nothing.
#
# Two things are dangerous. The server chooses the ids of its own requests, and they may be equal to ours. And while
# `on_message` has not come back, no reply is read.
#
# Example. We call `summarize` (our id 2). The server asks `sampling/createMessage` (its id 1, or 2!). `answer`
# calls `count` (our id 3) and waits for that reply, which only the reader thread can deliver. Then the reply to
# the server goes out, and then comes the result of `summarize`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Which thread would have to read the reply that `answer` waits for, if `on_message` calls `answer` itself?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# A message with a `method` is never a reply, whatever its id. `threading.Thread(target=…, daemon=True).start()`
# starts a function and comes back at once. `client.send` takes the lock for writing by itself.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Without a `method`: take the future out of `client.pending` (`pop(…, None)`); if there is one, `set_result(message)`.
# With a `method` and an `id`: a small function inside that sends `answer(message)`, run by a new thread of its own.
# One thread for all of them is not enough: the first answer may wait for the second.
#
# </details>


# %% id="task4" answer=true
def on_message(client, message, answer):
    """Sort one message of the server. Runs on the reader thread, so it must not wait."""
    ### BEGIN SOLUTION
    if "method" not in message:
        future = client.pending.pop(message["id"], None)
        if future is not None:
            future.set_result(message)
    elif "id" in message:
        threading.Thread(target=lambda: client.send(answer(message)), daemon=True).start()
    ### END SOLUTION


# %% id="task4_check" points=3
with checks.task(4, "an answer in the middle of a call", points=3) as check:
    wire = []
    check.wire(wire)

    def replies(message, text):
        return {"jsonrpc": "2.0", "id": message["id"], "result": said(text)}

    def heard(text):
        """What the model said, in the reply that ask_client shows; any other text as it is."""
        return json.loads(text)["result"]["content"]["text"] if text.startswith("{") else text

    def quick(client, message):
        """An answer at once."""
        return replies(message, "quick")

    def counts_first(client, message):
        """An answer that needs a tool of the same server."""
        return replies(message, client.call("count", text=asked(message["params"])))

    check.returns(
        call_with,
        on_message,
        quick,
        "summarize",
        wire,
        text="a long text",
        called="summarize, with an answer that comes at once",
        expected="quick",
        why="the server's request is answered, then the reply to the call reaches its future",
        seconds=15,
    )
    del wire[:]
    ours = json.dumps({"id": 2, "method": "sampling/createMessage", "params": {}})
    check.returns(
        lambda: heard(call_with(on_message, quick, "ask_client", wire, request=ours)),
        called="ask_client, whose server sends a request with the id 2 while our call has the id 2",
        expected="quick",
        why="a message with a method is a request of the server, even if its id is one of ours",
        seconds=15,
    )
    del wire[:]
    check.returns(
        call_with,
        on_message,
        counts_first,
        "summarize",
        wire,
        text="a long text",
        called="summarize, with an answer that calls count on the same server and waits for its result",
        expected="4 words",
        why="while an answer is made, the reader thread has to read on, and the lock for writing has to be free",
        seconds=15,
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("an answer that leads to another question"):
        random = check.random()
        text, depth = some_words(random), random.randrange(2, 5)

        def asks_again(client, message):
            """An answer that calls summarize again, until the text is short enough."""
            words = asked(message["params"]).removeprefix("Summarize: ")
            if words.count("+") == depth:
                return replies(message, words)
            return replies(message, client.call("summarize", text=words + "+"))

        why = "it got no reply in time; each request of the server needs a thread of its own, one for all is not enough"
        expected = text + "+" * depth
        check.returns(
            call_with, on_message, asks_again, "summarize", [], text=text, expected=expected, why=why, seconds=15
        )
    with check.hidden("many calls at once"):
        texts = [some_words(random) for _ in range(8)]

        def many(client):
            """Eight calls, each from a thread of its own."""
            results = {}
            threads = [
                threading.Thread(target=lambda t=t: results.update({t: client.call("summarize", 3 * WAIT, text=t)}))
                for t in texts
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(3 * WAIT)
            return results

        def in_capitals(message):
            return {"jsonrpc": "2.0", "id": message["id"], "result": model("notes", message["params"])}

        def eight():
            with Client(lambda client, message: on_message(client, message, in_capitals), []) as client:
                return many(client)

        why = "the replies of eight calls did not all reach the call that they belong to"
        check.returns(eight, expected={t: f"SUMMARIZE: {t.upper()}" for t in texts}, why=why, seconds=15)
    with check.hidden("messages that want no answer"):
        pipe = type("Recorded", (), {})()
        pipe.pending, pipe.sent = {}, []
        pipe.send = pipe.sent.append
        for message in ({"method": "notifications/message"}, {"id": 99, "result": {}}, {"id": 98, "error": {}}):
            why = "a notification gets no answer, and a reply that nobody waits for is left alone"
            check.call(on_message, pipe, {"jsonrpc": "2.0", **message}, lambda message: {}, why=why)
        limit = threading.Event()
        limit.wait(0.2)  # a thread that was started by mistake has sent its answer by then
        check.equal(pipe.sent, [], what="what was sent", why=why)
    ### END HIDDEN TESTS

# %% [markdown]
# ## Done?
#
# `solutions/06_callbacks.md` in the repository discusses the answers and another right way for each.
