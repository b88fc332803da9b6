"""From tools/list to the model and back: a conversation in which a model calls the tools of a host.

    from mcp_harness import Host, load_config
    from mcp_harness.model import ANTHROPIC, converse
    from mcp_harness.provider_client import anthropic_model     # optional: needs the package `anthropic`

    with Host(load_config("servers.json")) as host:
        talk = converse(anthropic_model(client, "…"), host, "What is in my notes?", format=ANTHROPIC,
                        allowed={"search"}, confirm=ask_on_the_terminal)
        print(talk.text)

Guarantees: whatever the model writes, each of its calls gets one answer and no call raises: an
invented name, broken arguments, a dead server, a refusal are error results that it can read. A
call runs only if the user has allowed the tool by name or agrees to this very call. A result is
capped and marked as untrusted data. The calls of one turn are made one after the other.

    definitions.py a definition in the form that every provider takes
    formats.py     the shapes of OpenAI, Anthropic and Gemini
    results.py     content blocks to text and images, the cap, the mark
    selection.py   k tools for a query, the cost of definitions
    model.py       calls back to the table, consent, the loop
"""

import difflib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from .definitions import own_arguments, sendable
from .errors import HarnessError
from .formats import ANTHROPIC, FORMATS, GEMINI, OPENAI, RESPONSES, Answer, Format, RawCall
from .namespace import MergedTool
from .results import RESULT_BYTES, RULES, Shown, cap, mark, new_word, show
from .selection import Index, estimate_tokens, recall
from .tools import ToolResult

__all__ = [
    "ANTHROPIC",
    "FORMATS",
    "GEMINI",
    "OPENAI",
    "RESPONSES",
    "RULES",
    "Answer",
    "Call",
    "Format",
    "Index",
    "RawCall",
    "Request",
    "Script",
    "Shown",
    "Talk",
    "ask_first",
    "cap",
    "converse",
    "estimate_tokens",
    "mark",
    "question",
    "read_call",
    "read_calls",
    "recall",
    "show",
]

Message = dict[str, Any]

MOST_TURNS = 12  # requests to the model for one question: a model that goes round in circles costs money
SUGGESTIONS = 3  # names offered for an invented one
BRIEF = 100  # characters of a text in a transcript


class Tools(Protocol):
    """What is needed of a host."""

    def tools(self) -> Mapping[str, MergedTool]:
        """All tools by canonical name."""

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call one by its canonical name."""


@dataclass(frozen=True)
class Request:
    """What a model gets: the conversation so far, the definitions, and the rules for untrusted data."""

    messages: list[Message]
    tools: list[Message]
    system: str = RULES


Model = Callable[[Request], Message]  # returns the provider's response as plain JSON
Confirm = Callable[[MergedTool, Message, str], bool]  # tool, arguments, why it is asked → the user's answer


# --- calls back --------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A call led back to the table. With a `problem`, a sentence for the model, it cannot be made."""

    raw: RawCall
    tool: MergedTool | None
    arguments: Message = field(default_factory=dict)
    problem: str = ""


def read_calls(format: Format, response: Message, tools: Iterable[MergedTool]) -> list[Call]:
    """The calls in a response, each with its tool and its arguments, or with what is wrong with it."""
    table = {tool.model_name: tool for tool in tools}
    return [read_call(raw, table) for raw in format.calls(response)]


def read_call(raw: RawCall, table: Mapping[str, MergedTool]) -> Call:
    """Look the name up in a table by model name; a name is never taken apart. Never raises."""
    tool = table.get(raw.name)
    if tool is None:
        near = difflib.get_close_matches(raw.name[:200], table, SUGGESTIONS) or list(table)[:SUGGESTIONS]
        hint = f" Did you mean {' or '.join(near)}?" if near else " There are no tools."
        return Call(raw, None, problem=f"There is no tool of this name; nothing was called.{hint}")
    given = raw.arguments
    if given is None or (isinstance(given, str) and not given.strip()):
        return Call(raw, tool)  # a tool without parameters
    if isinstance(given, str):
        try:
            given = json.loads(given, parse_constant=no_number)
        except (ValueError, RecursionError) as error:
            why = str(error) if isinstance(error, ValueError) else "nested too deeply"
            return Call(raw, tool, problem=f"The arguments are not JSON ({why}); nothing was called. Write them again.")
    if not isinstance(given, dict):
        return Call(raw, tool, problem="The arguments are no JSON object; nothing was called. Write them again.")
    return Call(raw, tool, own_arguments(tool, given))


def no_number(word: str) -> NoReturn:
    """NaN and Infinity are no JSON, although Python reads them."""
    raise ValueError(f"{word} is no number in JSON")


# --- consent -----------------------------------------------------------------------------


def ask_first(tool: MergedTool, allowed: Collection[str] = ()) -> str | None:
    """Why a person has to agree before this tool runs; None if it may run.

    Only the user's own list of canonical names lets a call run unasked. What the server says about
    its tool (annotations) is a claim of a stranger: it can make a listed tool ask again, and
    nothing that it says can spare the question.
    """
    if tool.canonical_name not in allowed:
        return "it is not on your list of allowed tools"
    notes = tool.definition.get("annotations")
    if isinstance(notes, dict) and notes.get("destructiveHint") not in (None, False):
        return "its server says that it may destroy something"
    return None


def question(tool: MergedTool, arguments: Message, why: str) -> str:
    """What to ask the user: server, tool and all arguments, in ASCII so that nothing in them can hide or redraw."""
    asked = json.dumps(arguments, indent=2)
    return f"Call {tool.local_name!a} of server {tool.server_name!a}? ({why})\n{asked}"


