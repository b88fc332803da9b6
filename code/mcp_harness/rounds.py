"""A call that comes back with a question: answer it and call again, until the result is complete.

In revision 2026-07-28 a server sends no requests. It gives the call back (`input_required`)
with its questions and a state; we ask the same handlers that answer the requests of an older
server, and send the call again under a new id, with the answers and the state as it came.

Guarantees: the deadline of the call covers all rounds and the handlers. The rounds are
counted. What we did not declare we do not answer: the call fails and says so.

What it leaves out: the state's meaning, which is the server's own.

Source: revision 2026-07-28, multi-round-trip requests.
"""

import time
from typing import Protocol

from .callbacks import Answering
from .errors import BadReply, RequestTimeout
from .wire import Message

MAX_ROUNDS = 10  # as other clients: a server that asks more often does not end
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds before a call that the server wants to see again later


class Calls(Protocol):
    """What a round needs of a session."""

    server: str
    answering: Answering

    def request(self, method: str, params: Message | None, deadline: float) -> Message: ...

    def wait_for_end(self, seconds: float) -> None: ...


def finish(session: Calls, method: str, params: Message, result: Message, deadline: float) -> Message:
    """The complete result of a call whose first result is `result`. Raises what a call raises, and HandlerFailed."""
    pause = FIRST_PAUSE
    for _ in range(MAX_ROUNDS):
        if result.get("resultType") != "input_required":
            return result
        questions, state = read_round(session.server, method, result)
        again = dict(params)  # answers and state belong to one round only
        if questions:
            again["inputResponses"] = session.answering.gather(questions, deadline)
        else:
            session.wait_for_end(min(pause, deadline - time.monotonic()))
            pause = min(2 * pause, LONGEST_PAUSE)
            if time.monotonic() >= deadline:
                text = f"server {session.server!r} wanted to see {named(method, params)} again later, until time was up"
                raise RequestTimeout(session.server, f"{text}. Raise the timeout")
        if state is not None:
            again["requestState"] = state
        result = session.request(method, again, deadline)
    if result.get("resultType") != "input_required":
        return result
    text = f"server {session.server!r} gave {named(method, params)} back more than {MAX_ROUNDS} times with a question"
    raise BadReply(session.server, f"{text}; the call was given up")


def read_round(server: str, method: str, result: Message) -> tuple[dict[str, Message], object]:
    """The questions of a result, and its state; one of the two may be missing. Raises BadReply."""
    questions, state = result.get("inputRequests"), result.get("requestState")
    questions = {} if questions is None else questions
    well_formed = isinstance(questions, dict) and all(
        isinstance(one, dict) and isinstance(one.get("method"), str) and isinstance(one.get("params", {}), dict)
        for one in questions.values()
    )
    if not well_formed or not (questions or state is not None):
        text = f"server {server!r} gave {method} back with 'input_required', but without a question that can be read"
        raise BadReply(server, f"{text}; the call was given up")
    return questions, state


def named(method: str, params: Message) -> str:
    """The call in words."""
    return f"{method} {params['name']!r}" if "name" in params else method
