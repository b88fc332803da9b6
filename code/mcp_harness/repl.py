"""A conversation with your servers: list tools, call them, kill a server and see what happens.

    python -m mcp_harness repl servers.json
    python -m mcp_harness repl -- npx -y @modelcontextprotocol/server-everything
    printf 'tools\\ncall search {"query": "plan"}\\n' | python -m mcp_harness repl servers.json

In a terminal it completes names and keeps a history (prompt_toolkit, if it is installed). Through a
pipe it reads plain lines. Guarantees: Ctrl-C gives up the line or the call, Ctrl-D quits, and
whatever way it ends, no server is left. A command that fails costs a sentence, never the session.

What it leaves out: a model. You are the model here.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

from .config import ServerConfig
from .errors import HarnessError, UnknownServer
from .events import Event, ServerStatus
from .harness import read_policy, summary_line
from .host import Host
from .latch import Latch
from .namespace import MergedTool, Policy
from .trace import Recorder

PROMPT = "mcp> "
NOTICED_WITHIN = 3.0  # seconds for a killed server's end to be seen
HISTORY = "mcp_harness_history"
SHOWN_ROWS = 20  # of a trace, unless a number is given
CAUGHT_UP = "caught-up"  # an event of our own: when it is heard, all before it were heard
SAID = ("collision", "died", "failed", "notice", "recovered", "restarting", "tool_set_aside", "tools_changed")


class Reader(Protocol):
    """Where the lines come from. `EOFError` is the end, `KeyboardInterrupt` a line given up."""

    def line(self, prompt: str) -> str:
        """The next command."""
        ...

    def answer(self, prompt: str, choices: Sequence[str]) -> str:
        """The answer to a question; `choices` are offered for completion."""
        ...


class GiveUp(Exception):
    """A command that cannot be carried out; the text is the sentence."""


class Repl:
    """The commands, apart from where lines come from and where text goes."""

    def __init__(
        self, configs: Sequence[ServerConfig], policy: Policy, reader: Reader, out: TextIO, timeout: float | None = None
    ) -> None:
        self.configs, self.policy, self.reader, self.out, self.timeout = configs, policy, reader, out, timeout
        self.recorder = Recorder()
        self.host: Host
        self.at_once = False  # in a terminal news are shown when they come, in a pipe before the next command
        self._news: list[str] = []
        self._asked_for = ""  # the server that the user restarts; that it is back is said by the command
        self.commands: dict[str, tuple[Callable[[str], None], str, str]] = {
            "tools": (self.tools, "[PREFIX]", "the tools, by server; or those whose names begin so"),
            "describe": (self.describe, "TOOL", "what a tool does, and its arguments"),
            "call": (self.call, "TOOL [JSON]", "call a tool; without JSON you are asked for each argument"),
            "status": (self.status, "", "how each server is, and why"),
            "trace": (self.trace, "[ROWS]", "what passed on the wire"),
            "kill": (self.kill, "SERVER", "kill a server's process, to see what happens"),
            "restart": (self.restart, "SERVER", "end a server and start it again"),
            "policy": (self.show_policy, "[POLICY]", "how collisions are decided; another one starts the servers anew"),
            "help": (self.help, "", "this list"),
            "quit": (self.quit, "", "end all servers and leave (Ctrl-D does the same)"),
        }

    # --- the loop ------------------------------------------------------------------------------

    def run(self) -> int:
        """Until `quit` or the end of the input; another policy opens another host."""
        if self.at_once:
            self.say("`help` lists the commands, Ctrl-D ends the session.")
        again = True
        while again:
            again = self._one_host()
        return 0

    def _one_host(self) -> bool:
        """True if the servers are to be started once more, under another policy."""
        policy, self.recorder = self.policy, Recorder()
        host = Host(self.configs, policy=policy, on_event=self.hear)
        with self.recorder.attach(host) as self.host:
            self.host.tools()
            self.say(summary_line(self.host.status(), len(self.host.tools())))
            self.tell_news()
            while self.policy is policy:
                try:
                    line = self.reader.line(PROMPT)
                except EOFError:
                    return False
                except KeyboardInterrupt:
                    continue
                if not self.obey(line):
                    return False
                self.tell_news()
        return True

    def obey(self, line: str) -> bool:
        """Carry out one line; False when it was the last."""
        word, _, rest = line.strip().partition(" ")
        if not word or word.startswith("#"):
            return True
        try:
            if word not in self.commands:
                raise GiveUp(f"there is no command {word!r}; the commands are: {', '.join(self.commands)}")
            self.commands[word][0](rest.strip())
        except (HarnessError, GiveUp) as error:
            self.say(f"error: {error}")
        except KeyboardInterrupt:
            self.say("given up")
        except EOFError:
            return False
        return True

    # --- what the user sees --------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Text that a server may have had a hand in: no colours and no cursor moves of a stranger."""
        clean = "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)
        encoding = self.out.encoding or "utf-8"
        print(clean.encode(encoding, "backslashreplace").decode(encoding), file=self.out, flush=True)

    def hear(self, event: Event) -> None:
        """An event of the host, in its own thread."""
        if event.kind == CAUGHT_UP:
            event.data["reached"].set()
        elif event.kind in SAID or self._is_back(event):
            self._news.append(as_sentence(event))
            if self.at_once:
                self.tell_news()

    def _is_back(self, event: Event) -> bool:
        """A server was restarted by itself. In a pipe `status` tells: it may be at any moment."""
        again = event.kind == "ready" and event.data["generation"] > 1
        return self.at_once and again and event.server != self._asked_for

    def _catch_up(self) -> None:
        """Wait until all events of before were heard."""
        reached = Latch()
        self.host.tell(CAUGHT_UP, "", {"reached": reached})
        reached.wait(NOTICED_WITHIN)

    def tell_news(self) -> None:
        """What happened since we looked: all of it, so that a session reads the same each time."""
        if not self.at_once:
            self._catch_up()
        while self._news:
            self.say(f"* {self._news.pop(0)}")

    # --- the commands ----------------------------------------------------------------------------

    def tools(self, rest: str) -> None:
        tools = self.host.tools()
        width = max(map(len, tools), default=0)
        for server in self.host.status():
            mine = {name: tool for name, tool in tools.items() if tool.server_name == server and name.startswith(rest)}
            if mine:
                self.say(f"{server} ({len(mine)} tool{'s' * (len(mine) != 1)})")
            for name, tool in mine.items():
                self.say(f"  {name:<{width}}  {first_line(tool.description)}".rstrip())
        if not any(name.startswith(rest) for name in tools):
            self.say(f"no tool begins with {rest!r}" if rest else "there are no tools")

    def describe(self, rest: str) -> None:
        tool = self.find(rest)
        self.say(f"{tool.canonical_name}: {tool.local_name!r} of server {tool.server_name!r}")
        self.say(f"for a model: {tool.model_name}")
        if tool.description:
            self.say(tool.description.strip())
        for parameter in parameters(tool):
            self.say(f"  {parameter.label()}{f': {parameter.about}' if parameter.about else ''}")

    def call(self, rest: str) -> None:
        name, _, given = rest.partition(" ")
        tool = self.find(name)
        arguments = read_object(given) if given.strip() else self.ask(tool)
        result = self.host.call(tool.canonical_name, arguments, timeout=self.timeout)
        for block in result.content:
            is_text = isinstance(block, dict) and block.get("type") == "text"
            self.say(str(block.get("text", "")) if is_text else shorten(json.dumps(block)))
        if result.structured is not None and not result.content:
            self.say(json.dumps(result.structured))
        if result.is_error:
            self.say(f"(the tool failed, says {result.server!r})")

    def ask(self, tool: MergedTool) -> dict[str, Any]:
        """One question for each argument; an empty answer leaves an optional one out."""
        arguments = {}
        for parameter in parameters(tool):
            while True:
                text = self.reader.answer(f"  {parameter.label()}: ", parameter.choices)
                try:
                    if text.strip() or parameter.required:
                        arguments[parameter.name] = parameter.read(text)
                    break
                except ValueError as error:
                    self.say(f"  {error}")
        return arguments

    def status(self, rest: str) -> None:
        rows = [("server", "state", "revision", "tools", "restarts", "reason")]
        for one in self.host.status().values():
            reason = first_line(one.reason or "")
            rows.append((one.name, one.state, one.era or "-", str(one.tools), str(one.restarts), reason))
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        for row in rows:
            self.say("  ".join([*map(str.ljust, row, widths), row[5]]).rstrip())

    def trace(self, rest: str) -> None:
        head, *rows = self.recorder.table().split("\n")
        if rest and not rest.isdecimal():
            raise GiveUp(f"trace takes a number of rows, not {rest!r}")
        most = int(rest or SHOWN_ROWS)
        if len(rows) > most:
            self.say(f"({len(rows) - most} rows before these; `trace {len(rows)}` shows all)")
        self.say("\n".join([head, *rows[len(rows) - min(most, len(rows)) :]]))

    def kill(self, rest: str) -> None:
        status = self.known(rest)
        pid, generation = status[rest].pid, status[rest].generation
        if status[rest].state != "ready" or pid is None:
            raise GiveUp(f"server {rest!r} has no process to kill: it is {status[rest].state}")
        os.killpg(pid, signal.SIGKILL)
        self.say(f"killed the process of {rest!r}")
        deadline = time.monotonic() + NOTICED_WITHIN
        while time.monotonic() < deadline:
            now = self.host.status()[rest]
            if now.state != "ready" or now.generation != generation:
                break
            time.sleep(0.01)
        self._let_news_come(rest, "restarting", "failed")

    def _let_news_come(self, server: str, *kinds: str) -> None:
        """Events come from another thread: wait a moment for the one that is due."""
        deadline = time.monotonic() + NOTICED_WITHIN
        said = tuple(f"{server}: {WORDS[kind]}" for kind in kinds)
        while not self.at_once and time.monotonic() < deadline:
            if any(news.startswith(said) for news in self._news):
                return
            time.sleep(0.01)

    def restart(self, rest: str) -> None:
        self.known(rest)
        self._asked_for = rest
        try:
            changed = self.host.restart(rest)
            self._catch_up()
        finally:
            self._asked_for = ""
        self.say(f"server {rest!r} is ready again" + (f"; changed: {', '.join(changed)}" if changed else ""))

    def show_policy(self, rest: str) -> None:
        if rest and read_policy(rest) is self.policy:
            self.say(f"the policy is {rest!r} already")
        elif rest:
            self.policy = read_policy(rest)
        else:
            self.say(f"{self.policy.value} (there are: {', '.join(one.value for one in Policy)})")

    def help(self, rest: str) -> None:
        for name, (_, arguments, text) in self.commands.items():
            self.say(f"{f'{name} {arguments}':<20} {text}")

    def quit(self, rest: str) -> None:
        raise EOFError

    def known(self, server: str) -> Mapping[str, ServerStatus]:
        """The status of all servers, if this one is among them; raises UnknownServer."""
        status = self.host.status()
        if not server:
            raise GiveUp("name a server; `status` lists them")
        if server not in status:
            text = f"no server {server!r} is configured; there are: {', '.join(map(repr, status))}"
            raise UnknownServer(text)
        return status

    def find(self, name: str) -> MergedTool:
        """The tool of that name; raises UnknownTool or AmbiguousTool, with what was meant."""
        if not name:
            raise GiveUp("name a tool; `tools` lists them")
        self.host.tools()
        return self.host.namespace.lookup(name)

    def completions(self, line: str) -> Iterator[str]:
        """What the last word of a line can become."""
        word, space, rest = line.lstrip().partition(" ")
        if not space:
            choices: Iterable[str] = self.commands
        elif word in ("call", "describe", "tools"):
            choices = self.host.tools()
        elif word in ("kill", "restart"):
            choices = self.host.status()
        else:
            choices = [one.value for one in Policy] if word == "policy" else []
        typed = rest if space else word
        return (choice for choice in sorted(choices) if choice.startswith(typed))


