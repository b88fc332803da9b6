"""A server that misbehaves on purpose: `faulty.py MODE [options]`, one mode for each kind of fault.

`faulty.py --list` prints the modes. Standard library only, so that it starts fast and runs anywhere.
First comes the protocol (`read`, `send`, `serve` and the tables METHODS and TOOLS): it is right, and
every mode uses it. Then come the modes: short functions that say only what goes wrong.

No mode sleeps. Where a moment matters the server waits at its gate (`--gate`, a FIFO) until somebody
opens and closes the other end: so a test knows that the server is there, and the server goes on when
the test says so. `--record` names a file that gets each received line, and each signal.
`--starts` names a file that counts the starts of this server: a restarted one knows that it is the second.
`--era 2026-07-28` speaks the newer revision in the same modes, as far as they make sense there.
"""

import argparse
import contextlib
import fcntl
import inspect
import itertools
import json
import os
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

Message = dict[str, Any]
Handler = Callable[[Message], Message | None]  # the request → its result, or None: no reply is due, or not yet

PARSE_ERROR, METHOD_NOT_FOUND, INVALID_PARAMS, UNSUPPORTED_VERSION = -32700, -32601, -32602, -32022
KNOWN_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
OPENING = {"2025-11-25": "initialize", MODERN: "server/discover"}  # the method that the client begins with
KEPT = ("server/discover", "tools/list")  # whose results say for how long they are fresh

options = argparse.Namespace()
start_number = 1  # 2 for the first restart; counted only with --starts


# --- The protocol ----------------------------------------------------------------------


class Refusal(Exception):
    """A handler raises it to answer with a JSON-RPC error: code, message, perhaps data."""


received: list[Message] = []  # all that the client wrote, in order
own_ids = itertools.count(1)  # both sides count from 1: an id says nothing about who asked


def whole(data: bytes) -> Iterable[bytes]:
    """The pieces in which `send` writes: here, one."""
    return [data]


cut: Callable[[bytes], Iterable[bytes]] = whole
line_end = b"\n"


def read() -> Message | None:
    """The next message from the client; None when stdin has ended."""
    line = sys.stdin.buffer.readline()
    if not line:
        return None
    record(line)
    try:
        message = json.loads(line)
    except ValueError:
        message = {"garbled": line[:200].decode("latin-1")}
    received.append(message)
    return message  # type: ignore[no-any-return]


def record(line: bytes) -> None:
    """Append one line to the file that the test reads."""
    if options.record:
        with open(options.record, "ab") as file:
            file.write(line)


def write(data: bytes, to: int = 1) -> None:
    """All of the bytes, straight to the descriptor; a client that has gone ends this server."""
    try:
        while data:
            data = data[os.write(to, data) :]
    except BrokenPipeError:
        os._exit(0)


def send(*messages: Any) -> None:
    """Write the messages, one a line, in a single write unless the mode cuts it up."""
    lines = [json.dumps(message, ensure_ascii=False).encode(errors="replace") for message in messages]
    data = b"".join(line + line_end for line in lines)
    for piece in cut(data):
        write(piece)


