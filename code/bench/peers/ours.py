"""The peer `ours`: mcp_harness, through its front door."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from driver import LIMIT, TEXT, WARM_UP, Task, Values, finish, flight, growth, latency, read_task, timed, weigh

began_import = time.perf_counter()
from mcp_harness import Host, Policy, ServerConfig  # noqa: E402

IMPORT = time.perf_counter() - began_import


def config(task: Task, number: int = 0) -> ServerConfig:
    """One server, at the default era: the client finds out."""
    command = task.command(number)
    return ServerConfig(f"s{number}", command[0], command[1:], start_timeout=LIMIT, call_timeout=LIMIT)


def echo(task: Task) -> Values:
    with Host([config(task)]) as host:
        for _ in range(int(task.calls * WARM_UP)):
            host.call("echo", {"text": TEXT})
        return latency([timed(lambda: host.call("echo", {"text": TEXT})) for _ in range(task.calls)])


def in_flight(task: Task) -> Values:
    with Host([config(task)]) as host:

        def worker(take, seconds):  # type: ignore[no-untyped-def]
            while take():
                seconds.append(timed(lambda: host.call("echo", {"text": TEXT})))

        flight(int(task.calls * WARM_UP), worker)
        return flight(task.calls, worker)


def many(task: Task) -> Values:
    before = weigh()
    began = time.perf_counter()
    host = Host([config(task, number) for number in range(task.servers)], policy=Policy.PREFIX_ALL)
    host.__enter__()
    try:
        names = [name for name in host.tools() if name.endswith("echo")]
        opened = time.perf_counter() - began
        if len(names) != task.servers:
            raise RuntimeError(f"{len(names)} of {task.servers} servers are there: {host.status()}")
        values = growth(before, weigh(), task.servers)
        began = time.perf_counter()
        with ThreadPoolExecutor(len(names)) as pool:
            list(pool.map(lambda name: host.call(name, {"text": TEXT}), names))
        called = time.perf_counter() - began
    finally:
        began = time.perf_counter()
        host.close()
    return {**values, "open_s": opened, "calls_s": called, "close_s": time.perf_counter() - began}


def big(task: Task) -> Values:
    with Host([config(task)]) as host:
        return {"s": timed(lambda: host.call("big", {"text": ""}))}


if __name__ == "__main__":
    task = read_task()
    finish({"echo": echo, "flight": in_flight, "many": many, "big": big}[task.measure](task) | {"import_s": IMPORT})