# --- Arguments, from the schema ------------------------------------------------------------------


class Parameter:
    """One property of an input schema."""

    def __init__(self, name: str, schema: Any, required: bool) -> None:
        self.name, self.required = name, required
        fields: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
        kind, enum = fields.get("type", "any"), fields.get("enum")
        self.type = kind if isinstance(kind, str) else "any"
        self.about = first_line(str(fields.get("description", "")))
        self.choices = [str(one) for one in enum] if isinstance(enum, list) else []
        if self.type == "boolean":
            self.choices = ["true", "false"]

    def label(self) -> str:
        """`path (string)`, `limit (integer, optional)`, `unit (string: km, mile)`."""
        kind = f"{self.type}: {', '.join(self.choices)}" if self.choices else self.type
        return f"{self.name} ({kind})" if self.required else f"{self.name} ({kind}, optional)"

    def read(self, text: str) -> Any:
        """The value that was typed. Raises ValueError with a sentence."""
        if self.choices and text.strip() not in self.choices:
            raise ValueError(f"one of {', '.join(self.choices)}, please")
        if self.type == "string":
            return text
        try:
            value = json.loads(text)
        except ValueError:
            if self.type == "any":  # the schema does not say, so what is no JSON is a string
                return text
            raise ValueError(f"{self.type} is asked for, as JSON: {EXAMPLES.get(self.type, 'null')}") from None
        if self.type in EXAMPLES and not fits(value, self.type):
            raise ValueError(f"{self.type} is asked for, as JSON: {EXAMPLES[self.type]}")
        return value


