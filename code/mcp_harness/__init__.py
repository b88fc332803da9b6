"""An MCP client for many servers over stdio. Standard library only.

    from mcp_harness import Host, load_config

    with Host(load_config("servers.json")) as host:
        print(list(host.tools()))
        print(host.call("files/search", {"query": "plan"}).text)

Where a change belongs:

    config.py      what to start                  member.py     one server through its lives
    transport.py   processes, shutdown            restart.py    when to start again
    pipes.py       writing to a full pipe         clock.py      time, real and fake
    wire.py        bytes ↔ messages               host.py       many servers
    pending.py     requests that wait             events.py     what the program is told
    session.py     one conversation               namespace.py  names, policies, routing
    eras.py        protocol revisions             trie.py       browsing names
    probe.py       which one a server speaks      tools.py      definitions and results
    callbacks.py   the server's questions         listing.py    all pages of tools/list
    rounds.py      a call that comes back         listening.py  hearing of changes
    refreshing.py  when to list again             __main__.py   the command line
    errors.py      all exceptions                 harness.py    servers in one call
    trace.py       a transcript of the wire       carries.py    a message in a few words
    masking.py     what it does not show          lanes.py      and as a diagram
    model.py       a model's calls, the loop      formats.py    shapes of the providers
    definitions.py fit for every provider         results.py    results for a model
    selection.py   which tools a model sees       acceptance.py a harness, examined
    repl.py        a conversation with servers    terminal.py   and its lines in a terminal
    routing.py     which server, which result     sdk_host.py   the host on the official SDK
    intake.py      reading from a pipe, by turns  latch.py      waiting, whatever Ctrl-C does
"""

from .callbacks import Handler
from .clock import Clock, FakeClock, SystemClock
from .config import ServerConfig, load_config
from .errors import (
    AmbiguousTool,
    ArgumentsError,
    BadReply,
    ConfigError,
    HandlerFailed,
    HandshakeError,
    HarnessError,
    HostClosed,
    RequestTimeout,
    RpcError,
    ServerDied,
    ServerError,
    SpawnError,
    UnknownServer,
    UnknownTool,
    UsageError,
)
from .events import Event, ServerStatus
from .host import Host
from .namespace import Collision, MergedTool, Policy, model_name
from .tools import ToolResult

__all__ = [
    "AmbiguousTool",
    "ArgumentsError",
    "BadReply",
    "Clock",
    "Collision",
    "ConfigError",
    "Event",
    "FakeClock",
    "Handler",
    "HandlerFailed",
    "HandshakeError",
    "HarnessError",
    "Host",
    "HostClosed",
    "MergedTool",
    "Policy",
    "RequestTimeout",
    "RpcError",
    "ServerConfig",
    "ServerDied",
    "ServerError",
    "ServerStatus",
    "SpawnError",
    "SystemClock",
    "ToolResult",
    "UnknownServer",
    "UnknownTool",
    "UsageError",
    "load_config",
    "model_name",
]
