"""The acceptance run: what a harness for many servers must do, asked with real processes.

    python -m mcp_harness.acceptance                      the harness of this package
    python -m mcp_harness.acceptance my_harness.py        the class `Harness` in that file
    python -m mcp_harness.acceptance --real               with servers from npm and PyPI

It asks for fifteen facts and prints a line for each: ✓, or ✗ with a sentence. Guarantees: it never
waits for ever, and whatever the harness does, no process of the run is left when it is over.

The harness may be written in any way. It is made by `make(document, allowed, policy)`, which
starts the servers, and has the five methods of `Harness` below. The servers are scripts of the
standard library in `code/servers`; with `--real`, three of them are replaced by programs of
others, where code/tests/node_servers and code/tests/pypi_servers have installed them.

What it leaves out: the wire. A harness that passes may still speak it badly (see `conformance`).
"""

import argparse
import contextlib
import importlib.util
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .acceptance_stage import Probe, Stage, make_stage

FACT_LIMIT = 10.0  # seconds for one fact: a healthy one needs a tenth of it
CLOSE_LIMIT = 6.0  # seconds to close it
DEADLINE = 2.0  # seconds that a call to the silent server is given
PROMPT = 3.0  # seconds in which an answer counts as prompt, also on a busy machine
SETTLE = 6.0  # seconds in which a death is noticed, or a restart has happened
GONE = 3.0  # seconds after close in which the system may finish with the processes


class Harness(Protocol):
    """What the run needs of a harness."""

    def tools(self) -> Mapping[str, Any]:
        """Canonical name → an entry with `server_name` and `local_name`."""
        ...

    def call(self, name: str, arguments: dict[str, Any], timeout: float = 10.0) -> Any:
        """The result, `{"content": […], "isError": …}`. What goes wrong is an error result too."""
        ...

    def status(self) -> Mapping[str, str]:
        """Every server of the document → "ready", or a sentence that says why it is not."""
        ...

    def summary(self) -> str:
        """One line: how many servers are ready, how many tools there are, who is missing."""
        ...

    def close(self) -> None:
        """End all servers. May be called twice."""
        ...


Make = Callable[[dict[str, Any], Sequence[str], str], Harness]


class Refused(Exception):
    """A fact does not hold; the text is the sentence."""


@dataclass(frozen=True)
class Fact:
    """One line of the report."""

    title: str
    passed: bool
    sentence: str = ""

    def __str__(self) -> str:
        return f"✓ {self.title}" if self.passed else f"✗ {self.title}: {self.sentence}"


# --- Asking a harness -----------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What a call came to, in one shape."""

    text: str
    is_error: bool


class Run:
    """One harness under examination."""

    def __init__(self, make: Make, stage: Stage) -> None:
        self.make, self.stage = make, stage
        self.harness: Harness | None = None

    @property
    def it(self) -> Harness:
        if self.harness is None:
            raise Refused("not asked: there is no harness")
        return self.harness

    def call(self, name: str, arguments: dict[str, Any], timeout: float = 10.0) -> Answer:
        """A call; its result as an Answer."""
        harness = self.it
        try:
            result = harness.call(name, arguments, timeout)
        except Exception as error:
            text = f"call({name!r}, …) raised {type(error).__name__}: {str(error).rstrip('.')}"
            raise Refused(f"{text}; what goes wrong in a call is an error result, and no exception") from error
        if not isinstance(result, Mapping) or not isinstance(result.get("content"), list):
            raise Refused(
                f"call({name!r}, …) returned {short(result)}, but a result with a 'content' list was expected"
            )
        blocks = [block for block in result["content"] if isinstance(block, Mapping)]
        return Answer("\n".join(str(block.get("text", "")) for block in blocks), bool(result.get("isError", False)))

    def name_of(self, server: str, tool: str) -> str:
        """The canonical name under which the harness offers a tool of a server."""
        for name, entry in self.it.tools().items():
            if (entry.server_name, entry.local_name) == (server, tool):
                return name
        raise Refused(f"tools() has no entry for the tool {tool!r} of {server!r}")

    def probe(self, probe: Probe) -> None:
        """Make the call of a probe; refuse any answer but the right server's."""
        name = self.name_of(probe.server, probe.tool)
        answer = self.call(name, probe.arguments)
        if answer.is_error or probe.expected not in answer.text:
            raise Refused(
                f"call({name!r}, …) gave {short(answer.text)}, but {probe.server!r} has the tool {probe.tool!r} and "
                f"would have said {probe.expected!r}: send the local name, to the server of the entry"
            )

    def state(self, server: str) -> str:
        """What status() says of a server."""
        status = self.it.status()
        if server not in status:
            raise Refused(f"status() says nothing of {server!r}: each server of the list has an entry")
        return str(status[server])


