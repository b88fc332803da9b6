"""One server process: spawn it, read it, write to it, end it. No JSON here, only lines and frames.

Guarantees: three pipes and one thread a server. stdout and stderr are read from the first
moment, so neither can fill up and block the server; of stderr the last lines are kept. The
process has a session of its own: a Ctrl-C in our terminal does not reach it, and its whole
group (npx and the node below it) is ended with it. Every process is reaped. When the process
ends, or closes its stdout, `on_end` is called once with a reason, from the reader thread.

What it leaves out: a parent-death signal (it fires when the *thread* that spawned ends). When
the client itself is killed, its pipes close and a server that obeys the end of stdin ends too;
one that ignores it lives on. A grandchild that made a session of its own is out of reach.

Source: stdio transport, section "Shutdown": close stdin, wait, SIGTERM, wait, SIGKILL.
"""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .config import ServerConfig
from .errors import SpawnError
from .intake import CHUNK, Intake
from .latch import Latch
from .pipes import FrameWriter
from .wire import Line

INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
LAST_READS = 16  # of a process that has ended: its pipe holds no more, and a grandchild might write for ever
TICK = 0.5  # seconds between two looks whether a silent process still lives
STDERR_BYTES, STDERR_LINES = 64 * 1024, 50  # what is kept of stderr: a long traceback fits
EOF_GRACE = 2.0  # seconds to end after the end of stdin, as other clients give
TERM_GRACE = 2.0  # seconds to end after SIGTERM
KILL_GRACE = 2.0  # seconds for the kernel to end a killed process and for us to reap it
EXIT_GRACE = 0.5  # seconds between closing stdout and ending: an exit code tells more than a closed pipe
GROUP_GRACE = 0.5  # seconds for orphans of the group to end after SIGTERM
LAST_GRACE = EXIT_GRACE + EOF_GRACE + TERM_GRACE + KILL_GRACE + GROUP_GRACE  # no process takes longer to end

Spawn = Callable[..., "subprocess.Popen[bytes]"]


