"""An MCP client for many servers, simulated in one process.

Three servers live here as plain functions: a JSON-RPC request goes in as a dict, the
reply comes out as a dict, and a notification gives None. Around them stands the part of
a host that this course is about: one session for each server, one merged list of tools,
one table that says where each call goes.

What it leaves out: processes, pipes, threads, time. A dead server is a flag that somebody
flips by hand. Lesson 2 replaces a stub by a real process.

Protocol revision: 2025-11-25. Run it with `python code/main.py`; nothing to install.
"""

import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

COURSE = "mcp-client-course/build-an-mcp-client"  # written by `grader build` from course.toml
PROTOCOL_VERSION = "2025-11-25"
SERVER_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602  # error codes of JSON-RPC 2.0

Message = dict[str, Any]
Server = Callable[[Message], Message | None]


# --- Three servers ---------------------------------------------------------------------


def tool(name: str, description: str, *arguments: str) -> Message:
    """A tool definition as `tools/list` carries it; every argument is a required string."""
    properties = {argument: {"type": "string"} for argument in arguments}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"name": name, "description": description, "inputSchema": schema}


def text_result(text: str, is_error: bool = False) -> Message:
    """The result of `tools/call` with one block of text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def make_server(name: str, capabilities: Message, *functions: Callable[..., str]) -> Server:
    """A server as a function. Each tool is a function: its name, its docstring and its arguments define the tool."""
    table = {function.__name__: function for function in functions}
    arguments = {key: list(inspect.signature(function).parameters) for key, function in table.items()}
    definitions = [tool(key, table[key].__doc__ or "", *arguments[key]) for key in table]

    def call_tool(local_name: str, given: Message) -> Message:
        missing = [argument for argument in arguments[local_name] if argument not in given]
        if missing:  # the model can mend this itself, so it is a tool error, not a protocol error
            return text_result(f"missing argument: {', '.join(missing)}", is_error=True)
        try:
            return text_result(table[local_name](**given))
        except Exception as error:
            return text_result(f"{type(error).__name__}: {error}", is_error=True)

    def serve(request: Message) -> Message | None:
        method, params = request.get("method"), request.get("params", {})
        if "id" not in request:
            return None  # a notification is never answered
        reply: Message = {"jsonrpc": "2.0", "id": request["id"]}
        result: Message = {}  # all that ping asks for
        if method == "initialize":
            info = {"name": f"{name}-server", "version": "1.0.0"}
            result = {"protocolVersion": PROTOCOL_VERSION, "capabilities": capabilities, "serverInfo": info}
        elif method == "tools/list":
            result = {"tools": definitions}
        elif method == "tools/call" and params.get("name") in table:
            result = call_tool(params["name"], params.get("arguments", {}))
        elif method == "tools/call":
            return {**reply, "error": {"code": INVALID_PARAMS, "message": f"Unknown tool: {params.get('name')}"}}
        elif method != "ping":  # also `server/discover`, which only the revision of 2026-07-28 knows
            return {**reply, "error": {"code": METHOD_NOT_FOUND, "message": f"Method not found: {method}"}}
        return {**reply, "result": result}

    return serve


def make_notes_server() -> Server:
    """A notes server with a memory of its own: a new one has lost the notes of the old one."""
    notes = {"groceries": "milk, bread", "plan": "write an MCP client"}

    def search(query: str) -> str:
        "Search your notes."
        return ", ".join(title for title, text in notes.items() if query in title + text) or "no note found"

    def create(title: str, text: str) -> str:
        "Create a note."
        notes[title] = text
        return f"created note {title!r}"

    return make_server("notes", {"tools": {"listChanged": True}}, search, create)


def make_files_server() -> Server:
    """A read-only file server: it has no memory, so a restart loses nothing."""
    files = {"README.md": "An MCP client course.", "plan.txt": "1. merge 2. route"}

    def read(path: str) -> str:
        "Read a file."
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]

    def search(query: str) -> str:
        "Search in files."
        return ", ".join(path for path, text in files.items() if query in path + text) or "no file found"

    return make_server("files", {"tools": {}}, read, search)


def make_github_server() -> Server:
    """A code host with issues; opening a pull request changes the world outside."""
    issues = {1: "Names collide", 2: "Server hangs at start"}

    def list_issues() -> str:
        "List the open issues."
        return "; ".join(f"#{number} {title}" for number, title in issues.items())

    def open_pr(title: str) -> str:
        "Open a pull request."
        return f"opened pull request {title!r}"

    def search(query: str) -> str:
        "Search issues."
        return "; ".join(f"#{n} {title}" for n, title in issues.items() if query in title) or "no issue found"

    return make_server("github", {"tools": {"listChanged": False}}, list_issues, open_pr, search)


notes_server, files_server, github_server = make_notes_server(), make_files_server(), make_github_server()


# --- One session for each server -------------------------------------------------------


@dataclass
class Session:
    """One client's connection to one server: what the host knows about it."""

    name: str  # from the host's configuration, never the name that the server gives itself
    server_fn: Server
    capabilities: Message
    tools: list[Message]  # the raw list, as the server sent it
    alive: bool = True