def reply(request: Message, result: Message) -> Message:
    """The reply to one request."""
    if options.era == MODERN and isinstance(result, dict):
        fresh = {"ttlMs": options.ttl, "cacheScope": "public"} if request["method"] in KEPT else {}
        result = {"resultType": "complete", **fresh, **result}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def notification(method: str, **params: Any) -> Message:
    """A message that nobody answers."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


LIST_CHANGED: Message = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def log(text: str, to: int = 2) -> None:
    """One line on stderr."""
    write(text.encode() + b"\n", to)


def serve(methods: dict[str, Handler] | None = None, tools: dict[str, Handler] | None = None) -> None:
    """Answer until stdin ends. A mode hands over what it does differently."""
    METHODS.update(methods or {})
    TOOLS.update(tools or {})
    while (message := read()) is not None:
        answer(message)


def answer(message: Message) -> None:
    """Handle one message: a request gets a reply, anything else gets none."""
    method, handler = message.get("method"), METHODS.get(message.get("method", ""))
    if "id" not in message or method is None:
        if handler:
            handler(message)
        return
    try:
        if options.era == MODERN:
            check_meta(message)
        if handler is None:
            raise Refusal(METHOD_NOT_FOUND, f"Method not found: {method}")
        result = handler(message)
    except Refusal as refusal:
        error = dict(zip(("code", "message", "data"), refusal.args, strict=False))
        send({"jsonrpc": "2.0", "id": message["id"], "error": error})
    else:
        if result is not None:
            send(reply(message, result))


def ask(method: str, params: Message, request_id: Any = None) -> Message:
    """Ask the client and return its reply. What arrives meanwhile is answered first, as it must be."""
    request_id = next(own_ids) if request_id is None else request_id
    send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    while (message := read()) is not None:
        if message.get("id") == request_id and "method" not in message:
            return message
        answer(message)
    sys.exit(0)


def initialize(request: Message) -> Message:
    """The server's half of the handshake."""
    asked = request["params"]["protocolVersion"]
    version = asked if asked in KNOWN_VERSIONS else KNOWN_VERSIONS[0]
    info = {"name": "faulty", "version": "1.0.0"}  # every server says the same: the name proves nothing
    return {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": info}


def definition(name: Any, schema: Any = None) -> Message:
    """A tool as `tools/list` carries it."""
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema or {"type": "object"}}


def list_tools(request: Message) -> Message:
    """One page with every tool of the table."""
    return {"tools": [definition(name) for name in TOOLS]}


def call_tool(request: Message) -> Message | None:
    """Look the tool up by the server's own name for it."""
    name = request["params"].get("name")
    if name not in TOOLS:
        raise Refusal(INVALID_PARAMS, f"Unknown tool: {name}")
    return TOOLS[name](request)


def text(value: str, **more: Any) -> Message:
    """A tool result with one block of text."""
    return {"content": [{"type": "text", "text": value}], **more}


def arguments(request: Message) -> Message:
    """The arguments of a `tools/call`."""
    return request["params"].get("arguments") or {}


# --- The same in revision 2026-07-28 ---------------------------------------------------


def become_modern() -> None:
    """Other methods; `initialize` stays and is refused by `check_meta`."""
    METHODS.update({"server/discover": discover, "subscriptions/listen": listen})
    del METHODS["ping"]


def check_meta(request: Message) -> None:
    """Each request says what the handshake used to say; `initialize` is refused as SDK servers do it."""
    meta = request.get("params", {}).get("_meta", {})
    asked = meta.get(META + "protocolVersion")
    if request["method"] == "initialize" or (asked is not None and asked != MODERN):
        data = {"supported": [MODERN], "requested": asked or request["params"].get("protocolVersion")}
        raise Refusal(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if asked is None or META + "clientCapabilities" not in meta:
        raise Refusal(INVALID_PARAMS, "Missing _meta key")


def discover(request: Message) -> Message:
    """What this server can do."""
    info = {META + "serverInfo": {"name": "faulty", "version": "1.0.0"}}
    return {"supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": True}}, "_meta": info}


def listen(request: Message) -> None:
    """Acknowledge the stream; what is announced from now on carries its id."""
    LIST_CHANGED["params"] = {"_meta": {META + "subscriptionId": request["id"]}}
    send(notification("notifications/subscriptions/acknowledged", **LIST_CHANGED["params"], **wanted(request)))


def wanted(request: Message) -> Message:
    """What a listen request asks for."""
    return {"notifications": request["params"].get("notifications", {})}


def give_back(request: Message, method: str, params: Message) -> Message:
    """A question to the client: the call comes back with it, and the client calls again with the answer."""
    given = request["params"]
    if "inputResponses" in given:
        return {"result": given["inputResponses"]["question"]}
    question = {"question": {"method": method, "params": params}}
    send(reply(request, {"resultType": "input_required", "inputRequests": question, "requestState": "s"}))
    return {}


