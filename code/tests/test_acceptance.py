"""The acceptance run: it accepts the harnesses of the course, and refuses each wrong one with its sentence."""

import asyncio
import threading
import time

import pytest
from mcp_harness import SpawnError
from mcp_harness.acceptance import FACTS, PROMPT, accept, main
from mcp_harness.config import load_config
from mcp_harness.errors import HarnessError
from mcp_harness.harness import Harness, plan, read_policy, summary_line
from mcp_harness.sdk_host import SdkHost


class SdkHarness:
    """A thin adapter: the host on the official SDK behind the surface of a harness, its loop in a thread."""

    def __init__(self, document, allowed, policy="prefix"):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="sdk harness")
        self.thread.start()
        try:
            self.host = self.run(self.open(plan(load_config(document), allowed), read_policy(policy)))
        except BaseException:
            self.stop()
            raise

    async def open(self, configs, policy):
        return await SdkHost(configs, policy=policy).open()

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def tools(self):
        return self.host.tools()

    def call(self, name, arguments, timeout=60.0):
        if not self.loop.is_running():
            return {"content": [{"type": "text", "text": "the harness is closed"}], "isError": True}
        try:
            return self.run(self.host.call(name, arguments, timeout)).raw
        except HarnessError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}

    def status(self):
        states = self.host.status().items()
        return {name: "ready" if one.state == "ready" else f"{one.state}: {one.reason}" for name, one in states}

    def summary(self):
        return summary_line(self.host.status(), len(self.host.tools()))

    def close(self):
        if self.loop.is_running():
            self.run(self.host.close())
            self.stop()

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)
        self.loop.close()


def failures(make, **options):
    """What the run says against a harness."""
    facts = list(accept(make, seed="tests", **options))
    return {fact.title: fact.sentence for fact in facts if not fact.passed}


@pytest.mark.parametrize(
    "modern", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["2025-11-25", "both revisions"]
)
def test_the_harness_of_the_package_is_accepted(modern):
    assert failures(Harness, modern=modern) == {}


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_the_host_on_the_official_sdk_is_accepted():
    assert failures(SdkHarness, modern=True) == {}


@pytest.mark.slow
def test_both_are_accepted_with_servers_from_npm_and_pypi():
    assert failures(Harness, real=True) == {}
    assert failures(SdkHarness, real=True) == {}


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_fact(capsys):
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(FACTS) + 1
    assert all(line.startswith("✓ ") for line in lines[:-1])
    assert lines[-1] == "15 of 15 facts hold."


