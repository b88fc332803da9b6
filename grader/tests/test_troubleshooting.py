"""Each heading of troubleshooting.md is the exact text of an error, and each is made here."""

import contextlib
import gc
import io
import json
import logging
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future
from pathlib import Path
from unittest import mock

import main
import pytest
from mcp_harness import ServerConfig
from mcp_harness.harness import Harness, refusal
from steps import step01_namespace as step01
from steps import step02_subprocess as step02
from steps import step03_reader_thread as step03
from steps import step04_restart as step04
from steps import step07_model_loop as step07
from steps import step09_stateless as step09

from grader.checks import CheckFailed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "lessons" / "troubleshooting.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### `(.+)`$", PAGE, re.MULTILINE)
SERVERS = {"notes": main.make_notes_server, "files": main.make_files_server, "github": main.make_github_server}


def said(error: Exception) -> str:
    """The last line of a traceback."""
    return f"{type(error).__name__}: {error}"


def raised(function, *arguments) -> str:
    """What Python says about the exception that this call must raise."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the text is compared
        function(*arguments)
    return said(caught.value)


def sessions():
    """The three servers of the course, connected."""
    return main.connect_all({name: make() for name, make in SERVERS.items()})


def called(name, arguments, dead=None) -> str:
    """The text of the error result of one call."""
    connected = sessions()
    if dead:
        connected[dead].alive = False
    result = main.call(main.merge(connected), connected, name, arguments)
    assert result["isError"]
    return result["content"][0]["text"]


def fresh_python(code: str, **files: str) -> list[str]:
    """What a Python without packages, network and git writes, in a folder that holds only these modules."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, f"{name}.py").write_text(text, encoding="utf-8")
        command = [sys.executable, "-S", "-E", "-c", code]
        run = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={"PATH": folder}, check=False)
    return (run.stdout + run.stderr).strip().splitlines()


def cell_source(notebook: str, cell_id: str) -> str:
    """The source of one cell of a generated notebook."""
    cells = json.loads((ROOT / notebook).read_text(encoding="utf-8"))["cells"]
    return "".join(next(cell["source"] for cell in cells if cell["id"] == cell_id))


def setup() -> str:
    """The setup cell of lesson 1."""
    return cell_source("notebooks/01_namespace.ipynb", "setup")


def small_merge(names: dict[str, list[str]]) -> object:
    """The merge that task 1 asks for, from the solved notebook."""
    space = {"main": main}
    exec(cell_source("solutions/01_namespace/01_namespace.ipynb", "task1"), space)
    servers = {
        name: main.Session(name, SERVERS[name](), {}, [main.tool(tool, "") for tool in tools])
        for name, tools in names.items()
    }
    return space["merge_prefix"](servers)


def stub() -> None:
    """An unsolved task, called."""
    space = {"main": main}
    exec(cell_source("exercises/01_namespace/01_namespace.ipynb", "task3"), space)
    space["call"]({}, {}, "search", {})


def send_canonical_name() -> None:
    """The mistake that the lesson shows: a server gets a name that only the host knows."""
    main.request(sessions()["files"].server_fn, "tools/call", {"name": "files/search", "arguments": {}})


def asked_back(**handlers) -> str:
    """The text of the error result when the server `asker` needs our model."""
    from steps.step06_callbacks import Connection

    command = [sys.executable, str(Path(main.__file__).parent / "servers" / "asker.py")]
    with Connection(
        "asker", command, {f"sampling/{name}": handler for name, handler in handlers.items()}
    ) as connection:
        result = connection.request("tools/call", {"name": "summarize", "arguments": {"text": "a page"}})
    assert result["isError"]
    return result["content"][0]["text"]


def changed_state() -> None:
    """A call of 2026-07-28 whose state was trimmed on its way."""
    from servers.asker import make_stateless_asker
    from servers.stateless import META

    meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {"sampling": {}}}
    params = {"name": "summarize", "arguments": {"text": "a page"}, "_meta": meta}
    state = main.request(make_stateless_asker(), "tools/call", params)["requestState"]
    main.request(make_stateless_asker(), "tools/call", params | {"requestState": state.replace("=", "")})


