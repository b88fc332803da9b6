"""The command line: look at servers and call their tools, from a config file or a bare command.

    python -m mcp_harness tools  servers.json
    python -m mcp_harness call   servers.json files/search '{"query": "plan"}'
    python -m mcp_harness doctor -- python code/servers/notes.py
    python -m mcp_harness trace  servers.json files/search '{"query": "plan"}' --figure trace.svg
    python -m mcp_harness repl   servers.json

Exit codes: 0 all is well; 1 a server or a tool failed; 2 the command line or the configuration
is wrong; 130 Ctrl-C; 143 SIGTERM. In each case nothing that was started is left.

What it leaves out: a model. See the lessons for a loop with one; `repl` is a conversation with a person.
"""

import argparse
import json
import os
import signal
import sys
import textwrap
import warnings
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn, TextIO

from . import lanes
from .config import ServerConfig, load_config
from .errors import AmbiguousTool, ArgumentsError, ConfigError, HarnessError, UnknownTool, UsageError
from .events import ServerStatus
from .host import Host
from .namespace import Policy
from .trace import Recorder

OK, FAILED, MISUSED, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
BARE_NAME = "server"  # what a server given as `-- command` is called
STDERR_SHOWN = 5  # lines of stderr below the table of `doctor`

EXAMPLES = {
    "tools": "example: python -m mcp_harness tools servers.json\n"
    "         python -m mcp_harness tools -- npx -y @modelcontextprotocol/server-everything",
    "call": 'example: python -m mcp_harness call servers.json files/search \'{"query": "plan"}\'\n'
    '         python -m mcp_harness call search \'{"query": "plan"}\' -- python code/servers/notes.py',
    "doctor": "example: python -m mcp_harness doctor servers.json\n"
    "         python -m mcp_harness doctor -- python code/servers/notes.py",
    "trace": 'example: python -m mcp_harness trace servers.json files/search \'{"query": "plan"}\'\n'
    "         python -m mcp_harness trace --figure trace.svg -- python code/servers/notes.py",
    "repl": "example: python -m mcp_harness repl servers.json\n"
    "         echo status | python -m mcp_harness repl --echo servers.json",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    cut = words.index("--") if "--" in words else len(words)
    options = make_parser().parse_args(words[:cut])
    ending: list[int] = []  # the signal that has come

    def end(number: int, frame: FrameType | None) -> NoReturn:
        """Leave in the orderly way, through all `with` blocks."""
        ending.append(number)
        raise SystemExit(128 + number)

    old_handlers = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        command: Callable[[list[ServerConfig], argparse.Namespace], int] = options.command
        return command(read_servers(options, words[cut + 1 :] if cut < len(words) else None), options)
    except UsageError as error:
        return complain(error, MISUSED)
    except HarnessError as error:
        return complain(error, FAILED)
    except KeyboardInterrupt:
        return complain("interrupted; all servers were ended", INTERRUPTED)
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except RuntimeError:
        if not ending:
            raise
        return 128 + ending[0]  # it struck inside a lock of Python's, which then complains of its own state
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)


