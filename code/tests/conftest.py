"""What every test here stands on: faulty servers, gates, events with a deadline, and the leak check.

Each test runs under a hard time limit, and is followed by a count of descriptors, threads and
processes: what it started must be gone. An exception that ends a thread fails the test too.
"""

import collections
import contextlib
import http.server
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import pytest

CODE = Path(__file__).resolve().parents[1]
FAULTY = CODE / "servers" / "faulty.py"
HERE = Path(__file__).parent
FAULT_TABLE = HERE / "faults" / "README.md"
OLD, NEW = "2025-11-25", "2026-07-28"  # the revisions
TIME_LIMIT, SLOW_TIME_LIMIT = 30, 90  # seconds for one test; a healthy one needs a tenth of it
PATIENCE = 10.0  # seconds until a wait for something that must come fails


# --- Time limits and the fault table -------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis does not time its own drawing: on a busy machine its first look at all of Unicode takes seconds."""
    calm = hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.register_profile("calm", calm)
    hypothesis.settings.load_profile("calm")
    config.addinivalue_line("markers", "both_eras: holds in both revisions, and runs in both")
    config.addinivalue_line("markers", "both_ways: runs once more with callers who always read for themselves")
    config.addinivalue_line("markers", "fault(kind): proves the behaviour in one row of faults/README.md")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make test-fast` does not import the packages of three model providers: each process needs seconds for them."""
    return True if config.option.markexpr == "not slow" and collection_path.name == "test_model_packages.py" else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test marked `both_eras` runs once for each revision of its faulty servers."""
    if metafunc.definition.get_closest_marker("both_eras"):
        eras = [OLD, pytest.param(NEW, marks=pytest.mark.slow)]  # `make test-fast` asks in one revision
        metafunc.parametrize("faulty", eras, indirect=True, ids=["2025", "2026"])
    if metafunc.definition.get_closest_marker("both_ways"):
        ways = ["asleep", pytest.param("awake", marks=pytest.mark.slow)]
        metafunc.parametrize("way", ways, indirect=True)


def fault_kinds() -> dict[str, str]:
    """The table of faults/README.md: kind → where it was seen."""
    rows = [line.split("|") for line in FAULT_TABLE.read_text("utf-8").splitlines() if line.startswith("|")]
    return {cells[1].strip(): cells[2].strip() for cells in rows[2:]}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    kinds = fault_kinds()
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SLOW_TIME_LIMIT if item.get_closest_marker("slow") else TIME_LIMIT))
        for marker in item.iter_markers("fault"):
            if marker.args[0] not in kinds:
                raise pytest.UsageError(f"{item.nodeid}: {FAULT_TABLE} has no row {marker.args[0]!r}")
            item.user_properties.append(("fault", marker.args[0]))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the fault table: each kind, how many of its variants passed, where it was seen."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for outcome in ("passed", "failed", "error", "skipped"):
        for outcome_report in terminalreporter.getreports(outcome):
            for key, kind in getattr(outcome_report, "user_properties", ()):  # a file that cannot be collected has none
                if key == "fault" and (outcome_report.when == "call" or outcome != "passed"):
                    counts[kind][outcome] += 1
    if not counts:
        return
    terminalreporter.section("faults: variants passed, kind, seen in")
    for kind, seen_in in fault_kinds().items():
        if kind in counts:
            passed, total = counts[kind]["passed"], counts[kind].total()
            verdict = f"{passed:3} ok" if passed == total else f"{total - passed} of {total} FAILED"
            terminalreporter.line(f"{verdict}  {kind}  [{seen_in}]")
    whole = sum(1 for count in counts.values() if count["passed"] == count.total())
    variants = sum(count.total() for count in counts.values())
    terminalreporter.line(f"{whole} of {len(counts)} kinds behave, in {variants} variants")


# --- Nothing stays behind ------------------------------------------------------------------


def processes() -> dict[int, tuple[int, str]]:
    """Every process of this machine: pid → (its parent, its command line). A zombie has no command line."""
    found = {}
    if not Path("/proc/self/stat").exists():  # macOS
        listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,command="], capture_output=True, text=True, check=True)
        for line in listing.stdout.splitlines():
            pid, parent, command = line.split(maxsplit=2)
            if not command.startswith("ps -A"):
                found[int(pid)] = (int(parent), command)
        return found
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text("latin-1").rpartition(")")[2].split()[1])
            found[int(folder.name)] = (parent, (folder / "cmdline").read_text("latin-1").replace("\0", " "))
        except OSError:
            pass  # it ended while we looked
    return found


def children() -> dict[int, str]:
    """Our own children, zombies too."""
    return {pid: command or "a zombie" for pid, (parent, command) in processes().items() if parent == os.getpid()}


def descriptors() -> dict[int, str]:
    """Our open descriptors and, where the system tells, what they are."""
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    found = {}
    for name in os.listdir(folder):
        try:
            os.fstat(int(name))  # the one that listed the folder is closed again
            found[int(name)] = os.readlink(f"{folder}/{name}") if folder.startswith("/proc") else "a descriptor"
        except OSError:
            pass
    return {number: what for number, what in found.items() if not what.endswith(".ttf")}  # matplotlib keeps its fonts


class Leaks:
    """What there is of descriptors, threads and children, and what has come since."""

    def __init__(self) -> None:
        self.descriptors, self.threads, self.children = descriptors(), set(threading.enumerate()), children()

    def since(self, mark: str | None = None) -> list[str]:
        """A sentence for each thing that is still there; `mark` is in the command line of all that a test started."""
        for thread in self.new_threads():
            thread.join(1)
        found = [f"thread {thread.name!r} runs on" for thread in self.new_threads()]
        now = descriptors()
        if len(now) > len(self.descriptors):
            new = sorted(now.items() - self.descriptors.items())
            found += [f"descriptor {number} is open: {name}" for number, name in new]
        found += [f"child {pid} is there: {name}" for pid, name in children().items() if pid not in self.children]
        if mark:
            found += [f"process {pid} is alive: {name}" for pid, name in self.wait_for_the_killed(mark).items()]
        return found

    def new_threads(self) -> set[threading.Thread]:
        """Threads that run. Python also lists, for ever, one that a Ctrl-C inside its `start` kept from beginning."""
        return {one for one in set(threading.enumerate()) - self.threads if one._started.is_set()}

    @staticmethod
    def wait_for_the_killed(mark: str) -> dict[int, str]:
        """A grandchild is not ours to wait for, so a killed one gets a moment to vanish."""
        deadline = time.monotonic() + 1
        while marked := {pid: name for pid, (_, name) in processes().items() if mark in name}:
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
        return marked


marks = itertools.count(1)


@pytest.fixture
def mark() -> str:
    """A word in the command line of every server that this test starts."""
    return f"test-{os.getpid()}-{next(marks)}-"


@pytest.fixture(autouse=True)
def nothing_stays_behind(mark: str) -> Iterator[None]:
    """Fails a test that leaves a descriptor, a thread, a child or a grandchild."""
    before = Leaks()
    yield
    left = before.since(mark)
    for pid, (_, command) in processes().items():
        if mark in command:
            os.kill(pid, 9)  # a failed test must not disturb the next one
    assert not left, "left behind: " + "; ".join(left)


@pytest.fixture
def until() -> Callable[[Callable[[], object]], None]:
    """`until(condition)`: look again and again, for what no event tells; fails when it does not come."""

    def look(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"it did not come within {PATIENCE} s"
            time.sleep(0.005)

    return look


@pytest.fixture
def running() -> Callable[[], dict[int, tuple[int, str]]]:
    """The processes of this machine, zombies too."""
    return processes


@pytest.fixture
def leaks() -> type[Leaks]:
    """For a test that counts by itself."""
    return Leaks


@pytest.fixture(autouse=True)
def no_thread_dies(nothing_stays_behind: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails a test in which an exception ended a thread."""
    raised: list[str] = []

    def hook(given: threading.ExceptHookArgs) -> None:
        name = given.thread.name if given.thread else "a thread"
        raised.append(f"{name}: {given.exc_type.__name__}: {given.exc_value}")

    monkeypatch.setattr(threading, "excepthook", hook)
    yield
    assert not raised, "a thread died of an exception: " + "; ".join(raised)


# --- Servers, gates, events ----------------------------------------------------------------


@pytest.fixture(autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For `both_ways`: the reader thread is out as often as it can be, and callers stay awake; see intake.py."""
    if getattr(request, "param", "") == "awake":
        from mcp_harness import intake

        always = property(lambda self: True, lambda self, value: None)
        monkeypatch.setattr(intake.Intake, "brisk", always, raising=False)
        monkeypatch.setattr(intake, "AWAKE", 0.05)


class Gate:
    """A FIFO at which a faulty server waits until we open it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)

    def __str__(self) -> str:
        return str(self.path)

    def arrive(self) -> Any:
        """Return when the server is at the gate; closing what is returned lets it through."""
        return open(self.path, "wb")

    def open(self) -> None:
        """Wait for the server at the gate and let it through."""
        self.arrive().close()


@pytest.fixture
def gate(tmp_path: Path) -> Callable[[], Gate]:
    """Makes gates."""
    numbers = itertools.count(1)
    return lambda: Gate(tmp_path / f"gate{next(numbers)}")


@pytest.fixture
def faulty(mark: str, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`faulty("mode", "--option", value, name=…, start_timeout=…)`: the configuration of a faulty server.

    `era` is what the server speaks and what the client is told; `client_era` what the client is told instead.
    """
    from mcp_harness import ServerConfig

    def configure(mode: str, *arguments: object, name: str = "faulty", **config: Any) -> ServerConfig:
        era = config.pop("era", getattr(request, "param", OLD))
        config["era"] = config.pop("client_era", era)
        # -I -S: the server needs nothing but the standard library, and starts twice as fast
        command = ["-I", "-S", str(FAULTY), mode, *map(str, arguments), "--era", era, "--mark", mark]
        return ServerConfig(name, sys.executable, tuple(command), **config)

    return configure


class Events:
    """Collects what a host reports; `wait` returns as soon as it has come."""

    def __init__(self) -> None:
        self._seen: list[Any] = []
        self._changed = threading.Condition()

    def __call__(self, event: Any) -> None:
        with self._changed:
            self._seen.append(event)
            self._changed.notify_all()

    def seen(self, kind: str | None = None, server: str | None = None) -> list[Any]:
        """The events so far, of one kind and one server if given."""
        with self._changed:
            events = list(self._seen)
        return [event for event in events if kind in (None, event.kind) and server in (None, event.server)]

    def wait(self, kind: str, server: str | None = None, number: int = 1, timeout: float = PATIENCE) -> Any:
        """The event of that kind, or the `number`th of them; fails when it does not come in time."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.seen(kind, server)) >= number, timeout)
        assert came, f"no {kind} number {number} within {timeout} s, only {self.seen()}"
        return self.seen(kind, server)[number - 1]


@pytest.fixture
def http_server() -> Iterator[Callable[[type[http.server.BaseHTTPRequestHandler]], http.server.HTTPServer]]:
    """`http_server(handler)`: an HTTP server on loopback. `seen` is an empty list for the handler to fill."""
    with contextlib.ExitStack() as ends:

        def start(handler: type[http.server.BaseHTTPRequestHandler]) -> http.server.HTTPServer:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
            server.daemon_threads = True
            server.seen = []
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            ends.callback(server.server_close)
            ends.callback(thread.join)
            ends.callback(server.shutdown)
            return server

        yield start


@pytest.fixture
def alarm() -> Iterator[Callable[[Callable[..., Any], float], None]]:
    """`alarm(function, seconds)`: then a Ctrl-C, if the main thread is inside that function by then."""
    struck: list[Callable[..., Any]] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code is struck[-1].__code__:
                raise KeyboardInterrupt
            frame = frame.f_back

    def set_alarm(function: Callable[..., Any], seconds: float) -> None:
        struck[:] = [function]
        signal.setitimer(signal.ITIMER_REAL, seconds)

    before = signal.signal(signal.SIGALRM, interrupt)
    yield set_alarm
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def memory() -> Callable[[], Any]:
    """`with memory() as grown:` then `grown()` is how many bytes Python has taken in the block and not given back."""

    @contextlib.contextmanager
    def trace() -> Iterator[Callable[[], int]]:
        tracemalloc.start()
        try:
            yield lambda: tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    return trace


@pytest.fixture
def events() -> Events:
    """For `Host(…, on_event=events)`."""
    return Events()


@pytest.fixture
def facts() -> Callable[..., dict[str, Any]]:
    """`facts(host)`: what the tool `report` of a faulty server tells about its process and what it received."""

    def ask(host: Any, tool: str = "report") -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(host.call(tool, timeout=PATIENCE).text)
        return answer

    return ask


@pytest.fixture
def fault_tests() -> dict[str, int]:
    """Kind → how many tests here name it; read from the source, so it holds for a part of the tests too."""
    source = "".join(path.read_text("utf-8") for path in Path(__file__).parent.rglob("test_*.py"))
    return collections.Counter(re.findall(r"mark\.fault\(\"(.+?)\"\)", source))