EXAMPLES = {"integer": "7", "number": "0.5", "boolean": "true", "array": '["a", "b"]', "object": '{"key": "value"}'}


def fits(value: Any, kind: str) -> bool:
    """Whether a value is of a type of JSON Schema."""
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    types: dict[str, tuple[type, ...]] = {"number": (int, float), "array": (list,), "object": (dict,)}
    return isinstance(value, types.get(kind, ()))


def parameters(tool: MergedTool) -> list[Parameter]:
    """The arguments of a tool, required ones first."""
    schema = tool.definition.get("inputSchema")
    fields: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    properties, required = fields.get("properties"), fields.get("required")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    must = required if isinstance(required, list) else []
    found = [Parameter(name, one, name in must) for name, one in known.items()]
    return sorted(found, key=lambda one: not one.required)


def read_object(text: str) -> dict[str, Any]:
    """The arguments of a call, typed as one JSON object."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise GiveUp(f"the arguments are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise GiveUp(f"the arguments are {shorten(text)}, but they have to be a JSON object")
    return value


# --- Words -----------------------------------------------------------------------------------------

WORDS = {
    "collision": "collision", "died": "died", "failed": "failed", "notice": "notice", "ready": "is ready again",
    "recovered": "works again", "restarting": "is restarted",
    "tool_set_aside": "a tool was set aside", "tools_changed": "its tools have changed",
}  # fmt: skip


def as_sentence(event: Event) -> str:
    """`files: died: it was killed by signal SIGKILL`."""
    return f"{event.server}: {WORDS[event.kind]}{detail(event.kind, event.data)}"


def detail(kind: str, data: Mapping[str, Any]) -> str:
    """What an event's data add to its word."""
    match kind:
        case "collision":
            return f": {data['name']!r} is already {data['owner']}'s: {data['outcome']}"
        case "restarting":
            return f" in {data['delay']:g} s"
        case "notice":
            return f": {data['message']}"
        case "tool_set_aside":
            return f": {data['tool']!r}: {data['reason']}"
        case "tools_changed":
            return ": " + "; ".join(f"{how} {', '.join(names)}" for how, names in data.items() if names)
        case "ready" | "recovered":
            return ""
    return f": {first_line(str(data['reason']))}"