class Transport:
    """One process and its pipes. Made running; raises SpawnError if it cannot be started."""

    def __init__(
        self,
        config: ServerConfig,
        on_line: Callable[[Line], None],
        on_end: Callable[[str], None],
        spawn: Spawn = subprocess.Popen,
    ) -> None:
        self._on_end = on_end
        self._process = start_process(config, spawn)
        self.pid = self._process.pid
        self._name = config.name
        self.done = Latch()  # set when the process is reaped and all pipes are closed
        self.closing = False
        self._condemned: str | None = None
        self._stderr = bytearray()
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        if not (stdin and stdout and stderr):
            self._process.kill()
            self._process.wait(KILL_GRACE)
            raise SpawnError(config.name, f"server {config.name!r}: `spawn` gave a process without three pipes")
        self.writer, self._streams = FrameWriter(stdin), (stdout, stderr)
        self._out, self._err = stdout.fileno(), stderr.fileno()
        for fd in (self._out, self._err, self.writer.fd):
            os.set_blocking(fd, False)  # our ends only: the server's ends stay as they are
        self.intake = Intake(self._out, on_line)

    def start(self) -> None:
        """Begin to read. Apart from the constructor, so that callbacks find their owner complete."""
        try:
            threading.Thread(target=self._read, name=f"mcp-reader-{self._name}", daemon=True).start()
        except RuntimeError as error:  # no thread to be had: without a reader there is no session
            self.signal(signal.SIGKILL)
            self._process.wait(KILL_GRACE)
            self._close_pipes()
            self.done.set()
            raise SpawnError(self._name, f"server {self._name!r} was ended: no thread to read it ({error})") from error

    @property
    def exited(self) -> bool:
        """True when the process has ended, perhaps before the reader knows."""
        return self._process.poll() is not None

    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines of stderr, oldest first."""
        lines = bytes(self._stderr[-STDERR_BYTES:]).decode("utf-8", "replace").split("\n")
        if not lines[-1]:
            lines.pop()
        return tuple(line.rstrip("\r") for line in lines[-STDERR_LINES:])

    def condemn(self, reason: str) -> None:
        """End a process that is of no use any more; `on_end` will give this reason."""
        self._condemned = reason
        self.signal(signal.SIGKILL)

    def begin_close(self) -> None:
        """Close stdin: the polite request to end."""
        self.closing = True
        self.writer.close()
        self.intake.call_back()

    def signal(self, number: int) -> None:
        """Send a signal to the whole group of the process, if it is not gone."""
        if self.done.is_set():  # by now the number may belong to somebody else
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    # --- the reader thread ---------------------------------------------------------------

    def _read(self) -> None:
        try:
            try:
                self._read_until_end()
            except Exception as error:  # a fault of ours, not of the server: it must not leave callers waiting
                self.condemn(f"its reader failed ({type(error).__name__}: {error}), so it was ended")
            self._finish()
        finally:
            self._close_pipes()
            self.done.set()

    def _read_until_end(self) -> None:
        """Read both pipes until stdout ends or the process does."""
        poller = select.poll()
        poller.register(self._out, select.POLLIN)
        poller.register(self._err, select.POLLIN)
        writing, next_look = -1, time.monotonic() + TICK
        while True:
            if self.writer.waiting != (writing >= 0):
                writing = self._watch_writer(poller, writing)
            if self.intake.wanted and self.intake.step_aside() and not self.intake.read():
                return
            events = poller.poll(0 if self.intake.wanted else TICK * 1000)
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + TICK
                if self.exited:  # a grandchild holds the pipe open, perhaps even writes to it
                    for _ in range(LAST_READS):
                        self.intake.read()
                    return
            for fd, _ in events:
                if fd == self._out:
                    if not self.intake.lent and not self.intake.read():
                        return
                elif fd == self._err:
                    if not self._read_stderr():
                        poller.unregister(fd)
                else:
                    self.writer.flush()

    def _watch_writer(self, poller: "select.poll", writing: int) -> int:
        """Watch stdin for room while frames wait for it, and only then."""
        if writing >= 0:
            poller.unregister(writing)
            return -1
        fd = self.writer.fd
        if fd >= 0:
            poller.register(fd, select.POLLOUT)
        return fd

    def _read_stderr(self) -> bool:
        """Take what stderr has now; False at its end."""
        try:
            data = os.read(self._err, CHUNK)
        except BlockingIOError:
            return True
        self._stderr += data
        if len(self._stderr) > 2 * STDERR_BYTES:
            del self._stderr[:-STDERR_BYTES]
        return bool(data)

    def _finish(self) -> None:
        """After the end of stdout: learn why, say so, and leave nothing of the group alive."""
        exited = self._wait_exit(EOF_GRACE + TERM_GRACE + KILL_GRACE if self.closing else EXIT_GRACE)
        self._on_end(self._reason(exited))
        if not exited:
            self.signal(signal.SIGTERM)
            if not self._wait_exit(TERM_GRACE):
                self.signal(signal.SIGKILL)
                self._wait_exit(KILL_GRACE)
        end_group(self.pid)

    def _wait_exit(self, seconds: float) -> bool:
        """Wait until the process has ended, reading its stderr all the while."""
        deadline = time.monotonic() + seconds
        pause = 0.0005  # seconds; doubled each round: most processes end at once
        open_stderr = True
        poller = select.poll()
        poller.register(self._err, select.POLLIN)
        while True:
            exited = self.exited
            for _ in range(LAST_READS):
                if not open_stderr or not poller.poll(0 if exited else pause * 1000):
                    break
                open_stderr = self._read_stderr()
            if exited or time.monotonic() >= deadline:
                return exited
            if not open_stderr:
                time.sleep(pause)
            pause = min(2 * pause, 0.02)

    def _reason(self, exited: bool) -> str:
        if self._condemned:
            return self._condemned
        if not exited:
            return "it closed its stdout but kept running, so it was ended"
        code = self._process.returncode
        if code >= 0:
            return f"it exited with code {code}"
        with contextlib.suppress(ValueError):
            return f"it was killed by signal {signal.Signals(-code).name}"
        return f"it was killed by signal {-code}"

    def _close_pipes(self) -> None:
        self.writer.close()
        for stream in self._streams:
            stream.close()


# --- starting ----------------------------------------------------------------------------


def child_environment(config: ServerConfig) -> dict[str, str]:
    """A short list of harmless variables, plus what the configuration declares: no secret leaks by accident."""
    env = {key: os.environ[key] for key in INHERITED if key in os.environ}
    return {**env, **config.env}


def portable(text: str) -> str | bytes:
    """Text as UTF-8 whatever the code page of this program is; ASCII needs no help."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape")