def newer(request) -> None:
    """One request to a server of revision 2026-07-28; a class is a connection that begins as it does."""
    command = [sys.executable, str(Path(main.__file__).parent / "servers" / "notes.py"), "--era", "2026-07-28"]
    if request is step03.Connection:
        with request("notes", command):
            return
    with step09.Connection("notes", command) as connection:
        connection.meta = {step09.KEY + name: value for name, value in request.items()}
        connection.request("tools/call", {"name": "search", "arguments": {"query": "plan"}})


def unknown_session() -> str:
    """What the SDK's HTTP server says about a session that it does not know; in a process of its own, it logs much."""
    code = """if True:
        from mcp.server import MCPServer
        from starlette.testclient import TestClient

        headers = {"Mcp-Session-Id": "gone", "Accept": "application/json, text/event-stream"}
        with TestClient(MCPServer("notes").streamable_http_app(), base_url="http://127.0.0.1:8000") as client:
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            answer = client.post("/mcp", json=message, headers=headers)
            print(answer.status_code, answer.json()["error"]["message"])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def python(code: str) -> list[str]:
    """The command of a small server."""
    return [sys.executable, "-S", "-c", code]


def process_called(end) -> str:
    """The text of the error result when the process of notes has ended."""
    session = step02.connect("notes", [sys.executable, str(ROOT / "code/servers/notes.py")])
    with session.server_fn as process:
        end(process.popen)
        process.popen.wait()
        result = step01.call(step01.merge({"notes": session}), {"notes": session}, "search", {"query": "plan"})
    return result["content"][0]["text"]


def broken_pipe() -> None:
    """Write to a process that has ended."""
    with step02.spawn(python("")) as popen:
        popen.wait()
        try:
            popen.stdin.write(b"hello\n")
            popen.stdin.flush()
        finally:
            with contextlib.suppress(OSError):
                popen.stdin.close()


ANSWERS = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    info = {"name": "x", "version": "1"}
    version = {"protocolVersion": sys.argv[1], "capabilities": {"tools": {}}, "serverInfo": info}
    tools = {"tools": [{"name": "wait", "inputSchema": {"type": "object"}}]}
    result = {"initialize": version, "tools/list": tools}.get(message.get("method"))
    if message.get("method") == "tools/call" and len(sys.argv) > 2:
        os.kill(os.getpid(), 9)
    if result:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def connection(name: str, *words: str) -> step03.Connection:
    """A connection to a server that answers all but calls."""
    return step03.Connection(name, [*python(ANSWERS), *(words or (main.PROTOCOL_VERSION,))])


def connection_called(name: str, *words: str) -> str:
    """The text of the error result of a call that gets no reply."""
    with connection(name, *words) as one:
        registry = step03.merge({name: one})
        return step03.call(registry, {name: one}, "wait", {}, timeout=0.1 if not words else 10.0)["content"][0]["text"]


def start_again() -> None:
    """Start a connection that was closed."""
    with connection("notes") as one:
        pass
    one.start()


def still_running() -> None:
    """Wait for a process that waits for us."""
    with step02.spawn(python("input()")) as popen:
        try:
            popen.wait(0.05)
        finally:
            popen.stdin.close()


def filled_twice() -> None:
    """Two replies for one future."""
    future = Future()
    future.set_result("first")
    future.set_result("second")


def killed_under_supervision(server: str, tool: str, stateful: bool) -> str:
    """A supervised server is killed; then somebody calls it, while the clock stands still."""
    command = [sys.executable, str(ROOT / "code" / "servers" / f"{server}.py")]
    supervisor = step04.Supervisor(server, command, lambda: 0.0, stateful, lambda event, text: None)
    with supervisor:
        supervisor.connection.popen.kill()
        limit = time.monotonic() + 10
        while supervisor.connection.alive and time.monotonic() < limit:
            time.sleep(0.001)
        connections = {server: supervisor}
        return step03.call(step01.merge(connections), connections, tool, {})["content"][0]["text"]


NO_DESCRIPTOR_LEFT = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from steps.step03_reader_thread import Connection
resource.setrlimit(resource.RLIMIT_NOFILE, (40, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
connections = []
try:
    while True:
        connections.append(Connection("notes", [sys.executable, sys.argv[1] + "/servers/notes.py"]).start())
except OSError as error:
    print(f"{type(error).__name__}: {error}")
for connection in connections:
    connection.close()
"""