def short(value: object) -> str:
    """A value as Python would write it, cut."""
    text = repr(value)
    return text if len(text) <= 90 else text[:80] + " …"


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Look until the condition holds; False when it does not come in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Background:
    """A function in a thread of its own; `wait` gives its value, or raises what it raised."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._outcome: list[tuple[bool, Any]] = []

        def work() -> None:
            try:
                self._outcome.append((True, function()))
            except BaseException as error:
                self._outcome.append((False, error))

        self.thread = threading.Thread(target=work, daemon=True, name="acceptance")
        self.thread.start()

    def wait(self, seconds: float, otherwise: str) -> Any:
        self.thread.join(seconds)
        if not self._outcome:
            raise Hangs(otherwise)
        good, value = self._outcome[0]
        if good:
            return value
        raise value


class Hangs(Refused):
    """A fact was not decided in time."""


# --- The facts --------------------------------------------------------------------------------


def opens(run: Run) -> None:
    """a list with three bad entries starts all its good servers"""
    stage = run.stage
    start = Background(lambda: run.make(stage.document, stage.allowed, "prefix"))
    run.harness = start.wait(
        stage.start_limit, f"it is not open after {stage.start_limit:g} s; a server that floods stderr is in the list"
    )
    for name in stage.good:
        if run.state(name) != "ready":
            raise Refused(f"{name!r} is a good server, but status() says: {short(run.state(name))}")


def asks_the_allow_list(run: Run) -> None:
    """a command that is not on the allow-list is never started"""
    name = run.stage.forbidden
    if run.stage.pids(name):
        raise Refused(f"{name!r} was started, although its command 'sh' is not on the allow-list")
    needs_reason(run, name)


def asks_the_path(run: Run) -> None:
    """a command that is not on PATH is named in the reason"""
    needs_reason(run, run.stage.missing, run.stage.servers[run.stage.missing]["command"])


def says_why(run: Run) -> None:
    """a server that exits at once gets a reason, and costs no other server"""
    needs_reason(run, run.stage.bad)


def needs_reason(run: Run, name: str, word: str = "") -> None:
    """status() says of this server that it does not work, and why."""
    state = run.state(name)
    if state == "ready" or len(state.split()) < 3 or word not in state:
        about = f" with {word!r} in it" if word else ""
        raise Refused(f"status() says {short(state)} of {name!r}, but a sentence that says why{about} was expected")


def sums_up(run: Run) -> None:
    """the summary is one line: servers ready, tools, who is missing"""
    line, ready, tools = run.it.summary(), len(run.stage.good), len(run.it.tools())
    if not isinstance(line, str) or len(line.strip().splitlines()) != 1:
        raise Refused(f"summary() returned {short(line)}, but one line was expected")
    numbers = {int(word) for word in "".join(c if c.isdigit() else " " for c in line).split()}
    for number, what in ((ready, "servers are ready"), (tools, "tools are offered")):
        if number not in numbers:
            raise Refused(f"{number} {what}, but this number is not in the summary {line.strip()!r}")
    for name in run.stage.refused:
        if name not in line:
            raise Refused(f"{name!r} does not work, but it is not named in the summary {line.strip()!r}")


def loses_no_name(run: Run) -> None:
    """each tool of each server has a name of its own; the first in the list keeps the bare one"""
    first, second = run.stage.first, run.stage.second
    owners: dict[str, list[str]] = {}
    for name, entry in run.it.tools().items():
        owners.setdefault(entry.server_name, []).append(entry.local_name)
        if name == entry.local_name and entry.server_name == second and entry.local_name in owners.get(first, []):
            raise Refused(f"the bare name {name!r} belongs to {second!r}, but {first!r} stands before it in the list")
    mine, others = sorted(owners.get(first, [])), sorted(owners.get(second, []))
    if not mine or mine != others:
        raise Refused(f"{first!r} and {second!r} are the same program, but tools() has {mine} and {others} of them")
    trap = f"{second}/search"
    if trap not in owners.get(run.stage.flood, []):
        raise Refused(f"{run.stage.flood!r} has a tool that is really called {trap!r}, and tools() has lost it")
    bare = [run.it.tools()[name] for name in mine if name in run.it.tools()]
    if any(entry.server_name != first for entry in bare) or len(bare) < len(mine):
        raise Refused(f"by the policy 'prefix' {first!r}, which stands first, keeps the bare names {', '.join(mine)}")


def refuses_a_policy(run: Run) -> None:
    """a policy that nobody knows is an error, not a guess"""
    try:
        made = run.make({"mcpServers": {}}, [], "last-one-wins")
    except Exception:
        return
    with contextlib.suppress(Exception):
        made.close()
    raise Refused("a harness with the policy 'last-one-wins' was made; an unknown policy raises an exception")


def routes(run: Run) -> None:
    """a call reaches the server of its entry, under the local name"""
    for probe in run.stage.probes:
        run.probe(probe)
    trap = run.name_of(run.stage.flood, f"{run.stage.second}/search")
    answer = run.call(trap, {"query": "no note has this"})
    if answer.is_error or "note" in answer.text:
        raise Refused(
            f"{run.stage.flood!r} has a tool that is called {trap!r}, and a call of it gave {short(answer.text)}: look "
            "the name up, do not take it apart"
        )


def refuses_a_tool(run: Run) -> None:
    """an unknown tool is an error that names it"""
    answer = run.call("no_such_tool", {})
    if not answer.is_error or "no_such_tool" not in answer.text:
        raise Refused(f"call('no_such_tool', …) gave {short(answer.text)}, but an error that names it was expected")


def survives_the_flood(run: Run) -> None:
    """a megabyte on stderr holds nobody up"""
    name = run.name_of(run.stage.flood, "lamp")
    call = Background(lambda: run.call(name, {}))
    answer = call.wait(PROMPT, f"{run.stage.flood!r} does not answer: is its stderr read?")
    if answer.is_error:
        raise Refused(f"call({name!r}, …) is an error: {short(answer.text)}")


def waits_for_nobody(run: Run) -> None:
    """a call that gets no answer blocks no other server, and ends at its deadline"""
    never, probe = run.name_of(run.stage.mute, "never"), run.stage.probes[-1]
    silent = Background(lambda: run.call(never, {}, DEADLINE))
    silent.thread.join(0.2)  # it has been sent by then, and waits
    waiting = silent.thread.is_alive()
    Background(lambda: run.probe(probe)).wait(FACT_LIMIT / 2, f"a call to {probe.server!r} gets no answer")
    if waiting and not silent.thread.is_alive():
        raise Refused(f"while {run.stage.mute!r} was silent, a call to {probe.server!r} waited too")
    late = f"call({never!r}, timeout={DEADLINE:g}) has not ended {PROMPT:g} s after its deadline"
    answer = silent.wait(DEADLINE + PROMPT, late)
    if not answer.is_error:
        raise Refused(f"{never!r} never answers, but call() gave {short(answer.text)} at the deadline")
    if not waiting:
        raise Refused(f"call({never!r}, timeout={DEADLINE:g}) ended at once, with: {short(answer.text)}")


def fails_what_waits(run: Run) -> None:
    """when a server is killed, a call that waits for it ends at once, with an error"""
    never = run.name_of(run.stage.mute, "never")
    waiting = Background(lambda: run.call(never, {}, 60.0))
    waiting.thread.join(0.3)  # it has been sent by then, or the server is dead when it is sent: an error in both cases
    os.kill(run.stage.pids(run.stage.mute)[-1], signal.SIGKILL)
    late = f"{run.stage.mute!r} was killed, and a call to it still waits: it ends with an error, and is not made again"
    answer = waiting.wait(PROMPT, late)
    if not answer.is_error:
        raise Refused(f"{run.stage.mute!r} was killed in a call, but the call gave {short(answer.text)}")


def notices_a_death(run: Run) -> None:
    """a killed server is restarted, or reported as not ready; the others work on"""
    stage, name = run.stage, run.stage.second
    lives = len(stage.pids(name))
    os.kill(stage.pids(name)[-1], signal.SIGKILL)
    run.probe(stage.probes[-1])
    tool = next(probe for probe in stage.probes if probe.server == name)
    seen: list[str] = []

    def noticed() -> bool:
        seen[:] = [run.state(name)]
        return len(stage.pids(name)) > lives or seen[0] != "ready"

    if not within(SETTLE, noticed):
        raise Refused(f"{name!r} was killed, and {SETTLE:g} s later status() still says 'ready' of the dead process")
    call = Background(lambda: run.call(run.name_of(name, tool.tool), tool.arguments))
    answer = call.wait(PROMPT, f"{name!r} was killed, and a call to it gets no answer, not even an error")
    if not answer.is_error and len(stage.pids(name)) == lives:
        raise Refused(f"{name!r} is dead, but a call to it gave {short(answer.text)}: another server answered")


def calls_once(run: Run) -> None:
    """a call that died with its server is never sent again"""
    stage = run.stage
    wait = run.name_of(stage.fragile, "wait")
    answer = run.call(wait, {}, 5.0)
    if not answer.is_error:
        raise Refused(f"{stage.fragile!r} died in the call, but it gave {short(answer.text)}")
    within(2.0, lambda: len(stage.pids(stage.fragile)) > 1 and run.state(stage.fragile) == "ready")
    if stage.calls_received() != 1:
        raise Refused(f"one call was made, and {stage.fragile!r} received {stage.calls_received()}")


def leaves_nothing(run: Run) -> None:
    """after close nothing is alive, a second close does no harm, and a call is an error"""
    Background(run.it.close).wait(CLOSE_LIMIT, f"close() has not returned after {CLOSE_LIMIT:g} s")
    pids = {pid: name for name in run.stage.servers for pid in run.stage.pids(name)}
    within(GONE, lambda: not any(map(exists, pids)))
    left = sorted({pids[pid] for pid in pids if exists(pid)})
    if left:
        raise Refused(f"after close() there is still a process of {', '.join(left)}")
    run.it.close()
    probe = run.stage.probes[-1]
    try:
        answer = run.call(probe.tool, probe.arguments)
    except Exception:
        return
    if not answer.is_error:
        raise Refused(f"after close() a call gave {short(answer.text)}")


FACTS: tuple[Callable[[Run], None], ...] = (
    opens, asks_the_allow_list, asks_the_path, says_why, sums_up, loses_no_name, refuses_a_policy, routes,
    refuses_a_tool, survives_the_flood, waits_for_nobody, fails_what_waits, notices_a_death, calls_once, leaves_nothing,
)  # fmt: skip


def exists(pid: int) -> bool:
    """Whether a process is in the system's table; one that nobody has waited for still is."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


