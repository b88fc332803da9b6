"""The Host on the official SDK (`mcp` 2.x), asynchronous, with the same surface.

    async with SdkHost(load_config("servers.json")) as host:
        print(list(host.tools()))
        print((await host.call("files/search", {"query": "plan"})).text)

Guarantees: one owner task a server, and only that task enters and leaves the SDK's contexts,
because their cancel scopes must be left by the task that entered them, the newest first. So
servers start together, end in any order, and a host opened in one notebook cell can be closed
in another. One failing server never stops the others; every wait is bounded. stderr goes into
a pipe of our own, so no stream of the program needs a descriptor (Colab has none).

What stays ours: names and routing, policies, all pages of a list, restarts, caps, reasons. What the
SDK does: framing, ids, both revisions, time limits, shutdown. What it hides: the process. There
is no pid and no exit code here, late replies are not counted, and a listing is checked as a
whole: one tool with a bad schema costs its server all its tools. tests/faults/sdk.md has the list.

The only module that imports `mcp`, and asyncio only. Event callbacks run in the event loop, in
order, and must not block it.
"""

import asyncio
import contextlib
import inspect
import itertools
import math
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self

try:
    import anyio
    import anyio.to_thread
    import mcp_types as types
    from mcp import Client, MCPError, StdioServerParameters, stdio_client
    from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
    from mcp.shared.message import SessionMessage
    from pydantic import TypeAdapter
    from pydantic_core import PydanticSerializationError
except ImportError as error:
    raise ImportError(
        "mcp_harness.sdk_host needs version 2.3 or newer of the official SDK: run `pip install 'mcp>=2.3,<3'`. "
        f"The rest of mcp_harness works without it. ({error})",
        name=error.name,
    ) from error

from .config import LONGEST_TIMEOUT, ServerConfig, check_configs
from .errors import (
    ArgumentsError,
    BadReply,
    ConfigError,
    HandshakeError,
    HarnessError,
    HostClosed,
    RequestTimeout,
    RpcError,
    ServerDied,
    SpawnError,
)
from .events import Event, ServerStatus
from .namespace import Changes, Collision, MergedTool, Namespace, Policy, names_in
from .restart import Backoff, delay_after
from .routing import NO_SUCH_TOOL, find_server, find_tool, gone, read_arguments, read_result, says_unknown
from .tools import SetAside, ToolResult, read_tools
from .transport import STDERR_BYTES, STDERR_LINES, child_environment, show_command, space_hints, spawn_message
from .wire import Message

MODERN = "2026-07-28"
MODES = {"auto": "auto", "2025-11-25": "legacy", MODERN: "auto"}  # a pinned mode would not ask what the server can do
MAX_PAGES = 1000  # of tools/list: more is a server that counts up its cursor for ever
CALL_GRACE = 0.5  # seconds beyond a call's limit: the SDK's own limit does not cover every wait inside a call
CLOSE_BOUND = 10.0  # seconds; the SDK ends a stubborn server in six
STDERR_SHOWN = 5  # lines of stderr in a reason
HIDDEN_END = "its connection ended (the SDK does not tell how)"

Handler = Callable[[str, Message], Message | Awaitable[Message]]

AnyRequest = types.Request[dict[str, Any] | None, str]  # of a method that the SDK may have no model for
AS_IT_CAME: TypeAdapter[Any] = TypeAdapter(dict[str, Any])


