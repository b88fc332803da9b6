"""Routing: from a name to the server that has the tool, and from its answer to a result. Nothing here waits.

Guarantees: both hosts, the one of threads (host.py) and the one on the SDK (sdk_host.py), accept and
refuse the same, in the same words. Where a name leads nowhere, the error says which servers are not
there at the moment. An answer that may mean "no such tool" is told from others.

What it leaves out: names (namespace.py), sending and waiting, and the new listing that tells whether
a tool is really gone.

Source: revision 2025-11-25, tools, "Error handling": an unknown tool is a JSON-RPC error; many servers
answer with an error result.
"""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from . import wire
from .errors import ArgumentsError, BadReply, UnknownServer, UnknownTool
from .namespace import MergedTool, Namespace
from .tools import ToolResult
from .wire import Message

NO_SUCH_TOOL = (wire.INVALID_PARAMS, wire.METHOD_NOT_FOUND)  # codes of servers for a tool that they do not have
SIGNS = ("unknown tool", "not found", "no such tool")  # words of SDK servers for the same, in an error result


class Server(Protocol):
    """What is asked of a server of a host."""

    state: str


Kind = TypeVar("Kind", bound=Server)


# --- before the call ---------------------------------------------------------------------------


def find_server(members: Mapping[str, Kind], server: str) -> Kind:
    """The server of that name. Raises UnknownServer."""
    if server not in members:
        known = ", ".join(map(repr, members)) or "none"
        raise UnknownServer(f"no server {server!r} is configured; there are: {known}")
    return members[server]


def find_tool(namespace: Namespace, name: str, members: Mapping[str, Server]) -> MergedTool:
    """The tool of that canonical name. Raises AmbiguousTool, or UnknownTool, which names absent servers."""
    try:
        return namespace.lookup(name)
    except UnknownTool as error:
        absent = [f"{server} is {member.state}" for server, member in members.items() if member.state != "ready"]
        if not absent:
            raise
        detail = f"{error.detail} (not all servers are there: {', '.join(absent)}; see host.status())"
        raise UnknownTool(name, error.suggestions, detail) from None


def read_arguments(name: str, arguments: Mapping[str, Any] | None) -> Message:
    """The arguments of a call as they are sent. Raises ArgumentsError."""
    if arguments is not None and not isinstance(arguments, Mapping):
        raise ArgumentsError(f"tool {name!r}: the arguments are {arguments!r}, but they have to be a dict")
    return dict(arguments or {})


# --- after the call ----------------------------------------------------------------------------


def read_result(tool: MergedTool, raw: Message) -> ToolResult:
    """The result of tools/call. Raises BadReply when `content` is no list."""
    content, server = raw.get("content", []), tool.server_name
    if not isinstance(content, list):
        raise BadReply(server, f"server {server!r}: the result of {tool.canonical_name!r} has no content list")
    return ToolResult(content, raw.get("structuredContent"), bool(raw.get("isError", False)), server, raw)


def says_unknown(text: str, local_name: str) -> bool:
    """True if an error result may mean that the server does not have the tool: SDK servers answer so."""
    words = text[:500].lower()
    return local_name.lower() in words and any(sign in words for sign in SIGNS)


def gone(namespace: Namespace, tool: MergedTool) -> UnknownTool:
    """The error for a tool that its server had, and has no more."""
    detail = f"server {tool.server_name!r} no longer has {tool.local_name!r}; its tools were listed again"
    return UnknownTool(tool.canonical_name, namespace.suggest(tool.canonical_name), detail)