def first_line(text: str) -> str:
    return shorten(text.strip().partition("\n")[0])


def shorten(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:98]} …"


# --- Where lines come from ----------------------------------------------------------------------------


class PlainReader:
    """Lines of a pipe or a file. With `echo` the output reads like a session."""

    def __init__(self, lines: TextIO, out: TextIO, echo: bool = False) -> None:
        self._lines, self._out, self._echo = lines, out, echo

    def line(self, prompt: str) -> str:
        text = self._lines.readline()
        if not text:
            raise EOFError
        if self._echo:
            print(f"{prompt}{text.rstrip()}", file=self._out, flush=True)
        return text.rstrip("\n")

    def answer(self, prompt: str, choices: Sequence[str]) -> str:
        return self.line(prompt)


class BareTerminal:
    """A terminal without prompt_toolkit: Python's own `input`."""

    def line(self, prompt: str) -> str:
        return input(prompt)

    def answer(self, prompt: str, choices: Sequence[str]) -> str:
        return input(prompt)


def history_file() -> Path | None:
    """Where the history is kept; None if there is no place for it."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / HISTORY).open("a"):
            return folder / HISTORY
    except OSError:
        return None


def run(configs: Sequence[ServerConfig], policy: Policy, timeout: float | None = None, echo: bool = False) -> int:
    """A session on stdin and stdout. Returns the exit code."""
    if not sys.stdin.isatty():
        return Repl(configs, policy, PlainReader(sys.stdin, sys.stdout, echo), sys.stdout, timeout).run()
    try:
        from prompt_toolkit.patch_stdout import patch_stdout

        from .terminal import Terminal
    except ImportError:
        print("Without prompt_toolkit there is no completion: pip install 'prompt_toolkit>=3'", file=sys.stderr)
        return Repl(configs, policy, BareTerminal(), sys.stdout, timeout).run()
    terminal = Terminal(history_file())
    with patch_stdout():  # news from another thread appear above the prompt
        repl = Repl(configs, policy, terminal, sys.stdout, timeout)
        repl.at_once = True
        terminal.completions = repl.completions
        return repl.run()