class SdkHost:
    """A client of many servers on the official SDK. The surface is that of `Host`, with `await`.

    Handlers `(server, params) -> dict` may be async; a plain one runs in a thread. `clock` is like
    time.monotonic and `sleep` like asyncio.sleep: they time restarts only.
    """

    def __init__(
        self,
        configs: Iterable[ServerConfig],
        *,
        policy: Policy = Policy.PREFIX,
        on_event: Callable[[Event], object] | None = None,
        sampling: Handler | None = None,
        elicitation: Handler | None = None,
        roots: Handler | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        max_starting: int = 8,
        wait: bool = True,
    ) -> None:
        self._configs = list(configs)
        check_configs(self._configs)
        if max_starting < 1:
            raise ConfigError(f"max_starting is {max_starting!r}, but at least one server has to start at a time")
        self.clock, self.sleep = clock, sleep
        self.handlers = {"sampling": sampling, "elicitation": elicitation, "roots": roots}
        self.namespace = Namespace([config.name for config in self._configs], policy)
        self.slots = asyncio.Semaphore(max_starting)
        self.callback_errors = 0
        self._on_event, self._wait = on_event, wait
        self._members = {config.name: SdkMember(config, self) for config in self._configs}
        self._owners: list[asyncio.Task[None]] = []
        self._news = asyncio.Event()  # replaced each time a server's state has changed
        self._open = self._closed = False

    # --- opening and closing -----------------------------------------------------------------

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> Self:
        """Start all servers; what `async with` does. Returns when each is ready, failed, or past its start_timeout."""
        if self._open or self._closed:
            raise HostClosed("a host can be entered once: make a new one")
        self._open = True
        try:
            self._owners = [
                asyncio.create_task(member.own(), name=f"mcp-owner-{name}") for name, member in self._members.items()
            ]
            if self._wait:
                await self.until(lambda: all(member.state != "starting" for member in self._members.values()))
                self._settle()
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """End all servers. Waiting calls raise HostClosed. May be called twice, from any task of the loop."""
        self._closed = True
        for member in self._members.values():
            member.begin_close()
        deadline, cancelled = time.monotonic() + CLOSE_BOUND, False
        while pending := [task for task in self._owners if not task.done()]:
            if time.monotonic() >= deadline:
                for task in pending:
                    task.cancel()
                deadline += CLOSE_BOUND
            try:
                await asyncio.wait(pending, timeout=max(0.0, deadline - time.monotonic()))
            except asyncio.CancelledError:  # whoever is in a hurry waits for the bounded shutdown all the same
                cancelled = True
        if cancelled:
            raise asyncio.CancelledError

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the servers' states holds."""
        while not condition():
            await self._news.wait()

    # --- calling -----------------------------------------------------------------------------

    def tools(self) -> dict[str, MergedTool]:
        """All tools, canonical name → MergedTool; also those of servers that are down at the moment."""
        return dict(self._settle().table)

    async def call(
        self, name: str, arguments: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> ToolResult:
        """Call a tool by its canonical name; as `Host.call`, with the same exceptions. Never sent twice."""
        self._check_open()
        given = read_arguments(name, arguments)
        tool = find_tool(self._settle(), name, self._members)
        member = self._members[tool.server_name]
        seconds = member.config.call_timeout if timeout is None else min(timeout, LONGEST_TIMEOUT)
        try:
            raw = await member.call(tool.local_name, given, seconds)
        except RpcError as error:
            if error.code in NO_SUCH_TOOL and await self._is_gone(tool):
                raise gone(self.namespace, tool) from error
            raise
        result = read_result(tool, raw)
        if result.is_error and says_unknown(result.text, tool.local_name) and await self._is_gone(tool):
            raise gone(self.namespace, tool)
        return result

    async def request(
        self, server: str, method: str, params: Message | None = None, timeout: float | None = None
    ) -> Message:
        """Send a server one request that no tool is for; as `Host.request`, with the same exceptions."""
        member = self._member(server)
        seconds = member.config.call_timeout if timeout is None else min(timeout, LONGEST_TIMEOUT)
        return await member.request(method, params, seconds)

    async def _is_gone(self, tool: MergedTool) -> bool:
        with contextlib.suppress(HarnessError):
            await self._members[tool.server_name].refresh()
            return tool.canonical_name not in self._settle().table
        return False

    # --- servers -----------------------------------------------------------------------------

    def status(self) -> dict[str, ServerStatus]:
        """How each server is, in configuration order. Also after close. `pid` is None: the SDK hides it."""
        return {name: member.status() for name, member in self._members.items()}

    async def refresh(self, server: str) -> list[str]:
        """List a server's tools again; returns the names that were added, removed or changed."""
        member = self._member(server)
        self._settle()
        return names_in(await member.refresh())

    async def restart(self, server: str) -> list[str]:
        """End a server and start it again, also a failed one. Returns the changed names.

        Raises SpawnError or HandshakeError if it does not come up.
        """
        member = self._member(server)
        self._settle()
        return names_in(await member.restart())

    async def wait_ready(self, server: str, timeout: float | None = None) -> None:
        """Wait until a server is ready; `timeout` in seconds, by default its start_timeout.

        Raises RequestTimeout, or the error that made the server fail.
        """
        member = self._member(server)
        seconds = member.config.start_timeout if timeout is None else min(timeout, LONGEST_TIMEOUT)
        with anyio.move_on_after(seconds):
            await self.until(lambda: member.state in ("ready", "failed", "closed"))
        if member.state == "closed":
            raise HostClosed(f"the host is closed: server {server!r} will not be ready")
        if member.state == "failed" and member.error is not None:
            raise member.error
        if member.state != "ready":
            raise RequestTimeout(server, f"server {server!r} was not ready within {seconds:g} s: it is {member.state}")

    def _member(self, server: str) -> "SdkMember":
        self._check_open()
        return find_server(self._members, server)

    def _check_open(self) -> None:
        if self._closed:
            raise HostClosed("the host is closed: make a new one")
        if not self._open:
            raise HostClosed("the host is not open: use `async with SdkHost(configs) as host:`")

    # --- what members need -------------------------------------------------------------------

    def tell(self, kind: str, server: str, data: dict[str, Any]) -> None:
        """Send an event: the callback runs in the loop, after whatever is running now."""
        if self._on_event is not None:
            event = Event(kind, server, data, self.clock())
            asyncio.get_running_loop().call_soon(self._deliver, event)

    def _deliver(self, event: Event) -> None:
        assert self._on_event is not None
        try:
            self._on_event(event)
        except Exception:
            self.callback_errors += 1

    def wake(self) -> None:
        """A server's state has changed."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    def install(self, server: str, tools: list[Message]) -> Changes:
        """Replace a server's tools in one step. Until somebody has looked at the names, none are given."""
        difference, collisions = self.namespace.replace(server, tools)
        self._report(collisions)
        if names_in(difference):
            self.tell("tools_changed", server, dict(difference))
        return difference

    def _settle(self) -> Namespace:
        """The namespace with a name for everything that is known; a server that the policy refuses is ended."""
        if self.namespace.stale or not self.namespace.looked_at:
            self._report(self.namespace.settle())
        for server, reason in self.namespace.refused().items():
            self._members[server].refuse(reason)
        return self.namespace

    def _report(self, collisions: Iterable[Collision]) -> None:
        for hit in collisions:
            self.tell("collision", hit.server, asdict(hit))


class Life:
    """One process of a server, from its spawn to its end."""

    def __init__(self) -> None:
        self.over = asyncio.Event()  # the owner leaves the SDK's contexts when this is set
        self.scope = anyio.CancelScope()  # cancelled to give up a start
        self.stderr: StderrTail | None = None  # there from the spawn on
        self.client: Client | None = None
        self.spawned = False


class SdkMember:
    """A configured server through all its lives. All its methods run in the event loop."""

    def __init__(self, config: ServerConfig, host: SdkHost) -> None:
        self.config, self.name, self._host = config, config.name, host
        self.state, self.reason = "starting", config.problem
        self.error: HarnessError | None = None
        self.retry_at: float | None = None  # by the host's clock
        self._life: Life | None = None  # the one to call
        self._last: Life | None = None
        self._wake = asyncio.Event()  # do not wait for the delay
        self._asked: list[asyncio.Future[Changes]] = []  # who waits for a restart
        self._dirty = asyncio.Event()  # the server announced other tools
        self._listing = asyncio.Lock()
        self._backoff = Backoff()
        self._closing = self._was_ready = self._noise_told = False
        self._ready_at = 0.0
        self._generation = self._restarts = self._noise = self._pending = 0
        self._set_aside: set[SetAside] = set()

    # --- the owner task ------------------------------------------------------------------------

    async def own(self) -> None:
        """Live, wait, live again. The only task that enters and leaves this server's contexts."""
        try:
            while not self._closing:
                self._wake.clear()
                asked, self._asked = self._asked, []
                await self._live(asked)
                if not self._closing and not self._asked:
                    await self._rest()
                if not self._closing and not self._asked:
                    self._restarts += 1
        finally:
            self._closing, self.state, self._life = True, "closed", None
            for future in self._asked:
                settle(future, HostClosed(f"the host was closed before server {self.name!r} was ready"))
            self._host.wake()

    async def _live(self, asked: list["asyncio.Future[Changes]"]) -> None:
        """One process from start to end; every way out of it leaves the contexts here."""
        life, problem = Life(), None
        try:
            if self.config.problem:
                raise SpawnError(self.name, f"server {self.name!r} was not started: {self.config.problem}")
            async with contextlib.AsyncExitStack() as slot:
                await slot.enter_async_context(self._host.slots)
                if self._closing:
                    return
                self._generation += 1
                self._last = life
                life.scope.deadline = anyio.current_time() + self.config.start_timeout
                with life.scope:
                    async with self._client(life) as client:
                        tools = await self._list(client)
                        if not self._closing and not life.over.is_set():
                            life.scope.deadline = math.inf
                            await slot.aclose()
                            self._become_ready(life, client, tools, asked)
                            await self._stay(life, client)
        except Exception as error:
            problem = real_reason(error)
        if self._closing:
            for future in asked:
                settle(future, HostClosed(f"the host was closed before server {self.name!r} was ready"))
        elif self._life is life:  # it was ready, and not a death that we know of ended it
            self._fell(life, f"its session failed: {problem}", uptime=self._host.clock() - self._ready_at)
        elif life.client is None and not self._asked:
            failure = self._start_error(life, problem)
            self._fell(life, str(failure), failure)
            for future in asked:
                settle(future, failure)
        else:
            self._asked += [future for future in asked if not future.done()]

    def _client(self, life: Life) -> Client:
        answers: dict[str, Any] = {}
        if self._host.handlers["sampling"]:
            answers["sampling_callback"] = self._answer("sampling", types.CreateMessageResult)
        if self._host.handlers["elicitation"]:
            answers["elicitation_callback"] = self._answer("elicitation", types.ElicitResult)
        if self._host.handlers["roots"]:
            answers["list_roots_callback"] = self._answer("roots", types.ListRootsResult)
        return Client(
            self._transport(life),
            mode=MODES[self.config.era],
            message_handler=self._on_message,
            client_info=types.Implementation(name="mcp_harness", version="0.1.0"),
            **answers,
        )

    @contextlib.asynccontextmanager
    async def _transport(self, life: Life) -> AsyncIterator[tuple["Watched", Any]]:
        """The SDK's stdio transport, with the server's stderr in a pipe of ours and its end noticed."""
        config = self.config
        parameters = StdioServerParameters(
            command=config.command,
            args=list(config.args),
            env=child_environment(config),
            cwd=None if config.cwd is None else os.fspath(config.cwd),
            encoding_error_handler="replace",  # by default one byte that is no UTF-8 ends the whole session
        )
        with StderrTail() as life.stderr:
            async with stdio_client(parameters, errlog=life.stderr.errlog) as (read, write):
                life.spawned = True
                life.stderr.errlog.close()  # the server has its own copy
                yield Watched(read, lambda: self._on_end(life)), write

    async def _stay(self, life: Life, client: Client) -> None:
        """Ready: keep the list of tools fresh until this life is over."""
        async with anyio.create_task_group() as helpers:
            helpers.start_soon(self._refresh_on_change)
            helpers.start_soon(self._hear_changes, client)
            await life.over.wait()
            helpers.cancel_scope.cancel()

    async def _rest(self) -> None:
        """Until the next start is due, or somebody asks for it, or the host closes."""
        async with anyio.create_task_group() as both:

            async def doze(seconds: float) -> None:
                await self._host.sleep(seconds)
                both.cancel_scope.cancel()

            retry_in = self._retry_in()
            if retry_in is not None:
                both.start_soon(doze, retry_in)
            await self._wake.wait()
            both.cancel_scope.cancel()

    # --- states --------------------------------------------------------------------------------

    def _become_ready(
        self, life: Life, client: Client, tools: list[Message], asked: list["asyncio.Future[Changes]"]
    ) -> None:
        if self.config.era == MODERN and client.protocol_version != MODERN:
            text = f"server {self.name!r} speaks {client.protocol_version}, but its era is configured as {MODERN}"
            raise HandshakeError(self.name, text)
        life.client, self._life = client, life
        difference = self._host.install(self.name, tools)
        self.state, self.reason, self.error, self.retry_at = "ready", None, None, None
        self._was_ready, self._ready_at = True, self._host.clock()
        self._host.tell("ready", self.name, {"tools": len(tools), "pid": None, "generation": self._generation})
        if self._backoff.recovered():
            self._host.tell("recovered", self.name, {"generation": self._generation})
        for future in asked:
            settle(future, difference)
        self._host.wake()

    def _start_error(self, life: Life, problem: Exception | None) -> HarnessError:
        """The same failure as an error of the start, with all that a person needs to mend it."""
        if isinstance(problem, SpawnError):
            return problem
        if not life.spawned and isinstance(problem, OSError | ValueError):
            return SpawnError(self.name, spawn_message(self.config, child_environment(self.config), problem))
        if life.scope.cancelled_caught:
            what = f"it was not ready within its start_timeout of {self.config.start_timeout:g} s"
        elif isinstance(problem, MCPError) and problem.code == types.CONNECTION_CLOSED:
            what = HIDDEN_END
        elif isinstance(problem, MCPError):
            what = f"it answered with error {problem.code}: {problem.message}"
        else:
            what = str(problem) or type(problem).__name__
        lines = [f"server {self.name!r} did not start: {what}", f"command: {show_command(self.config)}"]
        lines += space_hints(self.config)
        tail = life.stderr.lines()[-STDERR_SHOWN:] if life.stderr else ()
        lines += [f"stderr: {line}" for line in tail] or ["stderr: (nothing)"]
        return HandshakeError(self.name, "\n  ".join(lines))

    def _fell(self, life: Life, reason: str, error: HarnessError | None = None, uptime: float = 0.0) -> None:
        """Not ready any more: plan the next start, or give up."""
        self._life, self.reason, self.retry_at = None, reason, None
        self.error = error or ServerDied(self.name, reason)
        if self.config.restart == "never" or not self._was_ready:
            self.state = "failed"
            self._host.tell("failed", self.name, {"reason": reason})
        else:
            verdict = self._backoff.failed(uptime)
            self.state, self.retry_at = "restarting", self._host.clock() + verdict.delay
            data = {"reason": reason, "delay": verdict.delay, "failures": verdict.failures}
            self._host.tell("restarting", self.name, data)
            if verdict.notice:
                text = f"it failed {verdict.failures} times in a row; it is tried again and again, ever more slowly"
                self._host.tell("notice", self.name, {"message": text, "failures": verdict.failures, "reason": reason})
        self._host.wake()

    def _on_end(self, life: Life) -> None:
        """The server's output has ended."""
        if self._life is life and not self._closing:
            tail = life.stderr.lines()[-1:] if life.stderr else ()
            reason = "; its last words: ".join([HIDDEN_END, *tail])
            self._host.tell("died", self.name, {"reason": reason, "generation": self._generation})
            self._fell(life, reason, uptime=self._host.clock() - self._ready_at)
        life.over.set()

    def begin_close(self) -> None:
        """Ask the owner to end this server for good."""
        if not self._closing:
            self._closing = True
            self._end_life()

    async def restart(self) -> Changes:
        """End the process, if there is one, and wait for the next one."""
        if self._closing:
            raise HostClosed(f"the host is closed: server {self.name!r} cannot be restarted")
        future: asyncio.Future[Changes] = asyncio.get_running_loop().create_future()
        self._asked.append(future)
        self._backoff.reset()
        self._restarts += 1
        self.state, self.reason, self.retry_at = "restarting", "it is being restarted on request", None
        self._end_life()
        self._host.wake()
        return await future

    def refuse(self, reason: str) -> None:
        """The policy keeps this server out."""
        if self.state == "ready":
            self.state, self.reason = "failed", reason
            self.error = HandshakeError(self.name, f"server {self.name!r} was {reason}")
            self._host.tell("failed", self.name, {"reason": reason})
            if self._life is not None:
                self._life.over.set()
            self._life = None
            self._host.wake()

    def _end_life(self) -> None:
        """End what runs now, a start or a ready server, and do not wait for the delay."""
        if self._life is not None:
            self._life.over.set()
        elif self._last is not None:
            self._last.over.set()
            if self._last.client is None:
                self._last.scope.cancel()
        self._life = None
        self._wake.set()

    # --- what the server says --------------------------------------------------------------------

    async def _on_message(self, message: Any) -> None:
        """Notifications and lines that are no message. Only sorts: a request from here would stop the reading."""
        if isinstance(message, types.ToolListChangedNotification):
            self._dirty.set()
        elif isinstance(message, Exception):
            self._noise += 1
            if not self._noise_told:
                self._noise_told = True
                line = getattr(message, "errors", None)
                preview = str(line()[0].get("input", "")) if callable(line) else str(message)
                self._host.tell("noise", self.name, {"why": "a line that is no message", "preview": preview[:200]})

    async def _hear_changes(self, client: Client) -> None:
        """2026-07-28: changes are told only to who listens. No replay: list again after each gap."""
        tools = client.server_capabilities.tools
        if client.protocol_version != MODERN or tools is None or not tools.list_changed:
            return
        for gaps in itertools.count(1):
            try:
                async with client.listen(tools_list_changed=True) as changes_heard:
                    if gaps > 1:
                        self._dirty.set()
                    async for _ in changes_heard:
                        self._dirty.set()
            except (MCPError, ListenNotSupportedError):
                return  # it does not keep what it declared; refresh() remains
            except (SubscriptionLost, TimeoutError):
                pass
            await anyio.sleep(delay_after(gaps))

    def _answer(self, what: str, kind: type[Any]) -> Callable[..., Awaitable[Any]]:
        """A handler of ours as the SDK wants it. One that raises costs the server an error."""
        handler = self._host.handlers[what]
        assert handler is not None

        async def answer(context: object, params: Any = None) -> Any:
            given = {} if params is None else dump(params)
            try:
                if inspect.iscoroutinefunction(handler):
                    body = await handler(self.name, given)
                else:
                    body = await anyio.to_thread.run_sync(handler, self.name, given)
                return kind.model_validate(body, by_name=False)
            except Exception as error:
                text = f"the client's handler of {what} failed: {type(error).__name__}: {error}"
                return types.ErrorData(code=types.INTERNAL_ERROR, message=text)

        return answer

    # --- the tools -------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: Message, seconds: float) -> Message:
        """One tools/call, its result as it came."""
        client = self._ready_client()
        reply = dumped(client.call_tool(tool, arguments, read_timeout_seconds=seconds))
        return await self._within(seconds, reply, client, f"tools/call {tool!r}")

    async def request(self, method: str, params: Message | None, seconds: float) -> Message:
        """One request of any method, its result as it came."""
        client = self._ready_client()
        reply = client.session.send_request(AnyRequest(method=method, params=params), AS_IT_CAME, seconds)
        return await self._within(seconds, reply, client, method)

    async def _within(self, seconds: float, reply: Awaitable[Message], client: Client, what: str) -> Message:
        """What the SDK gives back for a request, in time. Its exceptions become ours."""
        self._pending += 1
        try:
            with anyio.fail_after(seconds + CALL_GRACE):
                return await reply
        except TimeoutError:
            raise self._timed_out(what, seconds) from None
        except MCPError as error:
            raise self._translated(error, client, what, seconds) from error
        except RuntimeError as error:  # the SDK checks structured content against the tool's schema
            raise BadReply(self.name, f"server {self.name!r}: {error}") from error
        except PydanticSerializationError as error:
            text = f"server {self.name!r}: the parameters are no JSON: {error}; nothing was sent"
            raise ArgumentsError(text) from error
        except ValueError as error:  # pydantic's ValidationError is one
            text = f"server {self.name!r} answered {what} with no valid result: {error}"
            raise BadReply(self.name, text) from error
        finally:
            self._pending -= 1

    async def refresh(self) -> Changes:
        """List the tools again and replace them in one step."""
        client, seconds = self._ready_client(), self.config.call_timeout
        try:
            with anyio.fail_after(seconds):
                async with self._listing:
                    tools = await self._list(client)
        except TimeoutError:
            raise self._timed_out("tools/list", seconds) from None
        except MCPError as error:
            raise self._translated(error, client, "tools/list", seconds) from error
        except ValueError as error:
            text = f"server {self.name!r} answered tools/list with no valid list of tools: {error}"
            raise BadReply(self.name, text) from error
        if self._life is None or self._life.client is not client:
            raise self._not_running()
        return self._host.install(self.name, tools)

    async def _refresh_on_change(self) -> None:
        """One listing under way and at most one to follow, however often the server announces a change."""
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            try:
                await self.refresh()
            except (ServerDied, HostClosed):
                pass  # the next start lists the tools anyway
            except HarnessError as error:
                message = f"its tools changed, but could not be listed again: {error}"
                self._host.tell("notice", self.name, {"message": message})

    async def _list(self, client: Client) -> list[Message]:
        """All pages, read tool by tool. The SDK's list_tools is one page; "" is a cursor too."""
        definitions: list[Message] = []
        cursors: set[str] = set()
        cursor: str | None = None
        remark = f"its tools/list has more than {MAX_PAGES} pages; the first {MAX_PAGES} are used"
        for _ in range(MAX_PAGES):
            try:
                page = await client.list_tools(cursor=cursor, cache_mode="refresh")
            except MCPError as error:
                if error.code == types.METHOD_NOT_FOUND and not definitions:
                    return []  # a server without tools
                raise
            definitions += map(dump, page.tools)
            cursor = page.next_cursor
            if cursor is None or cursor in cursors:
                remark = f"its tools/list does not end: cursor {cursor!r} came again; the pages so far are used"
                break
            cursors.add(cursor)
        if cursor is not None:
            self._host.tell("notice", self.name, {"message": remark})
        tools, aside = read_tools(definitions)
        for one in aside:
            if one not in self._set_aside:
                self._set_aside.add(one)
                self._host.tell("tool_set_aside", self.name, {"tool": one.tool, "reason": one.reason})
        return tools

    def _ready_client(self) -> Client:
        if self._life is not None and self._life.client is not None and self.state == "ready":
            return self._life.client
        raise self._not_running()

    def _not_running(self) -> HarnessError:
        if self._closing:
            return HostClosed(f"the host is closed: server {self.name!r} cannot be called")
        return ServerDied(self.name, self.reason or f"it is {self.state}", self._retry_in())

    def _translated(self, error: MCPError, client: Client, what: str, seconds: float) -> HarnessError:
        """The SDK raises MCPError for an answer of the server and for failures of its own: tell them apart."""
        ours = self._life is not None and self._life.client is client
        if error.code == types.CONNECTION_CLOSED and not ours:
            return self._not_running()
        if error.code == types.REQUEST_TIMEOUT and "timed out" in error.message:
            return self._timed_out(what, seconds)
        return RpcError(self.name, error.code, error.message, error.data, what)

    def _timed_out(self, what: str, seconds: float) -> RequestTimeout:
        text = f"server {self.name!r} gave no reply to {what} within {seconds:.1f} s; the request was cancelled. Raise"
        return RequestTimeout(
            self.name, f"{text} the timeout, or look at what the server does (host.status() has its stderr)"
        )

    # --- status ----------------------------------------------------------------------------------

    def _retry_in(self) -> float | None:
        return None if self.retry_at is None else max(0.0, self.retry_at - self._host.clock())

    def status(self) -> ServerStatus:
        """How the server is at this moment."""
        client = self._life.client if self._life is not None else None
        return ServerStatus(
            name=self.name,
            state=self.state,
            reason=self.reason,
            pid=None,
            era=client.protocol_version if client is not None and self.state == "ready" else None,
            tools=self._host.namespace.counts()[self.name],
            restarts=self._restarts,
            retry_in=self._retry_in(),
            pending=self._pending,
            noise_lines=self._noise,
            late_replies=0,
            generation=self._generation,
            uptime=self._host.clock() - self._ready_at if self.state == "ready" else None,
            stderr_tail=self._last.stderr.lines() if self._last and self._last.stderr else (),
        )


class Watched:
    """The SDK's stream of incoming messages; says when it ends, which the SDK tells only to calls that wait."""

    def __init__(self, stream: Any, on_end: Callable[[], None]) -> None:
        self._stream, self._on_end = stream, on_end

    async def receive(self) -> SessionMessage | Exception:
        try:
            item: SessionMessage | Exception = await self._stream.receive()
            return item
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._on_end()
            raise

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class StderrTail:
    """A pipe for a server's stderr, read by the event loop; the last lines are kept, the memory is bounded."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def __enter__(self) -> Self:
        self._fd, write = os.pipe()
        os.set_blocking(self._fd, False)
        self.errlog = os.fdopen(write, "w")
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._fd, self._read)
        return self

    def __exit__(self, *error: object) -> None:
        self._read()
        self._loop.remove_reader(self._fd)
        os.close(self._fd)
        self._fd = -1
        self.errlog.close()

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            data = os.read(self._fd, STDERR_BYTES)
            if not data:
                self._loop.remove_reader(self._fd)
            self._kept += data
            del self._kept[:-STDERR_BYTES]

    def lines(self) -> tuple[str, ...]:
        """The last lines, oldest first."""
        if self._fd >= 0:
            self._read()
        found = bytes(self._kept).decode("utf-8", "replace").split("\n")
        if not found[-1]:
            found.pop()
        return tuple(line.rstrip("\r") for line in found[-STDERR_LINES:])


def dump(model: Any) -> Message:
    """One of the SDK's models as the JSON that came."""
    fields: Message = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return fields


async def dumped(reply: Awaitable[Any]) -> Message:
    """The same for a model that is still to come."""
    return dump(await reply)


def real_reason(error: BaseException) -> Exception:
    """The first exception that is no group: the SDK's task groups wrap the reason, often twice."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else RuntimeError(repr(error))


def settle(future: "asyncio.Future[Changes]", outcome: Changes | Exception) -> None:
    """Give a waiting caller its answer, if it still waits."""
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