# --- one call ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What became of a call, and how a transcript says it."""

    shown: Shown
    told: str


def make_call(
    call: Call,
    host: Tools,
    format: Format,
    allowed: Collection[str],
    confirm: Confirm | None,
    limit: int,
    word: Callable[[], str],
) -> Outcome:
    """Run one call, if it can be made and may be made. What goes wrong comes back as an error."""
    tool = call.tool
    if tool is None or call.problem:
        return Outcome(Shown(call.problem, is_error=True), f"not made: {call.problem}")
    why = ask_first(tool, allowed)
    if why is not None and (confirm is None or not confirm(tool, call.arguments, why)):
        text = "The user did not agree to this call; nothing was called. Do not repeat it: ask what to do instead."
        return Outcome(Shown(text, is_error=True), f"refused ({why}); {tool.server_name} was not called")
    try:
        result = host.call(tool.canonical_name, call.arguments)
    except HarnessError as error:  # its text may hold a server's words, so it is marked as well
        text = cap(str(error), limit).text
        return Outcome(Shown(mark(text, tool.model_name, word), is_error=True), f"failed: {error}")
    shown = show(result, tool.model_name, format.media, limit, word)
    told = f"{tool.server_name} as {tool.local_name!r}: {'error, ' if shown.is_error else ''}{shown.size} bytes"
    return Outcome(shown, told + (f", {shown.cut} of them cut" if shown.cut else ""))


# --- the loop ----------------------------------------------------------------------------


@dataclass
class Talk:
    """A conversation: all messages in the provider's shape, what the model said last, what happened line by line."""

    messages: list[Message] = field(default_factory=list)
    text: str = ""
    transcript: list[str] = field(default_factory=list)
    stopped: bool = False  # true if the limit of turns ended it
    definition_tokens: int = 0  # estimated, summed over all turns: definitions are sent again each time

    def tell(self, line: str) -> None:
        """Add a line to the transcript."""
        self.transcript.append(line)


def converse(
    model: Model,
    host: Tools,
    text: str,
    *,
    format: Format = OPENAI,
    allowed: Collection[str] = (),
    confirm: Confirm | None = None,
    most_tools: int | None = None,
    pinned: Collection[str] = (),
    limit: int = RESULT_BYTES,
    most_turns: int = MOST_TURNS,
    messages: Sequence[Message] = (),
    word: Callable[[], str] = new_word,
) -> Talk:
    """Let a model answer the user's text with the host's tools.

    `allowed` are canonical names that run without a question; every other call goes to `confirm`,
    and without one it is refused. With `most_tools`, the model is shown so many, chosen for the
    text; `pinned` ones and those already called stay. `limit` is the bytes of text of one result.
    `messages` is an earlier conversation. Only the model's own failures raise.
    """
    talk = Talk([*messages, format.user(text)])
    talk.tell(f"user: {brief(text)}")
    used = set(pinned)
    for _ in range(most_turns):
        table = host.tools()  # again on each turn: servers come, go and change their lists
        tools = list(table.values())
        if most_tools is not None and most_tools < len(tools):
            tools = Index(tools).choose(text, max(most_tools, len(used & table.keys())), used)
        definitions = format.definitions(tools)
        cost = estimate_tokens(definitions)
        talk.definition_tokens += cost
        talk.tell(f"offered: {len(tools)} of {len(table)} tools, about {cost} tokens")
        response = model(Request(list(talk.messages), definitions))
        talk.text = format.text(response)
        talk.messages += sendable(format.history(response))
        if talk.text:
            talk.tell(f"model: {brief(talk.text)}")
        calls = read_calls(format, response, tools)
        if not calls:
            return talk
        answers = []
        for call in calls:
            talk.tell(f"model calls {brief(call.raw.name)} {brief(as_written(call.raw))}")
            outcome = make_call(call, host, format, allowed, confirm, limit, word)
            talk.tell(f"  → {brief(outcome.told)}")
            answers.append(Answer(call.raw, outcome.shown))
            if call.tool is not None:
                used.add(call.tool.canonical_name)
        talk.messages += format.results(answers)
    talk.stopped = True
    talk.tell(f"stopped: {most_turns} turns without an end")
    return talk


def as_written(raw: RawCall) -> str:
    """The arguments as a text."""
    return raw.arguments if isinstance(raw.arguments, str) else json.dumps(raw.arguments, ensure_ascii=False)


def brief(text: str) -> str:
    """The text on one line, cut to what a transcript bears."""
    line = " ".join(text.split())
    return line if len(line) <= BRIEF else line[: BRIEF - 1] + "…"


# --- a model without a model -------------------------------------------------------------


class Script:
    """A model that says what it was told to, in a provider's shape: no key, no network, the same every time.

    Each turn is a text, or a list of calls (model name, arguments); broken arguments are a text.
    `requests` keeps what it was sent.
    """

    def __init__(self, format: Format, turns: Sequence[str | Sequence[tuple[str, Any]]]) -> None:
        self.format, self.turns, self.requests = format, list(turns), list[Request]()

    def __call__(self, request: Request) -> Message:
        turn = self.turns[len(self.requests)]
        self.requests.append(request)
        if isinstance(turn, str):
            return self.format.reply(turn, [])
        ids = [f"call_{len(self.requests)}_{number}" for number in range(1, len(turn) + 1)]
        return self.format.reply("", [RawCall(one, *call) for one, call in zip(ids, turn, strict=True)])
