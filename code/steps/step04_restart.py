"""Step 4 of the small client: death, backoff, restart policy.

Made by `grader build` from lessons/04_restart.md.
"""

import time

from steps.step03_reader_thread import Connection, RequestTimeout, RpcError, ServerDied

FIRST_DELAY, MAX_DELAY = 1.0, 30.0  # seconds
SUSTAINED = 60.0  # seconds; who lived so long has left the old trouble behind
NOTICE_AT = 3  # failures in a row; one is an accident, three are a pattern


def delays():
    """Seconds to wait after the first failure in a row, after the second, and so on, without end."""
    delay = FIRST_DELAY
    while True:
        yield delay
        delay = min(2 * delay, MAX_DELAY)


class Backoff:
    """The failures of one server in a row. `clock` is a function that gives seconds."""

    def __init__(self, clock):
        self.clock, self.ready_at = clock, None
        self.reset()

    def reset(self):
        """Forget the row."""
        self.failures, self._delays = 0, delays()

    def ready(self):
        """The server is ready. That proves nothing yet: the row stays."""
        self.ready_at = self.clock()

    def failed(self):
        """Count one more failure; returns the seconds to wait."""
        if self.ready_at is not None and self.clock() - self.ready_at >= SUSTAINED:
            self.reset()
        self.ready_at = None
        self.failures += 1
        return next(self._delays)


class Restarts:
    """Notices the deaths of one server and starts it again. Somebody calls `look()` again and again; it never waits.

    With `stateful` a death is surfaced and the server stays down until `restart()`.
    `tell(event, text)` hears what happens.
    """

    def __init__(self, name, command, clock=time.monotonic, stateful=False, tell=print):
        self.name, self.command, self.clock = name, command, clock
        self.stateful, self.tell = stateful, tell
        self.backoff, self.noticed = Backoff(clock), False
        self.state, self.reason, self.retry_at = "disconnected", None, None
        self.connection, self.starts = None, 0

    def start(self):
        """The first start. It raises: a server that never came up is a wrong configuration, not an accident."""
        self._connect()
        return self

    def look(self):
        """Notice a death; make the start that is due."""
        if self.state == "ready" and not self.connection.alive:
            self._failed(self.connection.reason)
        if self.state == "restarting" and self.clock() >= self.retry_at:
            self._try_again()

    def restart(self):
        """A person asks for a new process. Earlier failures are forgotten."""
        if self.state == "closed":
            raise RuntimeError(f"server {self.name!r} was closed: make a new supervisor")
        self.connection.close("it is being restarted on request")
        self.backoff.reset()
        self._try_again()

    def close(self):
        """End the server. No start comes after it."""
        self.state, self.reason = "closed", "it was closed"
        if self.connection is not None:
            self.connection.close()

    def _connect(self):
        self.starts += 1
        self.connection = Connection(self.name, self.command).start()
        self.backoff.ready()
        self.state = "ready"

    def _failed(self, reason):
        delay, self.reason = self.backoff.failed(), reason
        if self.stateful:
            self.state = "failed"
            self.tell("failed", f"{self.name}: {reason}; what it remembered is lost")
            return
        self.state, self.retry_at = "restarting", self.clock() + delay
        self.tell("died", f"{self.name}: {reason}; next start in {delay:g} s")
        if self.backoff.failures == NOTICE_AT:
            self.noticed = True
            self.tell("notice", f"{self.name} failed {NOTICE_AT} times in a row")

    def _try_again(self):
        before = {tool["name"] for tool in self.connection.tools}
        try:
            self._connect()
        except (OSError, RuntimeError) as error:  # the old connection, and its list, stay
            self._failed(error.reason if isinstance(error, ServerDied) else str(error))
            return
        self.tell("recovered" if self.noticed else "ready", f"{self.name} works again")
        self.noticed = False
        after = {tool["name"] for tool in self.connection.tools}
        if before != after:
            added, removed = sorted(after - before), sorted(before - after)
            self.tell("tools_changed", f"{self.name}: added {added}, removed {removed}")


class Supervisor(Restarts):
    """A server that lives through many processes, used like one connection."""

    @property
    def alive(self):
        """Whether a call can be sent now. It looks first."""
        self.look()
        return self.state == "ready"

    @property
    def tools(self):
        """The newest list; it stays while the server is down."""
        return self.connection.tools

    def request(self, method, params=None, timeout=10.0):
        """Send a request, once. Raises ServerDied at once while the server is down."""
        if not self.alive:
            raise ServerDied(self.reason)
        return self.connection.request(method, params, timeout)

    def __enter__(self):
        return self.start()

    def __exit__(self, *error):
        self.close()


def sign_of_life(connection, timeout=5.0, method="ping"):
    """Whether the server answers in time. A server that does not is ended; the supervisor sees a death."""
    try:
        connection.request(method, timeout=timeout)
    except RpcError:
        pass  # an error is an answer
    except RequestTimeout:
        connection.close(f"it gave no sign of life within {timeout:g} s")
    return connection.alive