METHODS: dict[str, Handler] = {
    "initialize": initialize,
    "tools/list": list_tools,
    "tools/call": call_tool,
    "ping": lambda request: {},
}


# --- The tools that every mode has -----------------------------------------------------


def echo(request: Message) -> Message:
    """The text comes back, with the server's own name for the tool."""
    return text(arguments(request).get("text", ""), structuredContent={"tool": request["params"]["name"]})


def report(request: Message) -> Message:
    """What this server knows: all that it received, its process, what it inherited."""
    facts = {"received": received, "pid": os.getpid(), "group": os.getpgid(0)}
    return text(json.dumps({**facts, "environment": dict(os.environ), "descriptors": open_descriptors()}))


def open_descriptors() -> list[int]:
    """The descriptors that are open in this process, as far as 255."""
    found = []
    for number in range(256):
        with contextlib.suppress(OSError):
            os.fstat(number)
            found.append(number)
    return found


def big(request: Message) -> Message:
    """As many characters as asked for."""
    return text("x" * arguments(request)["size"])


def say(request: Message) -> Message | None:
    """Write each of `lines` as it is, "$id" in it replaced by the id of this call; then, unless `last`, the reply."""
    given = arguments(request)
    for line in given["lines"]:
        write(line.replace("$id", json.dumps(request["id"])).encode() + b"\n")
    return None if given.get("last") else text("said")


def replay(request: Message) -> Message:
    """Write the bytes of a file as they are, end the line, then give the good reply."""
    with open(arguments(request)["path"], "rb") as file:
        write(file.read() + b"\n")
    return text("replayed")


def ask_client(request: Message) -> Message | None:
    """Send the client one request and return what it answers."""
    given = arguments(request)
    if options.era == MODERN:
        answer = give_back(request, given["method"], given.get("params", {}))
        return text(json.dumps(answer)) if answer else None
    return text(json.dumps(ask(given["method"], given.get("params", {}), given.get("id"))))


def change(request: Message) -> None:
    """Offer the given tools from now on, and say so as often as asked, all in one write with the reply."""
    given = arguments(request)
    for name in set(TOOLS) - BASIC_TOOLS:
        del TOOLS[name]
    TOOLS.update(dict.fromkeys(given.get("tools", []), echo))
    send(*[LIST_CHANGED] * given.get("times", 1), reply(request, text("changed")))


def die(request: Message) -> NoReturn:
    """End in the middle of a call, as --code and --signal say."""
    end()


TOOLS: dict[str, Handler] = {"echo": echo, "report": report, "big": big, "say": say, "replay": replay}
TOOLS |= {"ask_client": ask_client, "change": change, "die": die}
BASIC_TOOLS = set(TOOLS)


# --- What modes have in common ---------------------------------------------------------

MODES: dict[str, Callable[[], object]] = {}


def mode(function: Callable[[], object]) -> Callable[[], object]:
    """Put a function into the table, under its name with dashes."""
    MODES[function.__name__.replace("_", "-")] = function
    return function


def wait_at_gate() -> None:
    """Until somebody has opened and closed the other end of the gate."""
    with open(options.gate, "rb") as gate:
        gate.read()


def end() -> NoReturn:
    """Leave a last word on stderr, then exit with --code, or by --signal. --how stdout-first: stdout ends before."""
    if options.how == "stdout-first":
        os.close(1)
    log(options.text)
    if options.signal:
        os.kill(os.getpid(), options.signal)
    os._exit(options.code)


def stay() -> NoReturn:
    """Live on without reading anything, until a signal ends it."""
    while True:
        signal.pause()


def wait_until_read() -> None:
    """Until the client has taken every byte out of the pipe: what follows is a read of its own."""
    while int.from_bytes(fcntl.ioctl(1, termios.FIONREAD, bytes(4)), sys.byteorder):
        time.sleep(0)  # no more than a hint to the scheduler: the client's turn


# --- Modes: the start ------------------------------------------------------------------


@mode
def good() -> None:
    """Nothing is wrong. --tools gives more tools, one list for each start."""
    serve()


@mode
def exits_at_once() -> None:
    """Exits before it reads anything; says why on stderr."""
    end()