# --- The run ----------------------------------------------------------------------------------


def accept(
    make: Make, *, seed: object = None, real: bool = False, modern: bool = False, first_only: bool = False
) -> Iterator[Fact]:
    """Ask for each fact in turn. With `first_only` the run ends at the first that does not hold.

    A fact that hangs ends the run too: after that nothing can be believed.
    """
    with tempfile.TemporaryDirectory() as folder:
        stage = make_stage(
            Path(folder), random.Random(str(seed) if seed is not None else None), real=real, modern=modern
        )
        run = Run(make, stage)
        closed = False
        try:
            for ask in FACTS:
                fact, hangs = examine(run, ask)
                closed = ask is leaves_nothing and fact.passed
                yield fact
                if hangs or run.harness is None or (first_only and not fact.passed):
                    return
        finally:
            if run.harness is not None and not closed:
                with contextlib.suppress(Exception):
                    Background(run.harness.close).wait(CLOSE_LIMIT, "")
            for name in stage.servers:
                for pid in filter(exists, stage.pids(name)):
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)


def examine(run: Run, ask: Callable[[Run], None]) -> tuple[Fact, bool]:
    """One fact, and whether it hung."""
    title = (ask.__doc__ or "").strip()
    limit = run.stage.start_limit + 1 if ask is opens else FACT_LIMIT
    try:
        Background(lambda: ask(run)).wait(limit, f"there is no answer after {limit:g} s")
    except Refused as refused:
        return Fact(title, False, f"{refused}."), isinstance(refused, Hangs)
    except BaseException as error:
        return Fact(title, False, f"it raised {type(error).__name__}: {str(error).rstrip('.')}."), False
    return Fact(title, True), False


def load(path: str) -> Make:
    """The class `Harness` of a Python file."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not hasattr(module, "Harness"):
        raise SystemExit(f"{path} has no class `Harness`")
    make: Make = module.Harness
    return make


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report; the exit code is 0 if every fact holds."""
    parser = argparse.ArgumentParser(prog="python -m mcp_harness.acceptance", description="Examine a harness.")
    parser.add_argument("file", nargs="?", help="a Python file with a class `Harness` (default: this package's own)")
    parser.add_argument("--real", action="store_true", help="servers from npm and PyPI in place of our own")
    parser.add_argument("--modern", action="store_true", help="one of our servers speaks 2026-07-28")
    options = parser.parse_args(argv)
    if options.file:
        make = load(options.file)
    else:
        from .harness import Harness as make
    passed = 0
    for fact in accept(make, real=options.real, modern=options.modern):
        print(fact, flush=True)
        passed += fact.passed
    print(f"{passed} of {len(FACTS)} facts hold.")
    return 0 if passed == len(FACTS) else 1


if __name__ == "__main__":
    sys.exit(main())
