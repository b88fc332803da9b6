# %% [markdown]
# # Exercise 4: When a server dies
#
# You write the four parts of a restart policy: how long to wait, which failures belong to one row, when to tell
# somebody, and the supervisor that puts them to work. Lesson 4 explains every word used here.
#
# How to work: read the prompt, run the example in your head, fill the cell below it, run the check below
# that. The tasks do not depend on each other: if you are stuck in one, go to the next. Nothing in this exercise
# sleeps. Time is an object, and the checks move it.

# %% [markdown]
# ## The stage
#
# The cell below makes what the supervisor of task 4 works with. You need not read all of it. Know these four
# things:
#
# - `Clock()` stands still until somebody moves it: `clock.now()` gives seconds, `clock.advance(5)` moves it.
# - `Child(path)` is a **real process**, a small server with one tool, `create`. `child.alive` says whether it
#   runs, `child.kill()` kills it, `child.close()` ends it politely.
# - `child.call("create", {"title": "plan"})` sends one request and returns the text of the reply. If the
#   process dies first, it raises `ServerDied`. The server appends each title to the file `path` *before* it
#   replies; a title that begins with `fatal` kills it in between.
# - `Delays([1, 2, 4])` stands in for your tasks 1 and 2, so that task 4 does not need them: `delays.failed(uptime)`
#   gives the next delay of the list.


# %% id="stage" locked=true
import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SERVER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    title = message["params"]["arguments"]["title"]
    with open(sys.argv[1], "a") as file:
        file.write(title + "\\n")
    if title.startswith("fatal"):
        os._exit(1)
    result = {"content": [{"type": "text", "text": "created " + title}], "isError": False}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""

WIRE = []  # what happened on the newest stage: calls, replies, starts and ends


class ServerDied(Exception):
    """The server is gone, or went away before it replied."""


class Clock:
    """Time as an object: it stands still until somebody moves it."""

    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def advance(self, seconds):
        self.time += seconds


