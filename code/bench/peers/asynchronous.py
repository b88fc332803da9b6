"""The measurements for clients of asyncio: any object with `call_tool(name, arguments)`."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Protocol

from driver import IN_FLIGHT, TEXT, WARM_UP, Task, Values, latency


class Caller(Protocol):
    """What is called: a client or a session."""

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any: ...


async def one_call(client: Caller) -> float:
    """One echo, in seconds."""
    began = time.perf_counter()
    await client.call_tool("echo", {"text": TEXT})
    return time.perf_counter() - began


async def echo(client: Caller, task: Task) -> Values:
    """One call after the other."""
    for _ in range(int(task.calls * WARM_UP)):
        await one_call(client)
    return latency([await one_call(client) for _ in range(task.calls)])


async def in_flight(client: Caller, task: Task) -> Values:
    """Always IN_FLIGHT calls under way: as many tasks, each one call after the other."""

    async def run(calls: int) -> tuple[float, list[float]]:
        left = iter(range(calls))
        seconds: list[float] = []

        async def worker() -> None:
            for _ in left:
                seconds.append(await one_call(client))

        began = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
        return time.perf_counter() - began, seconds

    await run(int(task.calls * WARM_UP))
    elapsed, seconds = await run(task.calls)
    return {"per_s": task.calls / elapsed, **latency(seconds)}


async def big(client: Caller, task: Task) -> Values:
    """One large result."""
    began = time.perf_counter()
    await client.call_tool("big", {"text": ""})
    return {"s": time.perf_counter() - began}


async def call_all(calls: Sequence[Any]) -> float:
    """All calls at once, in seconds."""
    began = time.perf_counter()
    await asyncio.gather(*calls)
    return time.perf_counter() - began


MEASURES = {"echo": echo, "flight": in_flight, "big": big}