def start_process(config: ServerConfig, spawn: Spawn) -> "subprocess.Popen[bytes]":
    """Start the server with three byte pipes, in a session of its own. Raises SpawnError."""
    env = child_environment(config)
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    try:
        return spawn(
            [portable(word) for word in (config.command, *config.args)],
            env={portable(key): portable(value) for key, value in env.items()},
            cwd=config.cwd,
            bufsize=0,  # plain descriptors: nothing of ours buffers between us and the server
            start_new_session=True,
            **pipes,
        )
    except (OSError, ValueError) as error:
        raise SpawnError(config.name, spawn_message(config, env, error)) from error


def spawn_message(config: ServerConfig, env: dict[str, str], error: Exception) -> str:
    """Why a command did not start, with what a person needs to mend it."""
    lines = [f"server {config.name!r} could not be started: {error}.", f"command: {show_command(config)}"]
    if config.cwd is not None and not os.path.isdir(config.cwd):
        lines.append(f"the working folder {os.fspath(config.cwd)!r} does not exist")
    elif "/" not in config.command:
        lines.append(f"PATH searched: {env.get('PATH', os.defpath)}")
    lines += space_hints(config)
    return "\n  ".join(lines)


def show_command(config: ServerConfig) -> str:
    """The command as a list, so that the borders of the words are seen."""
    return repr([config.command, *config.args])


def space_hints(config: ServerConfig) -> Sequence[str]:
    """A word with a space in it is the commonest mistake: no shell splits it here."""
    hints = []
    if " " in config.command:
        hints.append(f"the command {config.command!r} has a space in it: give the words behind the first as args")
    for arg in config.args:
        if " " in arg:
            hints.append(f"the argument {arg!r} has a space in it: it goes to the server as one word")
    return hints


# --- ending ------------------------------------------------------------------------------


def shut_down(transports: Iterable[Transport]) -> None:
    """End many processes together: close stdin, wait, SIGTERM, wait, SIGKILL; bounded, whatever they do.

    If it is interrupted (Ctrl-C), it kills what is left and then passes the interrupt on.
    """
    left = list(transports)
    try:
        for transport in left:
            transport.begin_close()
        left = still_running(left, EOF_GRACE)
        for transport in left:
            transport.signal(signal.SIGTERM)
        left = still_running(left, TERM_GRACE)
    finally:
        kill(left)


def kill(transports: Iterable[Transport]) -> None:
    """End processes without asking."""
    victims = list(transports)
    for transport in victims:
        transport.begin_close()
        transport.signal(signal.SIGKILL)
    still_running(victims, KILL_GRACE)


def still_running(transports: Iterable[Transport], seconds: float) -> list[Transport]:
    """Those that are not done after that many seconds, all waited for together."""
    deadline = time.monotonic() + seconds
    return [one for one in transports if not one.done.wait(max(0.0, deadline - time.monotonic()))]


def end_group(group: int) -> None:
    """End what is left of a process group whose leader has ended: the grandchildren."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
        deadline = time.monotonic() + GROUP_GRACE
        while time.monotonic() < deadline:
            os.killpg(group, 0)  # raises ProcessLookupError when the group is empty
            time.sleep(0.01)
        os.killpg(group, signal.SIGKILL)