def no_descriptor_left() -> str:
    """Servers are started in a process of its own until its limit is reached."""
    command = [sys.executable, "-c", NO_DESCRIPTOR_LEFT, str(ROOT / "code")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout.strip()


def silent_at_the_start() -> None:
    """A program that reads its input and never answers."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    step03.Connection("silent", command).start(0.1)


def told_the_model(name: str, arguments: str = "{}") -> str:
    """What the host of lesson 7 answers to a model's call; the user agrees to nothing."""
    connected = sessions()
    table = step07.by_model_name(step01.merge(connected))
    wanted = {"id": "call_1", "function": {"name": name, "arguments": arguments}}
    message = step07.answer(wanted, table, connected, (), lambda entry, given: False, 1000, step07.new_word)
    return message["content"]


def sdk_server(script: str, *words: str, errlog=None):
    """What a Client of the SDK needs to start one of the course's servers."""
    from mcp import StdioServerParameters, stdio_client

    command = StdioServerParameters(command=sys.executable, args=[str(ROOT / "code" / "servers" / script), *words])
    return stdio_client(command, errlog=errlog)


def on_the_sdk(steps) -> str:
    """What Python says about the exception that these steps with the SDK raise, in a loop of their own."""
    import asyncio

    logging.getLogger("asyncio").addHandler(logging.NullHandler())  # a broken client goes on complaining
    with mock.patch.object(sys, "unraisablehook"):
        try:
            return raised(lambda: asyncio.run(asyncio.wait_for(steps(), 20)))
        finally:
            gc.collect()


async def oldest_first() -> None:
    """Two clients in one task, the older one left first."""
    from mcp import Client

    older, newer = Client(sdk_server("notes.py")), Client(sdk_server("files.py"))
    await older.__aenter__()
    await newer.__aenter__()
    await older.__aexit__(None, None, None)


async def two_tasks() -> None:
    """One task enters, another one leaves, as two cells do."""
    import asyncio

    from mcp import Client

    client = Client(sdk_server("notes.py"))
    await asyncio.create_task(client.__aenter__())
    await asyncio.create_task(client.__aexit__(None, None, None))


async def ends_at_once() -> None:
    """A server that has ended before it is asked anything."""
    from mcp import Client

    async with Client(sdk_server("faulty.py", "exits-at-once", "--text", "")):
        pass


def sdk_call(*words: str, tool: str, seconds: float = 10):
    """Steps: one call, its error caught inside the block and raised again outside of it."""

    async def steps() -> None:
        from mcp import Client, MCPError

        caught = None
        async with Client(sdk_server("faulty.py", *words)) as client:
            try:
                await client.call_tool(tool, {}, seconds)
            except MCPError as error:
                caught = error
        if caught:
            raise caught

    return steps


async def used_after_the_block() -> None:
    from mcp import Client

    async with Client(sdk_server("notes.py")) as client:
        pass
    await client.list_tools()


async def entered_again() -> None:
    from mcp import Client

    async with Client(sdk_server("notes.py")) as client:
        pass
    async with client:
        pass


async def errlog_without_a_number() -> None:
    from mcp import Client

    async with Client(sdk_server("notes.py", errlog=io.StringIO())):
        pass


async def a_loop_in_a_loop() -> None:
    import asyncio

    nothing = asyncio.sleep(0)
    try:
        asyncio.run(nothing)
    finally:
        nothing.close()


def first_page_only() -> str:
    """The hub of lesson 8 with a list of one page."""
    import asyncio

    from steps import step08_sdk_port as step08

    async def one_page(client):
        return [tool.model_dump(by_alias=True) for tool in (await client.list_tools()).tools]

    async def steps() -> str:
        command = [sys.executable, str(ROOT / "code" / "servers" / "faulty.py"), "pages", "--count", "3"]
        with mock.patch.object(step08, "list_all", one_page):
            async with step08.Hub({"faulty": command}) as hub:
                return (await hub.call("tool_2", {}))["content"][0]["text"]

    return asyncio.run(asyncio.wait_for(steps(), 20))


def without_the_sdk() -> str:
    """Import the port where no `mcp` can be found."""
    code = "import sys; sys.modules['mcp_types'] = sys.modules['mcp'] = None; import mcp_harness.sdk_host"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "code", check=False, timeout=60)
    return done.stderr.strip().splitlines()[-1]


