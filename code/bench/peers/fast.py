"""The peers `fastmcp Client` and `fastmcp ClientGroup`, 4.x: `fast.py TASK`; the group where there are many.

Transports are told not to keep their process alive, else closing would leave all of them running.
"""

import asyncio
import os
import time
from pathlib import Path

from driver import TEXT, Task, Values, finish, growth, read_task, weigh

began_import = time.perf_counter()
from fastmcp import Client  # noqa: E402
from fastmcp.client.group import ClientGroup  # noqa: E402
from fastmcp.client.transports import StdioTransport  # noqa: E402

IMPORT = time.perf_counter() - began_import
import asynchronous  # noqa: E402


def client(task: Task, number: int = 0) -> Client:
    """One server, at the default mode: the client finds out the revision."""
    command = task.command(number)
    return Client(StdioTransport(command[0], command[1:], keep_alive=False, log_file=Path(os.devnull)))


async def single(task: Task) -> Values:
    """One server."""
    async with client(task) as one:
        await one.list_tools()
        return await asynchronous.MEASURES[task.measure](one, task)


async def many(task: Task) -> Values:
    """Many servers in one ClientGroup."""
    before = weigh()
    began = time.perf_counter()
    async with ClientGroup({f"s{number}": client(task, number) for number in range(task.servers)}) as group:
        tools = await group.list_tools()
        opened = time.perf_counter() - began
        values = growth(before, weigh(), task.servers)
        names = [tool.name for tool in tools if tool.name.endswith("echo")]
        if len(names) != task.servers:
            raise RuntimeError(f"{len(names)} of {task.servers} servers are there")
        called = await asynchronous.call_all([group.call_tool(name, {"text": TEXT}) for name in names])
        began = time.perf_counter()
    return {**values, "open_s": opened, "calls_s": called, "close_s": time.perf_counter() - began}


if __name__ == "__main__":
    task = read_task()
    finish(asyncio.run((many if task.measure == "many" else single)(task)) | {"import_s": IMPORT})
