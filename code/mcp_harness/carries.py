"""What a message carries, in a few words: for the table and the diagram of a transcript.

Pure: a message in, a text out, whatever is in the message. What it leaves out: the content.
"""

import json
from typing import Any

from .wire import Message

LONGEST = 56  # characters: a row of the table stays on one line of a terminal


def carries(message: Message, method: str = "", longest: int = LONGEST) -> str:
    """What a message carries; `method` is the request that a reply answers."""
    if "method" in message:
        return shorten(of_request(str(message["method"]), as_object(message.get("params"))), longest)
    error = message.get("error")
    if error is not None:
        error = as_object(error)
        return shorten(f"{error.get('code')}: {error.get('message')}", longest)
    return shorten(of_result(method, as_object(message.get("result"))), longest)


def of_request(method: str, params: Message) -> str:
    """The parameters that matter for reading, without `_meta`."""
    capabilities = ", ".join(as_object(params.get("capabilities"))) or "no capabilities"
    if method == "initialize":
        return f"{params.get('protocolVersion')}, {capabilities}"
    if method == "tools/call":
        again = [count(params["inputResponses"], "answer")] if "inputResponses" in params else []
        again += ["state"] if "requestState" in params else []
        said = f" + {', '.join(again)}" if again else ""
        return f"{params.get('name')}{said} {compact(params.get('arguments', {}))}"
    if method == "notifications/cancelled":
        return f"id {params.get('requestId')}: {params.get('reason', '')}"
    if method == "sampling/createMessage":
        return f"{count(params.get('messages'), 'message')}, at most {params.get('maxTokens')} tokens"
    if method == "elicitation/create":
        return str(params.get("message"))
    kept = {key: value for key, value in params.items() if key != "_meta"}
    return compact(kept) if kept else version_in(params)


def of_result(method: str, result: Message) -> str:
    """What a result says."""
    if result.get("resultType") == "input_required":
        asked = [str(as_object(one).get("method")) for one in as_object(result.get("inputRequests")).values()]
        return ", ".join(["input required", *asked, *(["state"] if "requestState" in result else [])])
    if method in ("initialize", "server/discover"):
        versions = result.get("protocolVersion") or ", ".join(map(str, as_list(result.get("supportedVersions"))))
        return f"{versions}; {', '.join(as_object(result.get('capabilities'))) or 'no capabilities'}"
    if method == "tools/list":
        more = ", and more" if "nextCursor" in result else ""
        kept = f", fresh for {result['ttlMs']} ms" if "ttlMs" in result else ""
        return f"{count(result.get('tools'), 'tool')}{more}{kept}"
    if "content" in result and isinstance(result["content"], list):
        blocks = ", ".join(of_block(as_object(block)) for block in result["content"]) or "no content"
        failed = "failed: " if result.get("isError") else ""
        return failed + blocks + (" + structured" if "structuredContent" in result else "")
    return compact(result)


def of_block(block: Message) -> str:
    """One content block."""
    if block.get("type") == "text":
        return compact(block.get("text"))
    size = f" of {len(str(block['data']))} characters" if "data" in block else ""
    return f"{block.get('type')}{size}"


def version_in(params: Message) -> str:
    """The revision that a request names in `_meta`, where it does."""
    return str(as_object(params.get("_meta")).get("io.modelcontextprotocol/protocolVersion", ""))


def count(values: Any, word: str) -> str:
    """ "1 tool", "2 tools"."""
    number = len(values) if isinstance(values, list | dict) else 0
    return f"{number} {word}" + ("" if number == 1 else "s")


def compact(value: Any) -> str:
    """The value as compact JSON, its letters readable."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def shorten(text: str, longest: int) -> str:
    """One line, with an ellipsis where it was cut."""
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def as_object(value: Any) -> Message:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
