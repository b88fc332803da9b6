"""Step 8 of the small client: a port in about forty lines.

Made by `grader build` from lessons/08_sdk_port.md.
"""

import asyncio

from main import text_result
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from steps.step01_namespace import merge


def transport(command):
    """What a Client needs to start a server. errlog=None: its stderr goes where ours goes, in Colab too."""
    return stdio_client(StdioServerParameters(command=command[0], args=command[1:]), errlog=None)


async def list_all(client):
    """All tools as the small client keeps them: dicts, page by page. The SDK's list is one page."""
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")  # ask the server, not a cache
        for tool in page.tools:  # as a dict again, with the names of the wire: inputSchema, not input_schema
            tools.append(tool.model_dump(by_alias=True, mode="json", exclude_none=True))
        cursor = page.next_cursor
        if cursor is None:  # an empty cursor is a cursor
            return tools


def reason(error):
    """What really happened: the SDK's task groups wrap it, often twice."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


class Connection:
    """One server. Its owner task enters the client and leaves it; no other task does either."""

    def __init__(self, name, command):
        self.name, self.command = name, command
        self.client, self.tools, self.reason = None, [], "it was not started"
        self._ready, self._stop = asyncio.Event(), asyncio.Event()

    async def start(self):
        """Return when the server is ready, or has failed: then `reason` says why."""
        self._owner = asyncio.create_task(self._own())
        await self._ready.wait()

    async def close(self):
        self._stop.set()
        await self._owner

    async def _own(self, seconds=20):  # the SDK alone may wait ten for an answer to server/discover
        try:
            async with asyncio.timeout(seconds) as limit, Client(transport(self.command)) as client:
                self.tools = await list_all(client)
                limit.reschedule(None)  # the deadline is for the start only
                self.client, self.reason = client, "it was closed"
                self._ready.set()
                await self._stop.wait()
        except Exception as error:
            self.reason = reason(error)
        finally:
            self.client = None
            self._ready.set()


class Hub:
    """Many servers: `async with Hub(commands) as hub: await hub.call(name, arguments)`."""

    def __init__(self, commands):
        self.connections = {name: Connection(name, command) for name, command in commands.items()}
        self.registry = {}

    async def __aenter__(self):
        await asyncio.gather(*[connection.start() for connection in self.connections.values()])
        self.registry = merge(self.connections)
        return self

    async def __aexit__(self, *error):
        await asyncio.gather(*[connection.close() for connection in self.connections.values()])

    async def call(self, name, arguments, timeout=10.0):
        """Route one call by the table; whatever goes wrong comes back as an error result."""
        entry = self.registry.get(name)
        if entry is None:
            return text_result(f"no server offers the tool {name!r}", is_error=True)
        connection = self.connections[entry.server_name]
        if connection.client is None:
            return text_result(f"server {connection.name!r} is not there: {connection.reason}", is_error=True)
        try:
            result = await connection.client.call_tool(entry.local_name, arguments, timeout)
        except MCPError as error:
            return text_result(f"server {connection.name!r}: {error}", is_error=True)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