request_ids = itertools.count(1)  # a reply carries the id of its request


def request(server_fn: Server, method: str, params: Message) -> Message:
    """Send one request and return its result; a JSON-RPC error raises RuntimeError."""
    reply = server_fn({"jsonrpc": "2.0", "id": next(request_ids), "method": method, "params": params})
    if reply is None or not ("result" in reply or "error" in reply):
        raise RuntimeError(f"gave no reply to {method}")
    if "error" in reply:
        raise RuntimeError(f"answered error {reply['error']['code']}: {reply['error']['message']}")
    result: Message = reply["result"]
    return result


def list_tools(server_fn: Server) -> list[Message]:
    """All pages of `tools/list`. The list ends where `nextCursor` is absent; an empty one is a cursor too."""
    result = request(server_fn, "tools/list", {})
    tools = list(result["tools"])
    while result.get("nextCursor") is not None:
        result = request(server_fn, "tools/list", {"cursor": result["nextCursor"]})
        tools += result["tools"]
    return tools


def connect(name: str, server_fn: Server) -> Session:
    """The handshake of 2025-11-25: initialize, its result, `notifications/initialized`; then the tools."""
    client = {"name": "simulation", "version": "1.0.0"}
    params: Message = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}
    result = request(server_fn, "initialize", params)
    server_fn({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return Session(name, server_fn, result["capabilities"], list_tools(server_fn))


def connect_all(servers: Mapping[str, Server] | Iterable[tuple[str, Server]]) -> dict[str, Session]:
    """Connect each server, in order. Takes a dict, or pairs of name and server.

    Raises ValueError for a name that is used twice or is not 1 to 32 of `A-Za-z0-9_-`.
    """
    sessions: dict[str, Session] = {}
    for name, server_fn in servers.items() if isinstance(servers, Mapping) else servers:
        if not isinstance(name, str) or not SERVER_NAME.fullmatch(name):
            raise ValueError(f"server name {name!r}: use 1 to 32 letters, digits, '_' or '-'")
        if name in sessions:
            raise ValueError(f"server name {name!r} is used twice: give each server a name of its own")
        sessions[name] = connect(name, server_fn)
    return sessions


# --- One namespace for all tools -------------------------------------------------------


class Policy(Enum):
    """What to do with a tool whose name is already taken."""

    PREFIX = "prefix"  # the first server keeps the bare name, a later one becomes <server>/<name>
    REJECT = "reject"  # the later tool is skipped


@dataclass(frozen=True)
class MergedTool:
    """One entry of the dispatch table: the name we show, and where the call really goes."""

    canonical_name: str
    server_name: str
    local_name: str  # the only name that the server itself knows
    description: str


@dataclass(frozen=True)
class Collision:
    """A name that was wanted twice, who had it, who came later, and what became of the later tool."""

    name: str
    owner: str
    server: str
    outcome: str


def merge(
    sessions: Mapping[str, Session], policy: Policy = Policy.PREFIX, report: Callable[[Collision], object] | None = None
) -> dict[str, MergedTool]:
    """Merge the tools of all sessions into one dispatch table, canonical name → MergedTool.

    Nothing is overwritten: each collision is decided by the policy and given to `report`.
    Raises ValueError if `policy` is not a member of Policy.
    """
    if not isinstance(policy, Policy):
        members = ", ".join(str(member) for member in Policy)
        raise ValueError(f"unknown policy {policy!r}: use one of {members}")
    tell = report or (lambda collision: None)
    registry: dict[str, MergedTool] = {}
    for session in sessions.values():
        seen: set[str] = set()
        for definition in session.tools:
            local = definition["name"]
            if local in seen:
                tell(Collision(local, session.name, session.name, "skipped: the server lists it twice"))
                continue
            seen.add(local)
            canonical = local
            if local in registry and policy is Policy.REJECT:
                tell(Collision(local, registry[local].server_name, session.name, "skipped"))
                continue
            if local in registry:
                canonical = mint_name(registry, session.name, local, tell)
                tell(Collision(local, registry[local].server_name, session.name, f"renamed to {canonical}"))
            registry[canonical] = MergedTool(canonical, session.name, local, definition.get("description", ""))
    return registry


def mint_name(registry: Mapping[str, MergedTool], server: str, local: str, tell: Callable[[Collision], object]) -> str:
    """`<server>/<local>`, or with /2, /3 … behind it where a server has a tool of that very name."""
    wanted = canonical = f"{server}/{local}"
    for number in itertools.count(2):
        if canonical not in registry:
            break
        canonical = f"{wanted}/{number}"
    if canonical != wanted:
        tell(Collision(wanted, registry[wanted].server_name, server, f"renamed to {canonical}"))
    return canonical


# --- One way to call -------------------------------------------------------------------


def call(
    registry: Mapping[str, MergedTool], sessions: Mapping[str, Session], name: str, arguments: Message | None = None
) -> Message:
    """Route one call by the dispatch table; whatever goes wrong comes back as an error result.

    The server gets its own local name: it has never heard of the canonical one.
    """
    entry = registry.get(name)
    if entry is None:
        return text_result(f"no server offers the tool {name!r}; there are: {', '.join(registry)}", is_error=True)
    session = sessions.get(entry.server_name)
    if session is None or not session.alive:
        return text_result(f"server {entry.server_name!r} is dead: {name!r} was not called", is_error=True)
    try:
        result = request(session.server_fn, "tools/call", {"name": entry.local_name, "arguments": arguments or {}})
        return {"isError": False, **result}
    except Exception as error:
        reason = str(error) if isinstance(error, RuntimeError) else f"raised {type(error).__name__}: {error}"
        return text_result(f"server {entry.server_name!r} {reason}", is_error=True)


# --- The demonstration -----------------------------------------------------------------


def show_call(registry: Mapping[str, MergedTool], sessions: Mapping[str, Session], name: str, **arguments: str) -> None:
    """Print where a call goes and what comes back."""
    entry, result = registry.get(name), call(registry, sessions, name, arguments)
    where = f"{entry.server_name} as {entry.local_name!r}" if entry else "nobody"
    print(f"  {name:<13} → {where:<19} {'ERROR ' if result['isError'] else ''}{result['content'][0]['text']}")


def demo() -> None:
    """Five acts: connect, discover, merge, route, and a call to a dead session."""
    sessions = connect_all({"notes": notes_server, "files": files_server, "github": github_server})
    print("Act 1. Three servers, three sessions: initialize")
    for session in sessions.values():
        print(f"  {session.name:<7} protocol {PROTOCOL_VERSION}, capabilities {session.capabilities}")
    print("Act 2. Discovery: tools/list")
    for session in sessions.values():
        print(f"  {session.name:<7} {', '.join(definition['name'] for definition in session.tools)}")
    print("Act 3. One namespace: merge")
    for policy in Policy:
        collisions: list[Collision] = []
        registry = merge(sessions, policy, collisions.append)
        print(f"  {policy.name}: {len(registry)} tools: {', '.join(registry)}")
        for hit in collisions:
            print(f"    {hit.name!r} of {hit.server} is already {hit.owner}'s: {hit.outcome}")
    registry = merge(sessions)
    print("Act 4. Routing: one table says where each call goes")
    show_call(registry, sessions, "search", query="plan")
    show_call(registry, sessions, "files/search", query="plan")
    show_call(registry, sessions, "github/search", query="Server")
    show_call(registry, sessions, "create", title="today", text="lesson 1")
    show_call(registry, sessions, "delete")
    print("Act 5. The notes server dies")
    sessions["notes"].alive = False
    show_call(registry, sessions, "search", query="plan")
    show_call(registry, sessions, "read", path="plan.txt")


if __name__ == "__main__":
    demo()
