"""The floors: what the work costs without any client. Pipes, lines and json, nothing else.

echo    write the same bytes, readline, json.loads
flight  the same with 32 requests written ahead
many    start the same processes, wait for a first byte of each, then close and wait for the ends
big     readline and json.loads of the same line
"""

import json
import os
import select
import subprocess
import time
from collections.abc import Sequence
from typing import IO, Any

from driver import IN_FLIGHT, LIMIT, TEXT, WARM_UP, Task, Values, finish, latency, read_task, timed

BUFFER = 64 * 1024  # bytes: what a pipe holds; the default of 8 KiB would make a slow floor for a large line
META = "io.modelcontextprotocol/"
STAMP = {
    META + "protocolVersion": "2026-07-28",
    META + "clientInfo": {"name": "mcp_harness", "version": "0.1.0"},
    META + "clientCapabilities": {},
}


def start(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """A process with three pipes and few variables, as clients start it."""
    env = {key: os.environ[key] for key in ("HOME", "LANG", "PATH") if key in os.environ}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, bufsize=BUFFER, stdin=pipe, stdout=pipe, stderr=pipe, env=env, start_new_session=True
    )


class Pipe:
    """One server at the other end of two pipes."""

    def __init__(self, task: Task) -> None:
        self._process = start(task.command())
        assert self._process.stdin
        assert self._process.stdout
        self._in: IO[bytes] = self._process.stdin
        self._out: IO[bytes] = self._process.stdout
        self._modern = task.era == "2026-07-28"
        self._id = 0

    def __enter__(self) -> "Pipe":
        return self

    def __exit__(self, *error: object) -> None:
        self._process.stdin = None
        self._in.close()
        self._process.wait(LIMIT)

    def send(self, name: str, arguments: dict[str, Any]) -> None:
        self._id += 1
        params = {"name": name, "arguments": arguments, **({"_meta": STAMP} if self._modern else {})}
        request = {"jsonrpc": "2.0", "id": self._id, "method": "tools/call", "params": params}
        self._in.write(json.dumps(request, separators=(",", ":")).encode() + b"\n")
        self._in.flush()

    def receive(self) -> Any:
        return json.loads(self._out.readline())["result"]["content"]

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        self.send(name, arguments)
        return self.receive()


def echo(task: Task) -> Values:
    with Pipe(task) as pipe:
        for _ in range(int(task.calls * WARM_UP)):
            pipe.call("echo", {"text": TEXT})
        return latency([timed(lambda: pipe.call("echo", {"text": TEXT})) for _ in range(task.calls)])


def in_flight(task: Task) -> Values:
    with Pipe(task) as pipe:
        began = time.perf_counter()
        for number in range(task.calls + IN_FLIGHT):
            if number < task.calls:
                pipe.send("echo", {"text": TEXT})
            if number >= IN_FLIGHT:
                pipe.receive()
        return {"per_s": task.calls / (time.perf_counter() - began)}


def many(task: Task) -> Values:
    began = time.perf_counter()
    processes = [start(task.command(number, "--ready")) for number in range(task.servers)]
    try:
        poller = select.poll()
        waiting = {process.stdout.fileno(): process for process in processes if process.stdout}
        for fd in waiting:
            poller.register(fd, select.POLLIN)
        while waiting:
            events = poller.poll(LIMIT * 1000)
            if not events:
                raise TimeoutError(f"{len(waiting)} processes gave no byte")
            for fd, _ in events:
                poller.unregister(fd)
                if not os.read(fd, 1):
                    raise RuntimeError("a process ended before its first byte")
                del waiting[fd]
        opened = time.perf_counter() - began
    finally:
        began = time.perf_counter()
        for process in processes:
            assert process.stdin
            process.stdin.close()
        for process in processes:
            process.wait(LIMIT)
    return {"open_s": opened, "close_s": time.perf_counter() - began}


def big(task: Task) -> Values:
    with Pipe(task) as pipe:
        pipe.call("echo", {"text": TEXT})  # from here on the server is up
        return {"s": timed(lambda: pipe.call("big", {"text": ""}))}


if __name__ == "__main__":
    task = read_task()
    finish({"echo": echo, "flight": in_flight, "many": many, "big": big}[task.measure](task))
