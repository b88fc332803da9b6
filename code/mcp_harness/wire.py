"""Bytes to lines to messages, and back. No I/O, no threads, no ids given out.

Guarantees: any bytes at all give a list of messages and noise, never an exception. A line
ends at the newline byte and nowhere else (U+2028 is legal inside JSON). The cost is linear in
the bytes, also for a line that arrives in a thousand pieces. Memory is bounded: a line past
MAX_LINE_BYTES is thrown away up to its end, and the lines behind it are read as usual.

What it leaves out: whether a reply was asked for (session.py), and what the content means.

Source: stdio transport of revision 2025-11-25; JSON-RPC 2.0. Batches left the protocol with
revision 2025-06-18, so an array is noise.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]
Id = int | float | str  # 7.0 is 7: some languages know one kind of number only

MAX_LINE_BYTES = 64 * 1024 * 1024  # above the largest results seen in the wild (31 MB), below what hurts a laptop
MAX_ID_CHARS = 1024  # ids are echoed: a server must not make us hold megabytes of them
EDGE_BYTES = 512  # kept of each end of a line that is too long, to find the id in it
PREVIEW_CHARS = 200  # enough to recognise a stray print

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603


@dataclass(frozen=True)
class Request:
    """The server asks for something and waits for an answer with this id."""

    id: Id
    method: str
    params: Message


@dataclass(frozen=True)
class Notification:
    """The server tells something; an answer would be wrong."""

    method: str
    params: Message


@dataclass(frozen=True)
class Reply:
    """An answer to a request; `body` is the whole message, with `result` or `error` in it."""

    id: Id
    body: Message


@dataclass(frozen=True)
class Noise:
    """A line that is no message. `reply_id` is set where a reply was lost with it."""

    why: str
    preview: str
    reply_id: Id | None = None


Incoming = Request | Notification | Reply | Noise


# --- bytes to lines ----------------------------------------------------------------------


@dataclass(frozen=True)
class TooLong:
    """What is left of a line past the maximum: its two ends."""

    size: int
    head: bytes
    tail: bytes


Line = bytes | bytearray | TooLong


def too_long(line: bytes | bytearray, size: int) -> TooLong:
    """The two ends of a line."""
    return TooLong(size, bytes(line[:EDGE_BYTES]), bytes(line[-EDGE_BYTES:]))


class LineBuffer:
    """Cuts a stream of bytes into lines at b"\\n". Feed it in any pieces; the lines come out the same."""

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_bytes
        self._line = bytearray()  # the line that is not complete yet: grows in place, so the cost stays linear
        self._size = 0

    @property
    def partial(self) -> bool:
        """True while a line is not complete."""
        return self._size > 0

    def feed(self, data: bytes) -> list[Line]:
        """The lines that `data` completes, without their newline."""
        *complete, rest = data.split(b"\n")
        lines: list[Line] = []
        if self._size and complete:
            self._keep(complete.pop(0))
            lines.append(self._take())
        lines += [line if len(line) <= self._max else too_long(line, len(line)) for line in complete]
        if rest:
            self._keep(rest)
        return lines

    def _keep(self, piece: bytes) -> None:
        self._line += piece
        self._size += len(piece)
        if self._size > self._max:  # from here on only the two ends are kept
            del self._line[EDGE_BYTES:-EDGE_BYTES]

    def _take(self) -> Line:
        line, size = self._line, self._size
        self._line, self._size = bytearray(), 0
        return line if size <= self._max else too_long(line, size)


# --- lines to messages -------------------------------------------------------------------


_decoder = json.JSONDecoder()
JSON_SPACE = " \t\r\n"  # what JSON itself allows around a value


def parse(line: Line) -> Incoming | None:
    """The message in one line, or the noise that it is; None for an empty line."""
    if isinstance(line, TooLong):
        why = f"a line of {line.size} bytes: the maximum is {MAX_LINE_BYTES}"
        return Noise(why, preview(line.head), find_reply_id(line))
    if not line or line.isspace():
        return None
    try:
        message = load(line)
    except UnicodeDecodeError:
        return Noise("not UTF-8", preview(line))
    except RecursionError:
        return Noise("nested too deeply", preview(line))
    except (ValueError, MemoryError):  # no JSON, or a number with more digits than Python converts
        return Noise("not JSON", preview(line))
    if not isinstance(message, dict):
        return Noise("JSON, but no object", preview(line))
    return classify(message) or Noise("JSON, but no JSON-RPC message", preview(line))


def load(line: bytes | bytearray) -> Any:
    """The JSON value in one line. Raises ValueError, RecursionError or MemoryError for what is none."""
    text = line.decode("utf-8").removeprefix("\ufeff").strip(JSON_SPACE)
    value, end = _decoder.raw_decode(text)
    if end != len(text):
        raise ValueError("something follows the value")
    return value


def reply_to(line: bytes, id: int) -> Message | None:
    """The message in one line if it is the reply to our request `id`; None for all else."""
    try:
        message = load(line)
    except (ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(message, dict) or own_id(message.get("id")) != id or "method" in message:
        return None
    return message if "result" in message or "error" in message else None


def classify(message: Message) -> Incoming | None:
    """Request, notification or reply; None where it is neither.

    Both sides number their requests from 1, so an id alone says nothing: whatever has a
    `method` is the server's, and only the rest can be an answer to us.
    """
    if "method" in message:
        method, params = message["method"], message.get("params")
        if not isinstance(method, str):
            return None
        params = params if isinstance(params, dict) else {}
        if "id" not in message:
            return Notification(method, params)
        return Request(message["id"], method, params) if is_id(message["id"]) else None
    if "id" in message and is_id(message["id"]) and ("result" in message or "error" in message):
        return Reply(message["id"], message)
    return None


def is_id(value: object) -> bool:
    """Strings and finite numbers are ids; null and booleans are not."""
    if type(value) is int:  # nearly always
        return True
    if isinstance(value, str):
        return len(value) <= MAX_ID_CHARS
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def own_id(value: object) -> int | None:
    """The number that we once gave out, if `value` is it or its string form ("7"); some servers send that."""
    if type(value) is int:  # nearly always
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value) if str(int(value)) == value else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return None


_HEAD_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(\d{1,18})"?\s*,')
_TAIL_ID = re.compile(rb'"id"\s*:\s*"?(\d{1,18})"?\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


def find_reply_id(line: TooLong) -> int | None:
    """The id in what is left of a line that was too long, so that its caller hears of it now."""
    if b'"method"' in line.head:
        return None
    found = _HEAD_ID.match(line.head) or _TAIL_ID.search(line.tail)
    return int(found.group(1)) if found else None


def preview(line: bytes | bytearray) -> str:
    """The beginning of a line, fit to be shown."""
    text = line[: 4 * PREVIEW_CHARS].decode("utf-8", "replace").strip()
    return text if len(text) <= PREVIEW_CHARS else text[:PREVIEW_CHARS] + "…"


# --- messages to bytes -------------------------------------------------------------------

# ASCII only: no code page can spoil it. What contains itself is found by its depth, which costs less than a search
_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)


def encode(message: Message) -> bytes:
    """One frame: the message on one line. Raises ValueError or TypeError for what JSON cannot carry."""
    return to_json(message).encode("ascii") + b"\n"


def to_json(value: Message | str) -> str:
    """The value as JSON on one line. Raises ValueError or TypeError."""
    try:
        return _encoder.encode(value)
    except RecursionError as error:
        raise ValueError("it contains itself, or is nested too deeply") from error


def encode_request(id: int, method: str, params: Message, ready: str = "") -> bytes:
    """`encode(request(…))` with less work: only `params` differ much from one request to the next.

    `ready` is one more member of the params, `"key":value` in JSON, the same each time.
    """
    if not isinstance(params, dict):
        raise TypeError(f"they are {type(params).__name__}, not an object")
    body = to_json(params)
    if ready:
        body = f"{body[:-1]}{',' if params else ''}{ready}}}"
    return f'{{"jsonrpc":"2.0","id":{id},"method":{to_json(method)},"params":{body}}}\n'.encode("ascii")


def request(id: int, method: str, params: Message | None) -> Message:
    """A request; `params` may be absent."""
    message: Message = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification(method: str, params: Message | None = None) -> Message:
    """A notification: a request without an id."""
    message: Message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def result(id: Id, body: Message) -> Message:
    """The answer to a server's request."""
    return {"jsonrpc": "2.0", "id": id, "result": body}


def error(id: Id, code: int, text: str) -> Message:
    """The refusal of a server's request."""
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}


def messages(data: bytes) -> Iterator[Incoming]:
    """All messages and noise in `data`, for readers and tests: the whole path in one call."""
    for line in LineBuffer().feed(data):
        incoming = parse(line)
        if incoming is not None:
            yield incoming
