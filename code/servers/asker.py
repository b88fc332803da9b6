"""A server whose tools need the client: its model, its user, its folders.

Revision 2025-11-25: it sends a request of its own while the call is in flight, and the tool
waits for the client's reply. Its ids begin at 1, as the client's do. Each message is served
in a thread of its own; with `--careless` there is one thread, and a tool that waits takes
the next line for its reply, whatever it is.

Revision 2026-07-28 (`--era`): it sends no request. The call comes back with `input_required`,
and the client calls again with the answers. The server keeps nothing meanwhile: what it
needs travels in `requestState`, signed, so that a changed one is refused.
"""

import argparse
import base64
import contextlib
import hashlib
import hmac
import itertools
import json
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from main import INVALID_PARAMS, Server, make_server
from servers import stateless, stdio_loop

Message = dict[str, Any]
Ask = Callable[..., Message]  # (method, params[, id]) → the client's whole reply

NEEDS = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}
MISSING_CAPABILITY = -32021  # revision 2026-07-28
KEY = b"a real server takes a secret from its configuration"


# --- The tools, the same in both revisions ---------------------------------------------


def make_asker(ask: Ask) -> Server:
    """The server as a function; `ask` puts a question to the client and returns its reply."""

    def result_of(method: str, params: Message) -> Message:
        reply = ask(method, params)
        if "result" not in reply:
            error = reply.get("error") or {}
            raise RuntimeError(f"the client answered {method} with {error.get('code')}: {error.get('message')}")
        result: Message = reply["result"]
        return result

    def count(text: str) -> str:
        "Count the words of a text."
        return f"{len(text.split())} words"

    def summarize(text: str) -> str:
        "Summarize a text, with the help of the client's model."
        result = result_of("sampling/createMessage", prompt(f"Summarize: {text}"))
        return str(result["content"]["text"])

    def invite(topic: str) -> str:
        "Write an invitation: asks the user for a name, then the client's model for the text."
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        form = {"mode": "form", "message": "Who is invited?", "requestedSchema": schema}
        answer = result_of("elicitation/create", form)
        if answer["action"] != "accept":
            return f"no invitation: the user chose {answer['action']}"
        name = answer["content"]["name"]
        return str(result_of("sampling/createMessage", prompt(f"Invite {name} to: {topic}"))["content"]["text"])

    def folders() -> str:
        "List the folders that the client works in."
        return ", ".join(root["uri"] for root in result_of("roots/list", {})["roots"])

    def ask_client(request: str) -> str:
        "Send any request to the client, given as JSON with method, params and id; returns the whole reply."
        given = json.loads(request)
        return json.dumps(ask(given["method"], given.get("params", {}), given.get("id")))

    return make_server("asker", {"tools": {}}, count, summarize, invite, folders, ask_client)


def prompt(text: str) -> Message:
    """The parameters of sampling/createMessage for one question."""
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}], "maxTokens": 100}


# --- Revision 2025-11-25: ask while the call is in flight -------------------------------