REPRODUCED = {
    "RuntimeError: Attempted to exit a cancel scope that isn't the current tasks's current cancel scope": (
        lambda: on_the_sdk(oldest_first)
    ),
    "RuntimeError: Attempted to exit cancel scope in a different task than it was entered in": (
        lambda: on_the_sdk(two_tasks)
    ),
    "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)": lambda: on_the_sdk(ends_at_once),
    "MCPError: Connection closed": lambda: on_the_sdk(sdk_call("dies-mid-call", "--text", "", tool="wait")),
    "MCPError: Request 'tools/call' timed out": lambda: on_the_sdk(
        sdk_call("never-answers", tool="never", seconds=0.2)
    ),
    "no server offers the tool 'tool_2'": first_page_only,
    "RuntimeError: asyncio.run() cannot be called from a running event loop": lambda: on_the_sdk(a_loop_in_a_loop),
    "RuntimeError: Client must be used within an async context manager": lambda: on_the_sdk(used_after_the_block),
    "RuntimeError: Client is already entered; cannot reenter": lambda: on_the_sdk(entered_again),
    "ImportError: mcp_harness.sdk_host needs version 2.3 or newer of the official SDK: …": without_the_sdk,
    "FileNotFoundError: [Errno 2] No such file or directory: 'notes-server'": (
        lambda: raised(step02.spawn, ["notes-server"])
    ),
    "UnsupportedOperation: fileno": (
        lambda: raised(lambda: subprocess.Popen(python(""), stderr=io.StringIO()))  # as in Colab, sys.stderr is no file
    ),
    "JSONDecodeError: Expecting value: line 1 column 1 (char 0)": lambda: raised(json.loads, b"Server ready!"),
    "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 14: invalid continuation byte": (
        lambda: raised(b'{"result": "cr\xe9me"}'.decode)
    ),
    "RuntimeError: server 'old' speaks 2024-11-05 only": lambda: raised(connection("old", "2024-11-05").start),
    "RuntimeError: server 'notes' is disconnected: tools/list was not sent": (
        lambda: raised(connection("notes").request, "tools/list")
    ),
    "RuntimeError: server 'notes' is dead: make a new connection": lambda: raised(start_again),
    "BrokenPipeError: [Errno 32] Broken pipe": lambda: raised(broken_pipe),
    "server 'notes' has ended with exit code -15": lambda: process_called(subprocess.Popen.terminate),
    "server 'notes' is dead: it ended with exit code -9": (
        lambda: connection_called("notes", main.PROTOCOL_VERSION, "kill")
    ),
    "server 'slow' gave no reply to tools/call within 0.1 s": lambda: connection_called("slow"),
    "TimeoutExpired: Command …": lambda: raised(still_running),
    "InvalidStateError: FINISHED: …": lambda: raised(filled_twice),
    "ModuleNotFoundError: No module named 'main'": lambda: fresh_python("import main")[-1],
    "NameError: name 'main' is not defined": lambda: raised(exec, "main.demo()", {}),
    "The course's code could not be fetched from …": lambda: fresh_python(setup())[-1].partition("SetupFailed: ")[2],
    "Another main.py is in the way …": lambda: fresh_python(setup(), main="")[0],
    "NotImplementedError: this part is yours to write": lambda: raised(stub),
    "CheckFailed: this task is not solved yet. The sentence above says why.": (
        lambda: "".join(CheckFailed("x")._render_traceback_())
    ),
    "ValueError: server name 'my notes': use 1 to 32 letters, digits, '_' or '-'": (
        lambda: raised(main.connect_all, {"my notes": SERVERS["notes"]()})
    ),
    "ValueError: server name 'notes' is used twice: give each server a name of its own": (
        lambda: raised(main.connect_all, [("notes", SERVERS["notes"]()), ("notes", SERVERS["files"]())])
    ),
    "ValueError: unknown policy 'prefix': use one of Policy.PREFIX, Policy.REJECT": (
        lambda: raised(main.merge, sessions(), "prefix")
    ),
    "ValueError: the name 'files/search' is already taken by 'notes'": (
        lambda: raised(small_merge, {"notes": ["search", "files/search"], "files": ["search"]})
    ),
    "RuntimeError: answered error -32602: Unknown tool: files/search": lambda: raised(send_canonical_name),
    "no server offers the tool 'delete'; there are: "
    "search, create, read, files/search, list_issues, open_pr, github/search": lambda: called("delete", {}),
    "server 'notes' is dead: 'search' was not called": lambda: called("search", {"query": "plan"}, dead="notes"),
    "missing argument: query": lambda: called("search", {}),
    "RuntimeError: this client did not declare sampling": asked_back,
    "RuntimeError: the client answered sampling/createMessage with -32603: …": (
        lambda: asked_back(createMessage=lambda server, params: {}["the key of the model"])
    ),
    "RuntimeError: answered error -32602: requestState: not the one that this server gave: echo it byte for byte": (
        lambda: raised(changed_state)
    ),
    "RpcError: answered error -32601: Method not found: initialize (this server speaks 2026-07-28)": (
        lambda: raised(newer, step03.Connection)
    ),
    "RpcError: answered error -32602: Missing _meta key: io.modelcontextprotocol/clientCapabilities": (
        lambda: raised(newer, {"protocolVersion": "2026-07-28"})
    ),
    "RpcError: answered error -32022: Unsupported protocol version: 1900-01-01": (
        lambda: raised(newer, {"protocolVersion": "1900-01-01", "clientCapabilities": {}})
    ),
    "404 Session not found": unknown_session,
    "server 'files' is restarting: 'read' was not called": lambda: killed_under_supervision("files", "read", False),
    "server 'notes' is failed: 'search' was not called": lambda: killed_under_supervision("notes", "search", True),
    "OSError: [Errno 24] Too many open files": no_descriptor_left,
    "RequestTimeout: gave no reply to initialize within 0.1 s": lambda: raised(silent_at_the_start),
    "error: there is no tool 'files/search'; nothing was called": lambda: told_the_model("files/search"),
    "error: the arguments are not JSON (…": lambda: told_the_model("files__search", '{"query": "pl'),
    "error: the user did not agree; nothing was called": lambda: told_the_model("github__open_pr"),
    "UnicodeEncodeError: 'utf-8' codec can't encode character '\\ud83a' in position 0: surrogates not allowed": (
        lambda: raised("\ud83a".encode)
    ),
    "its command 'npx' is not on the allow-list": lambda: str(refusal(ServerConfig("files", "npx"), [])),
    "its command 'npx' was not found on PATH": (
        lambda: str(refusal(ServerConfig("files", "npx", env={"PATH": "/nowhere"}), ["npx"]))
    ),
    "ConfigError: unknown policy 'last-one-wins': "
    "use one of 'prefix', 'prefix-all', 'reject', 'reject-server', 'ambiguous'": (
        lambda: raised(Harness, {"mcpServers": {}}, [], "last-one-wins")
    ),
}


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_heading_is_the_exact_text_of_an_error(heading):
    assert heading in REPRODUCED, f"lessons/troubleshooting.md: reproduce the entry {heading!r} in this file"
    start, dots, _ = heading.partition("…")
    text = REPRODUCED[heading]()
    assert text.startswith(start) if dots else text == heading


def test_the_sdks_default_for_stderr_is_the_same_error_as_popens():
    assert on_the_sdk(errlog_without_a_number) == "UnsupportedOperation: fileno"


def test_every_case_here_has_its_entry():
    assert sorted(HEADINGS) == sorted(REPRODUCED)
