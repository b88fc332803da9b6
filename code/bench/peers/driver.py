"""What all peers share: the task, the clock, what the process weighs. Standard library only.

A peer is a script. It gets one task as JSON on its command line and prints one line of JSON:
the values measured. It runs in the environment of the client that it is about.
"""

import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TEXT = "the quick brown fox jumps over the lazy dog, and " * 2  # about a hundred bytes, a short argument
IN_FLIGHT = 32
WARM_UP = 0.1  # share of the calls that is made before and not counted
LIMIT = 120.0  # seconds: no single wait of a peer is longer

Values = dict[str, float]


@dataclass(frozen=True)
class Task:
    """One measurement: `measure` is "echo", "flight", "many" or "big"; sizes as the kind needs them."""

    measure: str
    era: str
    server: list[str]  # the command
    calls: int = 0
    servers: int = 1
    size: int = 0

    def command(self, number: int = 0, *options: str) -> list[str]:
        """The command of one server, with a name of its own."""
        return [*self.server, "--era", self.era, "--name", f"s{number}", "--big", str(self.size), *options]


def read_task() -> Task:
    """The task on the command line."""
    return Task(**json.loads(sys.argv[1]))


def finish(values: Values) -> None:
    """Print the values, as the last line of stdout."""
    print(json.dumps(values), flush=True)


def latency(seconds: list[float]) -> Values:
    """Median and 95th percentile of single calls, in milliseconds."""
    ordered = sorted(seconds)
    return {"ms": 1000 * statistics.median(ordered), "p95_ms": 1000 * ordered[int(0.95 * (len(ordered) - 1))]}


def timed(call: Callable[[], Any]) -> float:
    """How many seconds a call took."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def flight(calls: int, worker: Callable[[Callable[[], bool], list[float]], None]) -> Values:
    """Run `worker(take, seconds)` in IN_FLIGHT threads until `calls` are made; rate and latency."""
    left = iter(range(calls))
    lists: list[list[float]] = [[] for _ in range(IN_FLIGHT)]

    def take() -> bool:
        return next(left, None) is not None

    threads = [threading.Thread(target=worker, args=(take, seconds)) for seconds in lists]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - began
    return {"per_s": calls / elapsed, **latency([one for seconds in lists for one in seconds])}


@dataclass(frozen=True)
class Weight:
    """What a process holds: resident memory in MB, descriptors, threads."""

    mb: float
    descriptors: int
    threads: int


def weigh() -> Weight:
    """This process, now."""
    folder = "/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd"
    descriptors = len(os.listdir(folder)) - 1  # the listing itself has one open
    try:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return Weight(int(status["VmRSS"].split()[0]) / 1024, descriptors, int(status["Threads"]))
    except OSError:  # no Linux: the highest memory so far, in bytes on macOS
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return Weight(peak / 2**20, descriptors, threading.active_count())


def growth(before: Weight, after: Weight, servers: int) -> Values:
    """What the servers cost the client."""
    return {
        "mb": after.mb,
        "descriptors": (after.descriptors - before.descriptors) / servers,
        "threads": after.threads,
    }