class Conversation:
    """Both directions on one pair of pipes: replies to the client's requests, and requests of our own."""

    def __init__(self, careless: bool = False) -> None:
        self.careless = careless
        self.declared: Message = {}  # by the client
        self.ids, self.lock = itertools.count(1), threading.Lock()
        self.waiting: dict[Any, queue.SimpleQueue[Message]] = {}
        self.serve = make_asker(self.ask)

    def write(self, message: Message) -> None:
        with self.lock, contextlib.suppress(BrokenPipeError):  # the client has gone
            sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
            sys.stdout.buffer.flush()

    def ask(self, method: str, params: Message, request_id: Any = None) -> Message:
        """Send a request to the client and wait for its reply. What the client did not declare is not asked."""
        if request_id is None:
            if method in NEEDS and NEEDS[method] not in self.declared:
                raise RuntimeError(f"this client did not declare {NEEDS[method]}")
            request_id = next(self.ids)
        reply: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.waiting[request_id] = reply
        self.write({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        if self.careless:  # whatever comes next, it is taken for the reply
            return dict(json.loads(sys.stdin.buffer.readline() or b"{}"))
        return reply.get()

    def answer(self, line: bytes) -> None:
        reply = stdio_loop.answer_line(self.serve, line)
        if reply is not None:
            self.write(reply)

    def run(self) -> None:
        """Serve until stdin ends. `readline`, because a careless tool reads from the same stream."""
        while line := sys.stdin.buffer.readline():
            message = parsed(line)
            if message.get("method") == "initialize":
                self.declared = message.get("params", {}).get("capabilities", {})
            if message and "method" not in message:  # a reply to one of our questions
                waiting = self.waiting.pop(message.get("id"), None)
                if waiting is not None:
                    waiting.put(message)
            elif self.careless:
                self.answer(line)
            else:
                threading.Thread(target=self.answer, args=(line,), daemon=True).start()


def parsed(line: bytes) -> Message:
    """The message in a line; an empty one for a line that is none."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


# --- Revision 2026-07-28: give the call back --------------------------------------------


class InputRequired(BaseException):
    """A question that has no answer yet. No Exception: a tool's own `except` must not stop it."""


def make_stateless_asker() -> Server:
    """The same tools. A tool runs from its start at each retry, with the answers that are there by then."""

    def serve(request: Message) -> Message | None:
        params = request.get("params", {})
        capabilities = params.get("_meta", {}).get(stateless.META + "clientCapabilities", {})
        questions: dict[str, Message] = {}
        try:
            answers = {**unseal(params["requestState"])} if "requestState" in params else {}
        except ValueError as error:
            return stateless.error(request, INVALID_PARAMS, f"requestState: {error}")
        answers |= params.get("inputResponses", {})

        def ask(method: str, given: Message, request_id: Any = None) -> Message:
            key = method.split("/")[0]
            if key not in answers:
                questions[key] = {"method": method, "params": given}
                raise InputRequired
            return {"result": answers[key]}

        try:
            return make_asker(ask)(request)
        except InputRequired:
            methods = [str(question["method"]) for question in questions.values()]
            asked = [NEEDS.get(method, method) for method in methods]
            missing = [name for name in asked if name not in capabilities]
            if missing:
                text = f"Missing client capability: {', '.join(missing)}"
                data: Message = {"requiredCapabilities": {name: {} for name in missing}}
                return stateless.error(request, MISSING_CAPABILITY, text, data)
            result = {"resultType": "input_required", "inputRequests": questions, "requestState": seal(answers)}
            return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    return stateless.stateless(serve)


def seal(answers: Mapping[str, Any]) -> str:
    """The answers so far as one signed text."""
    body = base64.b64encode(json.dumps(answers).encode())
    return f"{body.decode()}.{signature(body)}"


def unseal(state: Any) -> Message:
    """The answers in a text that `seal` made. Raises ValueError for any other."""
    body, _, signed = str(state).partition(".")
    if not hmac.compare_digest(signature(body.encode()), signed):
        raise ValueError("not the one that this server gave: echo it byte for byte")
    return dict(json.loads(base64.b64decode(body)))


def signature(body: bytes) -> str:
    return hmac.new(KEY, body, hashlib.sha256).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description="Tools that need the client.", epilog="Ends when stdin ends.")
    parser.add_argument("--era", choices=["2025-11-25", "2026-07-28"], default="2025-11-25", help="protocol revision")
    parser.add_argument("--careless", action="store_true", help="one thread; the next line is taken for the reply")
    options = parser.parse_args()
    if options.era == "2026-07-28":
        stdio_loop.serve(make_stateless_asker())
        return
    with contextlib.suppress(KeyboardInterrupt):
        Conversation(options.careless).run()


if __name__ == "__main__":
    main()