def test_the_command_takes_a_file_and_its_exit_code_tells(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text("class Harness:\n    def __init__(self, document, allowed, policy):\n        raise OSError('no')\n")
    assert main([str(file)]) == 1
    assert "it raised OSError: no." in capsys.readouterr().out


# --- One wrong harness for each fact ---------------------------------------------------------


class GivesUp(Harness):
    """One server that cannot start costs all of them."""

    def __init__(self, document, allowed, policy="prefix"):
        super().__init__(document, allowed, policy)
        if any(state != "ready" for state in self.status().values()):
            self.close()
            raise SpawnError("somebody", "a server could not be started")


class AllowsAll(Harness):
    """Whatever is in the list is taken for permission."""

    def __init__(self, document, allowed, policy="prefix"):
        super().__init__(document, [entry["command"] for entry in document["mcpServers"].values()], policy)


class SaysNoCommand(Harness):
    """The reason does not name the command."""

    def status(self):
        return {name: state.replace("no-such-program-10", "it") for name, state in super().status().items()}


class SaysFailed(Harness):
    """A word in place of a reason."""

    def status(self):
        return {name: "failed" if "did not start" in state else state for name, state in super().status().items()}


class CountsOnly(Harness):
    """A summary without names."""

    def summary(self):
        return super().summary().partition(";")[0]


class Overwrites(Harness):
    """The last one wins."""

    def tools(self):
        return {entry.local_name: entry for entry in super().tools().values()}

    def summary(self):
        return summary_line(self._host.status(), len(self.tools()))


class GuessesPolicy(Harness):
    """An unknown policy becomes prefix."""

    def __init__(self, document, allowed, policy="prefix"):
        super().__init__(document, allowed, policy if policy == "reject" else "prefix")


class TakesNamesApart(Harness):
    """The server is cut out of the name."""

    def call(self, name, arguments, timeout=60.0):
        if "/" in name:
            server, local = name.split("/", 1)
            owners = {(tool.server_name, tool.local_name): one for one, tool in self.tools().items()}
            name = owners.get((server, local), name)
        return super().call(name, arguments, timeout)


class ForgivesUnknown(Harness):
    """An unknown tool gives an empty result."""

    def call(self, name, arguments, timeout=60.0):
        return super().call(name, arguments, timeout) if name in self.tools() else {"content": [], "isError": False}


class StandsInTheFlood(Harness):
    """Calls to the flooding server hang, as with an undrained stderr."""

    def call(self, name, arguments, timeout=60.0):
        if name == "lamp":
            time.sleep(4)
        return super().call(name, arguments, timeout)


class OneAtATime(Harness):
    """One lock for all calls."""

    lock = threading.Lock()

    def call(self, name, arguments, timeout=60.0):
        with self.lock:
            return super().call(name, arguments, timeout)


class WaitsForTheDead(Harness):
    """A call in flight is not failed when its server dies."""

    def call(self, name, arguments, timeout=60.0):
        result = super().call(name, arguments, timeout)
        if name == "never" and timeout > 10:
            time.sleep(PROMPT + 0.5)  # not longer: nothing waits for this thread
        return result


class StaleStatus(Harness):
    """The state is that of the start."""

    def __init__(self, document, allowed, policy="prefix"):
        document = {"mcpServers": {name: {**one, "restart": "never"} for name, one in document["mcpServers"].items()}}
        super().__init__(document, allowed, policy)
        self.kept = super().status()

    def status(self):
        return self.kept


class CallsAgain(Harness):
    """A call that died is sent again when the server is back."""

    def call(self, name, arguments, timeout=60.0):
        result = super().call(name, arguments, timeout)
        if name == "wait":
            for _ in range(40):
                if "is not running" not in str(result):
                    break
                time.sleep(0.1)
                result = super().call(name, arguments, timeout)
        return result


class LeavesAll(Harness):
    """`close` forgets what it started. The test ends it."""

    left: list["LeavesAll"] = []  # noqa: RUF012

    def close(self):
        self.left.append(self)


WRONG = {
    GivesUp: ("a list with three bad entries starts", "it raised SpawnError"),
    AllowsAll: ("a command that is not on the allow-list", "was started, although its command 'sh' is not on"),
    SaysNoCommand: ("a command that is not on PATH", "but a sentence that says why with 'no-such-program-10' in it"),
    SaysFailed: ("a server that exits at once", "status() says 'failed' of"),
    CountsOnly: ("the summary is one line", "is not named in the summary '6 of 9 servers ready, 34 tools'"),
    Overwrites: ("each tool of each server has a name", "are the same program, but tools() has"),
    GuessesPolicy: ("a policy that nobody knows", "a harness with the policy 'last-one-wins' was made"),
    TakesNamesApart: ("a call reaches the server", "look the name up, do not take it apart"),
    ForgivesUnknown: ("an unknown tool", "but an error that names it was expected"),
    StandsInTheFlood: ("a megabyte on stderr", "does not answer: is its stderr read?"),
    OneAtATime: ("a call that gets no answer", "waited too"),
    WaitsForTheDead: ("when a server is killed", "was killed, and a call to it still waits"),
    StaleStatus: ("a killed server is restarted", "still says 'ready' of the dead process"),
    CallsAgain: ("a call that died", "one call was made, and"),
    LeavesAll: ("after close nothing is alive", "after close() there is still a process of"),
}


def test_each_fact_has_a_wrong_harness():
    titles = [ask.__doc__ for ask in FACTS]
    assert len(WRONG) == len(titles)
    for title, (start, _) in zip(titles, WRONG.values(), strict=True):
        assert title.startswith(start)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_harness_is_refused_with_its_sentence(wrong):
    start, sentence = WRONG[wrong]
    try:
        *before, last = accept(wrong, seed="tests", first_only=True)
        assert all(fact.passed for fact in before)
        assert not last.passed
        assert last.title.startswith(start), str(last)
        assert sentence in last.sentence
    finally:
        while LeavesAll.left:
            Harness.close(LeavesAll.left.pop())


@pytest.mark.slow
def test_a_harness_that_never_opens_ends_the_run_and_leaves_nothing():
    gate = threading.Event()

    class Hangs(Harness):
        def __init__(self, document, allowed, policy="prefix"):
            super().__init__(document, allowed, policy)
            gate.wait(25)
            self.close()

    facts = list(accept(Hangs, seed="tests"))
    gate.set()
    assert [fact.passed for fact in facts] == [False]
    assert "it is not open after 10 s" in facts[0].sentence
