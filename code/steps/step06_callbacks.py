"""Step 6 of the small client: ping, sampling, elicitation, roots.

Made by `grader build` from lessons/06_callbacks.md.
"""

import threading

from steps import step03_reader_thread as step03

CAPABILITY = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}


class Refused(Exception):
    """A handler raises this when the user says no."""


def declared(handlers):
    """The capabilities to declare: one for each handler, and nothing else."""
    return {CAPABILITY[method]: {} for method in handlers}


def answer(server, request, handlers):
    """The reply to a request of a server: a result, or an error that says why there is none."""
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    method = request["method"]
    if method == "ping":
        return reply | {"result": {}}
    if method not in handlers:
        return reply | {"error": {"code": -32601, "message": f"Method not found: {method}"}}
    try:
        return reply | {"result": handlers[method](server, request.get("params", {}))}
    except Refused as refusal:
        return reply | {"error": {"code": -1, "message": str(refusal)}}
    except Exception as error:
        return reply | {"error": {"code": -32603, "message": f"{type(error).__name__}: {error}"}}


class Connection(step03.Connection):
    """The session with one server, which may ask back."""

    def __init__(self, name, command, handlers=None, on_notification=None):
        super().__init__(name, command, on_notification)
        self.handlers = handlers or {}

    def _request(self, method, params, timeout):
        if method == "initialize":
            params = params | {"capabilities": declared(self.handlers)}
        return super()._request(method, params, timeout)

    def _answer(self, request):
        """Called on the reader thread, which must not wait: each answer gets a thread of its own."""

        def work():
            self._transport.send(answer(self.name, request, self.handlers))

        threading.Thread(target=work, daemon=True).start()


ROUNDS = 10  # a server that never has enough must not hold us for ever


def inputs(server, result, handlers):
    """What a call that came back needs when it is made again: our answers, and the server's state as it was."""
    again = {}
    if "inputRequests" in result:
        again["inputResponses"] = {
            key: handlers[question["method"]](server, question.get("params", {}))
            for key, question in result["inputRequests"].items()
        }
    if "requestState" in result:
        again["requestState"] = result["requestState"]
    return again


def call_in_rounds(request, server, name, arguments, handlers):
    """tools/call of 2026-07-28: while the call comes back with questions, answer them and call again."""
    again = {}
    for _ in range(ROUNDS):
        result = request("tools/call", {"name": name, "arguments": arguments, **again})
        kind = result.get("resultType", "complete")
        if kind == "complete":
            return result
        if kind != "input_required":
            raise RuntimeError(f"server {server!r} gave a result of an unknown type: {kind!r}")
        again = inputs(server, result, handlers)
    raise RuntimeError(f"server {server!r} asked {ROUNDS} times in a row: {name!r} was given up")