def make_parser() -> argparse.ArgumentParser:
    """The options of all commands."""
    parser = argparse.ArgumentParser(
        prog="python -m mcp_harness",
        description="Look at MCP servers over stdio, and call their tools.",
        epilog=EXAMPLES["tools"],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="tools|call|doctor|trace|repl")
    lines: dict[str, tuple[Callable[..., int], str, str, str]] = {
        "tools": (show_tools, "list the tools by server", "[CONFIG.json]", "the file with `mcpServers`"),
        "call": (call_tool, "call one tool", "[CONFIG.json] TOOL [JSON]", "file, tool, and arguments as a JSON object"),
        "doctor": (show_health, "say how each server is, and why", "[CONFIG.json]", "the file with `mcpServers`"),
        "repl": (converse, "try servers out, command by command", "[CONFIG.json]", "the file with `mcpServers`"),
        "trace": (show_trace, "show every message on the wire", "[CONFIG.json] [TOOL [JSON]]", "file, and one call"),
    }
    for name, (function, text, metavar, words_help) in lines.items():
        sub = commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}. Give a config file, or `-- COMMAND ARGS…` for one server.",
            epilog=EXAMPLES[name],
            usage=f"python -m mcp_harness {name} [options] {metavar} [-- COMMAND ARGS…]",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument("words", nargs="*", metavar="WORD", help=words_help)
        sub.add_argument("--policy", choices=[p.value for p in Policy], default="prefix", help="for taken names")
        sub.add_argument("--timeout", type=seconds, help="for a call, in seconds (default: the server's call_timeout)")
        if name == "trace":
            sub.add_argument("--figure", metavar="FILE", help="draw a lane diagram: .svg or .png (needs matplotlib)")
            sub.add_argument("--lines", metavar="FILE", help="write the messages, one JSON object a line")
            sub.add_argument("--secrets", action="store_true", help="show secrets, which are *** otherwise")
        if name == "repl":
            sub.add_argument("--echo", action="store_true", help="through a pipe: print prompt and line too")
        sub.set_defaults(command=function, name=name)
    return parser


