"""The peer `ours on the SDK`: mcp_harness.sdk_host, the port of the Host to the official SDK."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from driver import LIMIT, TEXT, Task, Values, finish, growth, read_task, weigh

began_import = time.perf_counter()
from mcp_harness import Policy, ServerConfig  # noqa: E402
from mcp_harness.sdk_host import SdkHost  # noqa: E402

IMPORT = time.perf_counter() - began_import
import asynchronous  # noqa: E402


class Calls:
    """A host as the object that the measurements want: `call_tool(name, arguments)`."""

    def __init__(self, host: SdkHost) -> None:
        self.host = host

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        return await self.host.call(name, arguments)


def config(task: Task, number: int = 0) -> ServerConfig:
    """One server, at the default era: the client finds out."""
    command = task.command(number)
    return ServerConfig(f"s{number}", command[0], command[1:], start_timeout=LIMIT, call_timeout=LIMIT)


async def one(task: Task) -> Values:
    async with SdkHost([config(task)]) as host:
        return await asynchronous.MEASURES[task.measure](Calls(host), task)


async def many(task: Task) -> Values:
    before = weigh()
    began = time.perf_counter()
    host = SdkHost([config(task, number) for number in range(task.servers)], policy=Policy.PREFIX_ALL)
    await host.open()
    try:
        names = [name for name in host.tools() if name.endswith("echo")]
        opened = time.perf_counter() - began
        if len(names) != task.servers:
            raise RuntimeError(f"{len(names)} of {task.servers} servers are there: {host.status()}")
        values = growth(before, weigh(), task.servers)
        called = await asynchronous.call_all([host.call(name, {"text": TEXT}) for name in names])
    finally:
        began = time.perf_counter()
        await host.close()
    return {**values, "open_s": opened, "calls_s": called, "close_s": time.perf_counter() - began}


if __name__ == "__main__":
    task = read_task()
    finish(asyncio.run((many if task.measure == "many" else one)(task)) | {"import_s": IMPORT})