@mode
def exits_in_handshake() -> None:
    """Exits when the first message has arrived."""
    read()
    end()


@mode
def silent() -> None:
    """Reads everything and answers nothing; ends with stdin."""
    while read():
        pass


@mode
def slow_start() -> None:
    """Answers the first message only when its gate has been opened, like a server that is still being downloaded."""
    message = read()
    wait_at_gate()
    if message:
        answer(message)
    serve()


@mode
def refuses_initialize() -> None:
    """Answers `initialize`, or `server/discover`, with a JSON-RPC error."""

    def refuse(request: Message) -> Message:
        raise Refusal(INVALID_PARAMS, options.text)

    serve({OPENING[options.era]: refuse})


@mode
def odd_initialize() -> None:
    """Answers `initialize` (`server/discover`) with --text, a piece of JSON: another revision, or no result at all."""
    serve({OPENING[options.era]: lambda request: send(reply(request, json.loads(options.text)))})


@mode
def talks_before_initialize() -> None:
    """Logs, asks for a ping and for the roots, and announces changes, all before the `initialize` result."""

    def chatter(request: Message) -> Message:
        send(notification("notifications/message", level="info", data="starting"))
        send(LIST_CHANGED)
        ask("ping", {})
        ask("roots/list", {})
        return initialize(request)

    serve({"initialize": chatter})


@mode
def scripted() -> None:
    """Answers as --text says, JSON: method → a list of answers, used one after the other, the last one for the rest.

    An answer is a piece of a reply ({"result": …} or {"error": …}), a list of whole messages ("$id" is the id of the
    request), or a word: "usual" (what mode `good` does), "silence", "exit", "gate" (wait there, then as usual).
    """
    for method, answers in json.loads(options.text).items():
        METHODS[method] = play(answers, METHODS.get(method))
    serve()


def play(answers: list[Any], usual: Handler | None) -> Handler:
    """A handler that gives one answer after the other."""
    left = [*answers]

    def handle(request: Message) -> Message | None:
        step = left.pop(0) if len(left) > 1 else left[0]
        if step == "exit":
            end()
        if step == "gate":
            wait_at_gate()
        if step in ("usual", "gate"):
            if usual is None:
                raise Refusal(METHOD_NOT_FOUND, f"Method not found: {request['method']}")
            return usual(request)
        if isinstance(step, list):
            send(*json.loads(json.dumps(step).replace('"$id"', json.dumps(request.get("id")))))
        elif isinstance(step, dict):
            send({"jsonrpc": "2.0", "id": request["id"], **step})
        return None

    return handle


@mode
def expects_initialize() -> None:
    """Ends, after an error, when the first message is anything but `initialize`, as some servers do."""
    message = read()
    if message and message.get("method") != "initialize":
        send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32600, "message": "initialize first"}})
        end()
    answer(message or {})
    serve()


@mode
def changes_its_revision() -> None:
    """The second start speaks 2026-07-28, as after an update. Needs --starts."""
    if start_number > 1:
        options.era = MODERN
        become_modern()
    serve()


@mode
def ends_its_stream() -> None:
    """The tool `end_stream` ends the stream of changes as --how says: result, cancelled, both."""
    streams: list[Any] = []

    def listen_and_remember(request: Message) -> None:
        streams.append(request)
        listen(request)

    def end_stream(request: Message) -> Message:
        stream = streams[-1]
        if options.how in ("cancelled", "both"):
            send(notification("notifications/cancelled", requestId=stream["id"]))
        if options.how in ("result", "both"):
            send(reply(stream, {"_meta": {META + "subscriptionId": stream["id"]}}))
        return text(str(len(streams)))

    serve({"subscriptions/listen": listen_and_remember}, {"end_stream": end_stream})


# --- Modes: the bytes ------------------------------------------------------------------