def seconds(text: str) -> float:
    """A positive number of seconds."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("a number of seconds above 0 is needed")
    return value


def read_servers(options: argparse.Namespace, command: list[str] | None) -> list[ServerConfig]:
    """The servers of the config file, which is the first word, or the one behind `--`."""
    if command is not None:
        if not command:
            raise ConfigError("there is no command behind `--`")
        return [ServerConfig(BARE_NAME, command[0], command[1:])]
    if not options.words:
        raise ConfigError("give a config file, or a server's command behind `--`; see --help")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        configs = load_config(options.words.pop(0))
    for warning in caught:
        show(f"warning: {warning.message}", file=sys.stderr)
    if not configs:
        raise ConfigError("the configuration has no server in it")
    return configs


def open_host(configs: list[ServerConfig], options: argparse.Namespace) -> Host:
    """A host as the options say."""
    return Host(configs, policy=Policy(options.policy))


def no_more_words(options: argparse.Namespace) -> None:
    if options.words:
        raise ConfigError(f"too many words: {' '.join(options.words)}; see --help")


# --- the commands --------------------------------------------------------------------------


def show_tools(configs: list[ServerConfig], options: argparse.Namespace) -> int:
    """All tools, by server. Fails if a server did."""
    no_more_words(options)
    with open_host(configs, options) as host:
        tools, status = host.tools(), host.status()
    width = max(map(len, tools), default=0)
    for server, one in status.items():
        show(f"{server} ({one.tools} tool{'' if one.tools == 1 else 's'})")
        for name, tool in tools.items():
            if tool.server_name == server:
                summary = " ".join(tool.description.split())
                show(f"  {name:<{width}} {textwrap.shorten(summary, 90, placeholder=' …')}".rstrip())
    return report_failures(status)


def call_tool(configs: list[ServerConfig], options: argparse.Namespace) -> int:
    """Call one tool and print its text. Fails if the tool did."""
    if not options.words:
        raise ConfigError("name a tool to call; `tools` lists them")
    name, *rest = options.words
    arguments = read_arguments(rest)
    with open_host(configs, options) as host:
        try:
            result = host.call(name, arguments, timeout=options.timeout)
        except (UnknownTool, AmbiguousTool) as error:
            failed = report_failures(host.status())
            return complain(error, failed or MISUSED)
    for block in result.content:
        kind = block.get("type") if isinstance(block, dict) else None
        text = str(block["text"]) if kind == "text" and "text" in block else json.dumps(block)
        show(text, exact=not sys.stdout.isatty())
    if result.structured is not None and not result.content:
        show(json.dumps(result.structured))
    return complain(f"the tool {name!r} of {result.server!r} failed (see its text)", FAILED) if result.is_error else OK


def show_trace(configs: list[ServerConfig], options: argparse.Namespace) -> int:
    """Start, list, perhaps call, end; then the whole transcript. Fails if a server or the tool did."""
    name, arguments = (options.words[0], read_arguments(options.words[1:])) if options.words else (None, {})
    recorder, code = Recorder(), OK
    try:
        with recorder.attach(open_host(configs, options)) as host:
            status = host.status()
            if name is not None and host.call(name, arguments, timeout=options.timeout).is_error:
                code = complain(f"the tool {name!r} failed (see its result)", FAILED)
            code = report_failures(status) or code
    finally:  # what went wrong is seen in the transcript
        show_transcript(recorder, options)
    return code


def show_transcript(recorder: Recorder, options: argparse.Namespace) -> None:
    """Servers and table on stdout; figure and lines into files, if they were asked for."""
    show(f"{recorder.servers(options.secrets)}\n\n{recorder.table(options.secrets)}")
    try:
        if options.lines:
            with open(options.lines, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in recorder.lines(options.secrets))
        if options.figure:
            lanes.draw(recorder.lanes(options.secrets)).savefig(options.figure, dpi=200)
    except ImportError as error:
        raise ConfigError(f"--figure needs matplotlib ({error}): pip install matplotlib") from error
    except (OSError, ValueError) as error:  # ValueError: matplotlib knows no such format
        raise ConfigError(f"cannot write: {error}") from error


def converse(configs: list[ServerConfig], options: argparse.Namespace) -> int:
    """Commands from a terminal or a pipe, until they end."""
    from . import repl

    no_more_words(options)
    return repl.run(configs, Policy(options.policy), options.timeout, options.echo)


def read_arguments(words: list[str]) -> dict[str, Any]:
    """The arguments of a call: nothing, or one JSON object."""
    if len(words) > 1:
        raise ConfigError(f"too many words: {' '.join(words[1:])}; put the arguments into one JSON object, in quotes")
    try:
        arguments = json.loads(words[0]) if words else {}
    except ValueError as error:
        raise ArgumentsError(f"the arguments are not JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise ArgumentsError(f"the arguments are {words[0]}, but they have to be a JSON object")
    return arguments


def show_health(configs: list[ServerConfig], options: argparse.Namespace) -> int:
    """A table of all servers, and below it what they wrote to stderr. Fails if a server did."""
    no_more_words(options)
    with open_host(configs, options) as host:
        status = host.status()
    rows = [("server", "state", "era", "tools", "pid", "reason")]
    rows += [
        (s.name, s.state, s.era or "-", str(s.tools), str(s.pid or "-"), (s.reason or "").partition("\n")[0])
        for s in status.values()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        show("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[5]]).rstrip())
    for one in status.values():
        details = (one.reason or "").split("\n")[1:] if one.state != "ready" else []
        shown = any("stderr:" in line for line in details)
        details += [] if shown else [f"  stderr: {line}" for line in one.stderr_tail[-STDERR_SHOWN:]]
        if details:
            show("\n".join([f"\n{one.name}:", *details]))
    return OK if all(one.state == "ready" for one in status.values()) else FAILED


def report_failures(status: dict[str, ServerStatus]) -> int:
    """Name the servers that are not ready, on stderr."""
    failed = [one for one in status.values() if one.state != "ready"]
    for one in failed:
        show(f"{one.state}: {one.reason}", file=sys.stderr)
    return FAILED if failed else OK


def complain(what: object, code: int) -> int:
    """Say it on stderr; the exit code is handed through."""
    show(f"mcp_harness: {what}", file=sys.stderr)
    return code


def show(text: str, file: TextIO | None = None, exact: bool = False) -> None:
    """Print a line that a server may have had a hand in: no colours and no cursor moves of a stranger.

    `exact` leaves the text as it is, for a file or a pipe. What the encoding of the output
    cannot carry is escaped, never an error.
    """
    out = file or sys.stdout
    if not exact:
        text = "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)
    encoding = out.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=out)


if __name__ == "__main__":
    sys.exit(main())
