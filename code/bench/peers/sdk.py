"""The peers `mcp Client`, `mcp ClientSession`, `mcp ClientSessionGroup`: the official SDK, 2.x.

`sdk.py client|session|group TASK`. Many `Client`s are opened at once, each by a task of its own,
because a context of the SDK has to be left by the task that entered it. The group can only
connect to one server after the other, for the same reason.
"""

import asyncio
import os
import sys
import time
from typing import Any

KIND = sys.argv.pop(1)  # before the driver reads the task
from driver import TEXT, Task, Values, finish, growth, read_task, weigh  # noqa: E402

began_import = time.perf_counter()
from mcp import ClientSession, ClientSessionGroup, StdioServerParameters  # noqa: E402
from mcp.client import Client  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402

IMPORT = time.perf_counter() - began_import
import asynchronous  # noqa: E402

NULL = open(os.devnull, "w")  # noqa: SIM115


def parameters(task: Task, number: int = 0) -> StdioServerParameters:
    """One server."""
    command = task.command(number)
    return StdioServerParameters(command=command[0], args=command[1:])


async def with_client(task: Task) -> Values:
    """One server through `Client`, at its default mode: the client finds out the revision."""
    async with Client(stdio_client(parameters(task), errlog=NULL)) as client:
        await client.list_tools()  # else the first call lists by itself
        return await asynchronous.MEASURES[task.measure](client, task)


async def with_session(task: Task) -> Values:
    """One server through the lower level."""
    async with stdio_client(parameters(task), errlog=NULL) as streams, ClientSession(*streams) as session:
        await (session.discover() if task.era == "2026-07-28" else session.initialize())
        await session.list_tools()
        return await asynchronous.MEASURES[task.measure](session, task)


async def many_clients(task: Task) -> Values:
    """Many servers: a task each, as the SDK's documentation has it."""
    clients: dict[int, Client] = {}
    stop = asyncio.Event()
    ready = asyncio.Semaphore(0)

    async def own(number: int) -> None:
        async with Client(stdio_client(parameters(task, number), errlog=NULL)) as client:
            await client.list_tools()
            clients[number] = client
            ready.release()
            await stop.wait()

    before = weigh()
    began = time.perf_counter()
    tasks = [asyncio.create_task(own(number)) for number in range(task.servers)]
    for _ in tasks:
        await ready.acquire()
    opened = time.perf_counter() - began
    values = growth(before, weigh(), task.servers)
    called = await asynchronous.call_all([one.call_tool("echo", {"text": TEXT}) for one in clients.values()])
    began = time.perf_counter()
    stop.set()
    await asyncio.gather(*tasks)
    return {**values, "open_s": opened, "calls_s": called, "close_s": time.perf_counter() - began}


async def many_in_group(task: Task) -> Values:
    """Many servers in one ClientSessionGroup."""
    before = weigh()
    began = time.perf_counter()
    async with ClientSessionGroup(component_name_hook=lambda name, server: f"{server.name}/{name}") as group:
        for number in range(task.servers):
            await group.connect_to_server(parameters(task, number))
        opened = time.perf_counter() - began
        values = growth(before, weigh(), task.servers)
        names = [name for name in group.tools if name.endswith("/echo")]
        if len(names) != task.servers:
            raise RuntimeError(f"{len(names)} of {task.servers} servers are there")
        called = await asynchronous.call_all([group.call_tool(name, {"text": TEXT}) for name in names])
        began = time.perf_counter()
    return {**values, "open_s": opened, "calls_s": called, "close_s": time.perf_counter() - began}


if __name__ == "__main__":
    task = read_task()
    many: Any = {"client": many_clients, "group": many_in_group}.get(KIND)
    single = {"client": with_client, "session": with_session}.get(KIND)
    finish(asyncio.run((many if task.measure == "many" else single)(task)) | {"import_s": IMPORT})