@mode
def banners() -> None:
    """Prints to stdout before, between and after its messages: text, colours, JSON that is no message."""
    noise = [b"Server running on stdio", b"", b"\x1b[32mready\x1b[0m", b'{"level": "info"}', b"42", b"null"]

    def with_noise(data: bytes) -> Iterable[bytes]:
        return [line + b"\n" for line in noise] + [data] + [b'"done"\n', b"{'not': 'json'}\n", b"[]\n"]

    global cut
    cut = with_noise
    serve()


@mode
def odd_frames() -> None:
    """Right messages, cut up as --how says: bytes, halves (each read on its own), crlf."""

    def single_bytes(data: bytes) -> Iterator[bytes]:
        yield from (bytes([byte]) for byte in data)

    def halves(data: bytes) -> Iterator[bytes]:
        yield data[: len(data) // 2]
        wait_until_read()
        yield data[len(data) // 2 :]
        wait_until_read()

    global cut, line_end
    if options.how == "crlf":
        line_end = b"\r\n"
    else:
        cut = {"bytes": single_bytes, "halves": halves}[options.how]
    serve()


@mode
def endless_line() -> None:
    """The tool `endless` writes `size` bytes without a newline, and gives its reply on the next line."""

    def endless(request: Message) -> Message:
        for _ in range(arguments(request)["size"] // 65536):
            write(b"x" * 65536)
        write(b"\n")
        return text("at last")

    serve(tools={"endless": endless})


@mode
def stderr_flood() -> None:
    """Writes --count megabytes to stderr before it answers anything. --how line: one line without an end."""
    piece = (b"z" * 1023 + (b"z" if options.how == "line" else b"\n")) * 1024
    for _ in range(options.count):
        write(piece, to=2)
    write(b"\nnot UTF-8: \xff\xfe\n", to=2)
    log("the last line")
    serve()


# --- Modes: requests and replies -------------------------------------------------------


@mode
def out_of_order() -> None:
    """The tool `together` answers nobody until --count calls have arrived, then the last one first."""
    waiting: list[Message] = []

    def together(request: Message) -> None:
        waiting.append(request)
        if len(waiting) == options.count:
            send(*[reply(request, echo(request)) for request in reversed(waiting)])
            waiting.clear()

    serve(tools={"together": together})


@mode
def late_reply() -> None:
    """The tool `late` gives its reply only when the client has cancelled the call."""
    waiting: dict[Any, Message] = {}

    def late(request: Message) -> None:
        waiting[request["id"]] = request

    def cancelled(message: Message) -> None:
        send(reply(waiting.pop(message["params"]["requestId"]), text("too late")))

    serve({"notifications/cancelled": cancelled}, {"late": late})


@mode
def never_answers() -> None:
    """The tool `never` is read and forgotten."""
    serve(tools={"never": lambda request: None})


@mode
def stops_reading() -> None:
    """Stops reading stdin once its tools are listed, so that the pipe fills up; with a gate, reads on after it."""

    def list_and_stop(request: Message) -> None:
        send(reply(request, list_tools(request)))
        if not options.gate:
            stay()
        wait_at_gate()
        METHODS["tools/list"] = list_tools

    serve({"tools/list": list_and_stop})


@mode
def asks_and_never_reads() -> None:
    """Sends --count pings in the middle of a call, and never reads an answer."""

    def pester(request: Message) -> None:
        for number in range(options.count):
            send({"jsonrpc": "2.0", "id": f"p{number}", "method": "ping"})
        stay()

    serve(tools={"pester": pester})


@mode
def tool_gone() -> None:
    """Lists the tool `gone` once, then forgets it. --how is-error: says so in a result, as many servers do."""

    def call(request: Message) -> Message | None:
        if request["params"]["name"] == "gone" and options.how == "is-error":
            return text("Unknown tool: gone", isError=True)
        return call_tool(request)

    def list_once(request: Message) -> Message:
        tools = list_tools(request)
        TOOLS.pop("gone", None)
        return tools

    serve({"tools/list": list_once, "tools/call": call}, {"gone": echo})


@mode
def failing_tool() -> None:
    """The tool `fail` says `isError: true`, and its content is not what its output schema promises."""

    def fail(request: Message) -> Message:
        return text("the disk is full", isError=True, structuredContent={"not": "promised"})

    def list_with_schema(request: Message) -> Message:
        promise = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        return {"tools": [{**definition("fail"), "outputSchema": promise}]}

    serve({"tools/list": list_with_schema}, {"fail": fail})


# --- Modes: the list of tools ----------------------------------------------------------


@mode
def changes_while_listing() -> None:
    """Announces a change just before the reply to a listing that does not have it yet, --count times."""
    listings = itertools.count()

    def list_old(request: Message) -> None:
        old, number = reply(request, list_tools(request)), next(listings)
        if 0 < number <= options.count:
            TOOLS[f"after_{number}"] = echo
            send(LIST_CHANGED)
        send(old)

    serve({"tools/list": list_old})


@mode
def pages() -> None:
    """Lists in pages, a tool each: --count of them. --how repeat: the cursor stands still; empty: it is ""; endless."""

    def page(request: Message) -> Message:
        cursor = request.get("params", {}).get("cursor")
        number = 0 if cursor is None else int(cursor[1:] or 1)
        following = {"repeat": "p1", "empty": ""}.get(options.how, f"p{number + 1}")
        more = number + 1 < options.count or options.how in ("repeat", "endless")
        return {"tools": [definition(f"tool_{number}")], **({"nextCursor": following} if more else {})}

    serve({"tools/list": page}, {f"tool_{number}": echo for number in range(options.count)})


@mode
def bad_tools() -> None:
    """Lists tools that are none (no name, no schema, not even an object) between good ones."""
    bad: list[Any] = [None, 7, "echo", [], {}, {"name": 5}, {"name": ""}, {"name": "no_schema"}]
    bad += [definition(None), definition(["a"]), definition("list_schema", [1]), definition("text_schema", "object")]
    bad += [definition("array_schema", {"type": "array"}), definition("odd_type", {"type": {"a": 1}})]
    tools = [definition("first"), *bad, definition("last")]
    serve({"tools/list": lambda request: {"tools": tools}}, {"first": echo, "last": echo})


@mode
def odd_tools() -> None:
    """Answers `tools/list` with --text, a piece of JSON."""
    serve({"tools/list": lambda request: send(reply(request, json.loads(options.text)))})


@mode
def awkward_names() -> None:
    """Tools whose names are legal nowhere, too long, alike, or look like another server's."""
    names = ["search", "_status", "status_", "a__b", "files/search", "a b", "ünï", "-", "x" * 200, "SEARCH", "1st"]
    serve(tools=dict.fromkeys(names, echo))


# --- Modes: the end --------------------------------------------------------------------


@mode
def dies_mid_call() -> None:
    """Dies when --count calls are waiting for a reply, as --code and --signal say."""
    waiting = itertools.count(1)

    def wait(request: Message) -> None:
        if next(waiting) == options.count:
            end()

    serve(tools={"wait": wait})


@mode
def closes_pipes() -> None:
    """Closes stdout in a call (--how stdin: stdin; both) but lives on; --how stubborn: whatever SIGTERM says."""
    if options.how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def close(request: Message) -> None:
        for descriptor in {"stdin": [0], "both": [0, 1]}.get(options.how, [1]):
            os.close(descriptor)
        if options.gate:
            wait_at_gate()
        stay()

    serve(tools={"close": close})


@mode
def crash_loop() -> None:
    """The first life is good, until the tool `die`; the second to the --count-th exit at once. Needs --starts."""
    if 1 < start_number <= options.count:
        end()
    serve()


@mode
def replies_then_dies() -> None:
    """Writes a reply of 60 000 characters and is gone before anybody can have read it."""

    def last_words(request: Message) -> NoReturn:
        send(reply(request, text("w" * 60_000)))
        end()

    serve(tools={"last_words": last_words})


@mode
def slow_restart() -> None:
    """The first life is good; a later one waits at its gate before it lists its tools. Needs --starts."""

    def list_after_gate(request: Message) -> Message:
        if start_number > 1:
            wait_at_gate()
        return list_tools(request)

    serve({"tools/list": list_after_gate})


@mode
def reply_of_the_dead() -> None:
    """In its first life it dies in a call; a grandchild that holds its pipe replies after the gate. Needs --starts."""

    def haunt(request: Message) -> Message:
        if start_number > 1:
            return text("alive")
        if os.fork() == 0:
            os.setsid()  # out of reach of a signal to the group
            wait_at_gate()
            late = [{"jsonrpc": "2.0", "id": number, "result": text("from the grave")} for number in range(100)]
            send(*late)
            os._exit(0)
        end()

    serve(tools={"haunt": haunt, "never": lambda request: None})


@mode
def leaves_a_grandchild() -> None:
    """Starts a process that outlives it, as `npx` does. --how stubborn: it ignores SIGTERM; 1 or 2: it writes there."""
    if os.fork() == 0:
        if options.how == "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while options.how in ("1", "2"):
            write(b"still here\n" * 300, to=int(options.how))  # below PIPE_BUF, so it cuts no line of the server's
        stay()
    serve()


@mode
def ignores_eof() -> None:
    """Lives on when stdin has ended; SIGTERM ends it."""
    serve()
    stay()


@mode
def ignores_sigterm() -> None:
    """Lives on when stdin has ended, and when it is asked to end: only SIGKILL helps."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve()
    stay()


@mode
def ends_at_gate() -> None:
    """When stdin has ended it waits at its gate, then exits: it needs a moment to clean up."""
    serve()
    wait_at_gate()


# --- The command line ------------------------------------------------------------------


def count_start() -> int:
    """Which start this is: each one adds a line to the file."""
    with open(options.starts, "a+") as file:
        file.write(f"{os.getpid()}\n")
        file.seek(0)
        return len(file.readlines())


def record_signal(number: int, frame: object) -> NoReturn:
    """Write down which signal came, then end as the signal would have ended us."""
    record(signal.Signals(number).name.encode() + b"\n")
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(1)


def main() -> None:
    """Read the options, count the start, play the mode."""
    global options, start_number
    parser = argparse.ArgumentParser(description="A server that misbehaves on purpose.")
    parser.add_argument("mode", nargs="?", choices=MODES, metavar="MODE", help="see --list")
    parser.add_argument("--list", action="store_true", help="print the modes and end")
    parser.add_argument("--era", choices=OPENING, default="2025-11-25", help="protocol revision")
    parser.add_argument("--ttl", type=int, default=0, help="the ttlMs of the list of tools")
    parser.add_argument("--how", help="a variant of the mode")
    parser.add_argument("--count", type=int, default=1, help="how many, where the mode counts something")
    parser.add_argument("--text", default="I give up", help="the last words, or what the mode sends")
    parser.add_argument("--code", type=int, default=1, help="the exit code of a mode that ends by itself")
    parser.add_argument("--signal", type=int, default=0, help="the signal of a mode that ends by itself")
    parser.add_argument("--gate", help="a FIFO to wait at")
    parser.add_argument("--record", help="a file for what is received, lines and signals")
    parser.add_argument("--starts", help="a file that counts the starts")
    parser.add_argument("--tools", help="JSON: a list of tool names for each start; the last one serves the rest")
    parser.add_argument("--mark", help="means nothing; it shows in the list of processes")
    options = parser.parse_args()
    if options.list:
        for name, function in MODES.items():
            print(f"{name:<24} {(inspect.getdoc(function) or '').partition(chr(10))[0]}")
        return
    if options.mode is None:
        parser.error("which MODE? --list prints them")
    if options.era == MODERN:
        become_modern()
    if options.record:
        signal.signal(signal.SIGINT, record_signal)
        signal.signal(signal.SIGTERM, record_signal)
    if options.starts:
        start_number = count_start()
    if options.tools:
        lists = json.loads(options.tools)
        TOOLS.update(dict.fromkeys(lists[min(start_number, len(lists)) - 1], echo))
    with contextlib.suppress(KeyboardInterrupt):
        MODES[options.mode]()


if __name__ == "__main__":
    main()