class Child:
    """A real server process with one tool, `create`."""

    def __init__(self, path, number=1):
        command = [sys.executable, "-I", "-S", "-c", SERVER, str(path)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.popen, self.ids, self.number = subprocess.Popen(command, **pipes), 0, number

    @property
    def alive(self):
        return self.popen.poll() is None

    def call(self, tool, arguments):
        self.ids += 1
        params = {"name": tool, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": self.ids, "method": "tools/call", "params": params}
        WIRE.append(f"→ process {self.number}: {json.dumps(request)}")
        try:
            self.popen.stdin.write(json.dumps(request).encode() + b"\n")
            self.popen.stdin.flush()
            line = self.popen.stdout.readline()
        except OSError:
            line = b""
        if not line:  # the end of its output: the process is gone
            self.popen.wait()
            WIRE.append(f"(process {self.number} ended before it replied)")
            raise ServerDied("the server died before it replied")
        WIRE.append(f"← process {self.number}: {line.decode().strip()}")
        return json.loads(line)["result"]["content"][0]["text"]

    def kill(self):
        if self.alive:
            WIRE.append(f"(process {self.number} was killed)")
        self.popen.kill()
        self.popen.wait()

    def close(self):
        with contextlib.suppress(OSError):
            self.popen.stdin.close()
        self.popen.wait()
        self.popen.stdout.close()


class Delays:
    """A backoff that knows its delays already, and keeps the uptimes that it was told."""

    def __init__(self, delays):
        self.delays, self.uptimes = list(delays), []

    def failed(self, uptime):
        self.uptimes.append(uptime)
        return self.delays[min(len(self.uptimes), len(self.delays)) - 1]


class Stage:
    """A clock, a file for titles, and a `spawn` that starts a real process. Who sleeps here is noticed."""

    def __init__(self):
        self.slept = []
        self.clock, self.children, self.started_at = Clock(), [], []
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "titles")

    def spawn(self):
        if len(self.children) >= 30:
            raise RuntimeError("that is the thirtieth process: the supervisor starts one after the other")
        self.children.append(Child(self.path, len(self.children) + 1))
        self.started_at.append(self.clock.now())
        WIRE.append(f"(process {len(self.children)} was started at {self.clock.now():g} s)")
        return self.children[-1]

    def titles(self):
        """What the servers have created, all processes together."""
        return self.path.read_text().split("\n")[:-1] if self.path.exists() else []

    def __enter__(self):
        WIRE.clear()
        self.real_sleep, here = time.sleep, threading.current_thread()

        def sleep(seconds):
            if threading.current_thread() is here:
                self.slept.append(seconds)
            else:
                self.real_sleep(seconds)

        time.sleep = sleep
        return self

    def __exit__(self, *error):
        time.sleep = self.real_sleep
        for child in self.children:
            child.popen.kill()
            child.close()
        self.folder.cleanup()


# %% [markdown] task=1 minutes=3 difficulty="easy"
# ## Task 1: how long to wait
#
# After the first failure we wait 1 second, then 2, then 4: twice as long each time, and never longer than
# 30 seconds. Only one line is missing.
#
# | failures in a row | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | seconds | 1 | 2 | 4 | 8 | 16 | 30 | 30 |

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# How often has the first second been doubled, after one failure? After two? After n?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `2**3` is 8. `min(a, b)` is the smaller one of two numbers.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# The smaller one of thirty, and two to the power of one less than `failures`.
#
# </details>


# %% id="task1" answer=true
def delay_after(failures):
    """Seconds to wait after that many failures in a row: 1, 2, 4 … and at most 30."""
    ### BEGIN SOLUTION
    return min(2 ** (failures - 1), 30)
    ### END SOLUTION


# %% id="task1_check" points=2
with checks.task(1, "how long to wait", points=2) as check:
    check.returns(
        lambda: [delay_after(failures) for failures in range(1, 8)],
        called="delay_after for 1 to 7 failures",
        expected=[1, 2, 4, 8, 16, 30, 30],
        why="one second at first, twice as long each time, never more than 30",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("a server that fails all night"):
        many = check.random().randrange(2_000, 9_000)
        check.returns(
            delay_after,
            many,
            expected=30,
            why="after thousands of failures the delay is still 30 seconds, without an error",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=2 minutes=9 difficulty="easy"
# ## Task 2: failures in a row
#
# The delay depends on how many failures came *in a row*. Write `in_a_row(log)`. A log is a list of events of
# one server, oldest first. There are three kinds:
#
# ```
# {"event": "spawned", "pid": 71}
# {"event": "ready",   "pid": 71}
# {"event": "died",    "pid": 71, "code": 1, "uptime": 4.0}
# ```
#
# `uptime` says how many seconds that process was up. Return a list with one number for each death: which failure in a
# row it was.
#
# - Each death is a failure, whatever its exit code. Nobody had asked the server to end.
# - A server that was up for `SUSTAINED` seconds **or longer** has left its old trouble behind: its death is number 1.
# - Nothing else ends a row. That a new process was spawned, or is ready, proves nothing yet.
#
# Example. Three processes died after 4, 0 and 75 seconds: `[1, 2, 1]`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Of the three kinds of events, which ones change the number at all?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# One counter for the server is enough. The pid is there for people who read the log. Compare `uptime` with
# `SUSTAINED` before you add one.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Go through the log; skip what is no death. If the uptime was sustained, set the counter to zero. Add one, and
# append the counter to the list.
#
# </details>

# %% id="task2" answer=true
SUSTAINED = 60.0  # seconds


def in_a_row(log):
    """For each death in the log: which failure in a row it was. [1, 2, 1] for three deaths."""
    numbers = []
    ### BEGIN SOLUTION
    failures = 0
    for entry in log:
        if entry["event"] != "died":
            continue
        if entry["uptime"] >= SUSTAINED:
            failures = 0
        failures += 1
        numbers.append(failures)
    ### END SOLUTION
    return numbers


# %% id="task2_check" points=2
with checks.task(2, "failures in a row", points=2) as check:

    def log_of(uptimes, codes=None, first_pid=70):
        """The log of processes that lived so long. Who lived at all was ready; who died at once was not."""
        log = []
        for number, uptime in enumerate(uptimes):
            pid, code = first_pid + number, 1 if codes is None else codes[number]
            log += [{"event": "spawned", "pid": pid}] + [{"event": "ready", "pid": pid}] * (uptime > 0)
            log += [{"event": "died", "pid": pid, "code": code, "uptime": uptime}]
        return log

    for uptimes, numbers in (([4.0, 0.0, 75.0], [1, 2, 1]), ([0.0, 2.5, 0.0, 59.0], [1, 2, 3, 4])):
        check.returns(
            in_a_row,
            log_of(uptimes),
            called=f"in_a_row(log) for processes that lived {', '.join(f'{up:g}' for up in uptimes)} seconds",
            expected=numbers,
            why="every death counts, and only an uptime of 60 seconds or more ends a row",
        )
    ### BEGIN HIDDEN TESTS
    with check.hidden("exactly 60 seconds"):
        check.returns(
            in_a_row, log_of([0.0, 1.0, 60.0, 0.0]), expected=[1, 2, 1, 2], why="60 seconds are sustained: 'or longer'"
        )
    with check.hidden("exit code 0"):
        check.returns(
            in_a_row,
            log_of([0.0, 1.0, 2.0], codes=[1, 0, 0]),
            expected=[1, 2, 3],
            why="an exit that nobody asked for is a failure, with the code 0 too",
        )
    with check.hidden("other uptimes"):
        data = check.random()
        uptimes = [
            data.choice([0.0, round(data.uniform(0.1, 59.9), 1), float(data.randrange(61, 900))]) for _ in range(30)
        ]
        expected, failures = [], 0
        for uptime in uptimes:
            failures = 1 if uptime >= 60 else failures + 1
            expected.append(failures)
        check.returns(
            in_a_row,
            log_of(uptimes, first_pid=data.randrange(100, 9000)),
            expected=expected,
            why="count every death; begin again at 1 only after a sustained uptime",
        )
    with check.hidden("an empty log, and one without a death"):
        check.returns(in_a_row, [], expected=[], why="no death, no number")
        check.returns(in_a_row, [{"event": "spawned", "pid": 5}], expected=[], why="no death, no number")
    ### END HIDDEN TESTS

# %% [markdown] task=3 minutes=12 difficulty="medium"
# ## Task 3: one notice after three failures
#
# A person wants to hear of trouble, and not every thirty seconds. Write `Notices(tell)`.
#
# - `failed(server, failures)` is called after each failure; `failures` is the number in a row, as in task 2.
#   At the third in a row it calls `tell(server, "notice")`. At no other.
# - `ready(server)` is called each time when the server has come up. If there was a notice about this server, it
#   calls `tell(server, "recovered")`, once: a second `ready` tells nothing, until there is a new notice.
#
# There are many servers, and their calls come mixed.
#
# Example. `notes` fails five times in a row and then comes up, `files` fails once and comes up. What is told:
# `("notes", "notice")`, `("notes", "recovered")`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# `failed` gets the number as an argument. What does `ready` have to remember, and for whom?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# A `set` of server names is a good memory: `.add(name)`, `.discard(name)`, `name in names`.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# In `failed`: if the number is exactly three, put the server into the set, and tell. In `ready`: if the server is in
# the set, take it out, and tell.
#
# </details>

# %% id="task3" answer=true
NOTICE_AT = 3  # failures in a row


class Notices:
    """Tells once that a server keeps failing, and once that it works again."""

    def __init__(self, tell):
        self.tell = tell
        ### BEGIN SOLUTION
        self.noticed = set()  # servers with a notice and no recovery yet
        ### END SOLUTION

    def failed(self, server, failures):
        """The server failed; `failures` is the number in a row."""
        ### BEGIN SOLUTION
        if failures == NOTICE_AT:
            self.noticed.add(server)
            self.tell(server, "notice")
        ### END SOLUTION

    def ready(self, server):
        """The server has come up."""
        ### BEGIN SOLUTION
        if server in self.noticed:
            self.noticed.discard(server)
            self.tell(server, "recovered")
        ### END SOLUTION


# %% id="task3_check" points=3
with checks.task(3, "one notice after three failures", points=3) as check:

    def told(story):
        """What is told in a story: a list of (server, failures), where 0 failures stand for `ready`."""
        heard = []
        notices = Notices(lambda server, kind: heard.append((server, kind)))
        for server, failures in story:
            notices.failed(server, failures) if failures else notices.ready(server)
        return heard

    check.returns(
        told,
        [("notes", number) for number in (1, 2, 3, 4, 5)],
        called="failed('notes', 1), failed('notes', 2) … failed('notes', 5)",
        expected=[("notes", "notice")],
        why="one notice in a row of failures, at the third",
    )
    check.returns(
        told,
        [("notes", 1), ("notes", 2), ("notes", 3), ("notes", 4), ("notes", 0), ("notes", 0)],
        called="failed('notes', 1) … failed('notes', 4), then ready('notes') twice",
        expected=[("notes", "notice"), ("notes", "recovered")],
        why="the recovery is told once",
    )
    check.returns(
        told,
        [("files", 0), ("files", 1), ("files", 0), ("files", 1), ("files", 2), ("files", 0)],
        called="ready('files') after no, one and two failures",
        expected=[],
        why="without a notice there is no recovery to tell",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("a second row"):
        row = [("mail", number) for number in (1, 2, 3, 4, 0)]
        check.returns(
            told,
            row + row,
            expected=[("mail", "notice"), ("mail", "recovered")] * 2,
            why="a new row of failures deserves a new notice, and a new recovery",
        )
    with check.hidden("it comes up and fails on in the same row"):
        check.returns(
            told,
            [("mail", number) for number in (1, 2, 3, 0, 4, 0, 5, 0)],
            expected=[("mail", "notice"), ("mail", "recovered")],
            why="failures 4 and 5 bring no second notice, so there is no second recovery",
        )
    with check.hidden("many servers, mixed"):
        data = check.random()
        names = data.sample(["mail", "wiki", "shop", "maps", "chat", "bank"], 4)
        rows = {name: [*range(1, data.randrange(2, 8)), 0] for name in names}
        order = [name for name in names for _ in rows[name]]
        data.shuffle(order)
        steps = {name: iter(row) for name, row in rows.items()}
        story = [(name, next(steps[name])) for name in order]
        heard = check.call(told, story, why="the calls of several servers come mixed")
        for name in names:
            check.equal(
                [kind for server, kind in heard if server == name],
                ["notice", "recovered"] if len(rows[name]) > 3 else [],
                what=f"what was told about {name}",
                why="each server has a memory of its own",
            )
    ### END HIDDEN TESTS

# %% [markdown] task=4 minutes=16 difficulty="medium"
# ## Task 4: a server that keeps dying
#
# Write the three methods of `Supervisor`. It keeps one server alive. `self.process` is the newest `Child`,
# `self.retry_at` the planned time of the next start, or `None` while nothing is planned.
#
# - `tick()` looks once, and never waits. It is called again and again.
#   1. After `close()` it does nothing.
#   2. If the process is dead and no start is planned yet, plan one: ask `self.backoff.failed(uptime)`, once for each
#      death, for the delay. The uptime is the time since the last start.
#   3. If a start is planned and due, call `self.start()`.
# - `call(tool, arguments)` looks (`tick()`), then sends the call with `self.process.call(…)`, **once**, and returns
#   the reply. If no process runs at the moment, it raises `ServerDied` and sends nothing. If the process dies in the
#   call, the `ServerDied` of `self.process.call` goes on to the caller.
# - `close()` ends the process with `self.process.close()`. Nothing is started afterwards.
#
# Time is `self.clock.now()`. Nobody sleeps.
#
# Example. The delays are 1, 2, 4 and each process dies at once. Then processes start at the seconds 0, 1, 3 and 7.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# `tick` runs many times while a start is planned. How does it know that this death was already counted?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `self.retry_at` is the whole memory: `None` means "nothing planned". `start()` sets it back. In `call` you need no
# `try`: an exception that nobody catches goes on by itself.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# tick: if closed, return. If nothing is planned and the process is not alive: the delay comes from the backoff, and
# the planned time is now plus delay. If something is planned and now has reached it: start. call: tick; if closed or
# planned, raise; return the process's call. close: set the flag, close the process.
#
# </details>


# %% id="task4" answer=true
class Supervisor:
    """Keeps one server alive: notices its death, waits, starts it again. It never sleeps and never replays."""

    def __init__(self, spawn, clock, backoff):
        self.spawn, self.clock, self.backoff = spawn, clock, backoff
        self.closed = False
        self.start()

    def start(self):
        """Start a process now."""
        self.process = self.spawn()
        self.started_at = self.clock.now()
        self.retry_at = None

    def tick(self):
        """Look once: plan a start after a death, start what is due."""
        ### BEGIN SOLUTION
        if self.closed:
            return
        now = self.clock.now()
        if self.retry_at is None and not self.process.alive:
            self.retry_at = now + self.backoff.failed(now - self.started_at)
        if self.retry_at is not None and now >= self.retry_at:
            self.start()
        ### END SOLUTION

    def call(self, tool, arguments):
        """Send one call, once. Raises ServerDied if no process runs, or if it dies before it replies."""
        ### BEGIN SOLUTION
        self.tick()
        if self.closed or self.retry_at is not None:
            raise ServerDied("no process runs at the moment")
        return self.process.call(tool, arguments)
        ### END SOLUTION

    def close(self):
        """End the process, and start none afterwards."""
        ### BEGIN SOLUTION
        self.closed = True
        self.process.close()
        ### END SOLUTION


# %% id="task4_check" points=3
with checks.task(4, "a server that keeps dying", points=3) as check:

    def start_times(delays, lives, until):
        """Supervise processes that live so many seconds each: when each was started, and the uptimes told."""
        with Stage() as stage:
            backoff = Delays(delays)
            supervisor = Supervisor(stage.spawn, stage.clock, backoff)
            while stage.clock.now() <= until:
                age = stage.clock.now() - stage.started_at[-1]
                if age >= lives[min(len(stage.children), len(lives)) - 1]:
                    stage.children[-1].kill()
                supervisor.tick()
                stage.clock.advance(0.5)
                supervisor.tick()
            return stage.started_at, backoff.uptimes, stage.slept

    check.wire(WIRE)
    times = check.call(
        start_times,
        [1, 2, 4],
        [0],
        6.5,
        called="tick() again and again, for processes that die at once",
    )
    check.true(
        not times[2],
        f"The answer called time.sleep{tuple(times[2][:1])}. Time is self.clock here, and nobody sleeps: tick() plans "
        "a start and returns, a later tick() makes it.".replace(",)", ")"),
    )
    check.equal(
        times[0],
        [0.0, 1.0, 3.0, 7.0],
        what="the list of start times, in seconds,",
        why="plan one start for each death, as far ahead as the backoff says; the first tick() at or after that time "
        "makes it",
    )
    check.equal(
        times[1],
        [0.0, 0.0, 0.0],
        what="the list of uptimes that the backoff was told",
        why="tell the backoff of each death once, with the time since that process was started",
    )

    def story(delay, steps):
        """Play steps: a title is created, a number moves the clock, "kill", "tick" and "close" do what they say.

        Gives what each creation came to, the titles that the servers have really created, and how many
        processes there were.
        """
        with Stage() as stage:
            supervisor, outcomes = Supervisor(stage.spawn, stage.clock, Delays([delay])), []
            for step in steps:
                if step == "kill":
                    stage.children[-1].kill()
                elif step == "tick":
                    supervisor.tick()
                elif step == "close":
                    supervisor.close()
                    outcomes.append("still runs" if stage.children[-1].alive else "ended")
                elif isinstance(step, str):
                    try:
                        outcomes.append(supervisor.call("create", {"title": step}))
                    except ServerDied:
                        outcomes.append("ServerDied")
                else:
                    stage.clock.advance(step)
            return outcomes, stage.titles(), len(stage.children)

    outcomes, titles, processes = check.call(
        story,
        5,
        ["plan", "fatal flaw", "later", 5, "tick", "again"],
        called="call('create', …) with the titles 'plan', 'fatal flaw' (the server dies of it), 'later' (no process "
        "runs), and 'again' (after the restart)",
    )
    check.equal(
        titles,
        ["plan", "fatal flaw", "again"],
        what="what the servers have created",
        why="each call is sent once and never again: 'fatal flaw' ran before the crash; 'later' found no process",
    )
    check.equal(
        outcomes,
        ["created plan", "ServerDied", "ServerDied", "created again"],
        what="what came of 'plan', 'fatal flaw', 'later' and 'again'",
        why="a call returns the reply, or raises ServerDied at once if no process runs or if it dies in the call",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other delays, other lives"):
        data = check.random()
        delays = [data.randrange(1, 8) / 2 for _ in range(4)]
        lives = [data.randrange(0, 9) / 2 for _ in range(4)]
        expected, now = [0.0], 0.0
        for delay, life in zip(delays, lives, strict=True):
            now += life + delay
            expected.append(now)
        times = check.call(start_times, delays, [*lives, 999], now, why="the answer raised an exception")
        check.equal(times[0], expected, what="the starts", why="each start comes one delay after the death before it")
        check.equal(
            times[1], lives, what="the uptimes", why="the backoff is told the uptime of each dead process, once"
        )
    with check.hidden("nobody calls, nobody replays"):
        title = f"fatal {data.randrange(1000)}"
        facts = check.call(story, 1, [title, *[0.5, "tick"] * 8])
        check.equal(facts[1], [title], what="the titles", why="the call was sent again after the restart")
    with check.hidden("a call finds the server dead, then a start due"):
        facts = check.call(story, 2, ["kill", "lost", 2, "kept"])
        why = "call looks first: it finds the death and sends nothing, later it makes the start that is due"
        check.equal(facts, (["ServerDied", "created kept"], ["kept"], 2), what="what came of it", why=why)
    with check.hidden("close while a start is planned"):
        facts = check.call(story, 2, ["kill", "tick", "close", 60, "tick", "late"])
        check.equal(facts[2], 1, what="the number of processes", why="a process was started after close()")
        check.equal(facts[0], ["ended", "ServerDied"], what="the call", why="a call after close() raises ServerDied")
    with check.hidden("close while the process runs"):
        facts = check.call(story, 2, ["close", 60, "tick", "late"])
        check.equal(facts[0][0], "ended", what="the process", why="close() left the process running")
        check.equal(facts[2], 1, what="the number of processes", why="a process was started after close()")
        check.equal(facts[0][1], "ServerDied", what="the call", why="a call after close() raises ServerDied")
    ### END HIDDEN TESTS

# %% [markdown]
# ## Done?
#
# `solutions/04_restart.md` in the repository discusses the answers and another right way for each.
