"""What is measured, with whom, and what must be reached. Data only.

The peers are named as in the tables. `many` takes its number of servers with it: "many-100"; "light-100" is
the same with servers that start at once.
"""

from dataclasses import dataclass

from bench.stats import Target

ERAS = ("2025-11-25", "2026-07-28")
OURS, FLOOR, OURS_ON_SDK = "ours", "floor", "ours on the SDK"
CLIENT, SESSION, SESSION_GROUP = "mcp Client", "mcp ClientSession", "mcp ClientSessionGroup"
FAST, FAST_GROUP = "fastmcp Client", "fastmcp ClientGroup"
LEGACY_ONLY = (SESSION_GROUP,)  # it always shakes hands, so a server of 2026-07-28 refuses it


@dataclass(frozen=True)
class Peer:
    """A script in `peers/`, the words before its task, and the environment that it runs in."""

    script: str
    environment: str
    words: tuple[str, ...] = ()


PEERS = {
    FLOOR: Peer("floor.py", "bare"),
    OURS: Peer("ours.py", "bare"),
    OURS_ON_SDK: Peer("sdk_host.py", "mcp"),
    CLIENT: Peer("sdk.py", "mcp", ("client",)),
    SESSION: Peer("sdk.py", "mcp", ("session",)),
    SESSION_GROUP: Peer("sdk.py", "mcp", ("group",)),
    FAST: Peer("fast.py", "fastmcp"),
    FAST_GROUP: Peer("fast.py", "fastmcp"),
}
SINGLE = (FLOOR, OURS, OURS_ON_SDK, SESSION, CLIENT, FAST)  # measured with one server
BIG_AGAIN = (FLOOR, OURS)  # the large line in the second revision: it is no other line, and the SDK takes long
MANY = (FLOOR, OURS, OURS_ON_SDK, CLIENT, SESSION_GROUP, FAST_GROUP)


@dataclass(frozen=True)
class Size:
    """How much is done. The quick one only shows that everything works."""

    rounds: int
    calls: int
    flight_calls: int
    servers: tuple[int, ...]
    big: int


FULL = Size(rounds=5, calls=2_000, flight_calls=6400, servers=(1, 10, 100), big=32 * 2**20)
QUICK = Size(rounds=2, calls=200, flight_calls=640, servers=(1, 5, 10), big=2 * 2**20)


def targets(most: int, big: int) -> tuple[Target, ...]:
    """The table of issue 5, for the largest number of servers and the size of the large line."""
    many, light, line = f"many-{most}", f"light-{most}", f"{big // 2**20} MB"
    return (
        Target("echo, one in flight, median, to `mcp` Client", "echo", "ms", CLIENT, 0.25),
        Target("the same, to a bare pipe ping-pong of the same bytes", "echo", "ms", FLOOR, 2.5),
        Target("throughput with 32 in flight, to `mcp` Client", "flight", "per_s", CLIENT, 2.5, at_least=True),
        Target(f"{most} servers connect + list, to fastmcp ClientGroup", many, "open_s", FAST_GROUP, 0.75, bound=FLOOR),
        Target("the same, with servers that start at once", light, "open_s", FAST_GROUP, 0.75, bound=FLOOR),
        Target(f"{most} servers connect + list, to starting them and a first byte", many, "open_s", FLOOR, 1.25),
        Target(f"closing {most}", many, "close_s", None, 1, unit=" s"),
        Target(f"client memory with {most} servers, to fastmcp ClientGroup", many, "mb", FAST_GROUP, 0.45),
        Target("descriptors a server", many, "descriptors", None, 3),
        Target(f"{line} result, to reading and `json.loads` of the same line", "big", "s", FLOOR, 1.5),
    )


NOT_COMPARABLE = """\
- Servers are Python scripts, and each needs more of the two cores to start than any client does to reach it.
  Those that start at once are one POSIX shell script: there the time is the client's own.
- Everybody is measured at its defaults: `mcp_harness`, `Client` and fastmcp first ask the server which
  revision it speaks. `ClientSession` is told (`initialize` or `discover`), `ClientSessionGroup` always
  shakes hands, so it cannot face a server of 2026-07-28.
- Ours works with threads and blocks its caller; the others work with asyncio. 32 in flight are 32 threads
  here, 32 tasks there; a hundred calls at once include starting the threads.
- Where calls come one after the other and are answered at once, our caller waits awake at the pipe, for half a
  millisecond at most (`mcp_harness/intake.py`). The others sleep, and so does the floor of the echo: on idle
  cores a wake takes long, and ours can be below that floor.
- `mcp` and fastmcp check each message, and a structured result, against models; ours does not. They also
  speak HTTP, do authorisation and more: their memory and import time carry that.
- "Ours on the SDK" is `mcp_harness.sdk_host`: the same host on `mcp`'s `Client`, with routing, restarts and a pipe
  for each server's stderr on top.
- `ClientSessionGroup` can connect to one server after the other only. The many `mcp` Clients are opened by
  a task each, and have no common table of tools.
- Descriptors: ours and fastmcp keep a pipe for each server's stderr or a log file; the SDK is given one file
  for all. Threads: asyncio starts one for each child on Python 3.11 and before.
- fastmcp's transports are told not to keep their process alive, else closing would end none.
- Floors are no clients. The one of "32 in flight" is one thread that writes ahead, without waking
  another; the one of "many" starts all processes at once, and its first byte is written before the server
  reads anything."""
