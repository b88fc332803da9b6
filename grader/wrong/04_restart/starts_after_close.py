# %% [markdown]
# Mistake: a start that was planned before close is made after it, and nobody will ever end that process.

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
        now = self.clock.now()
        if self.retry_at is None and not self.process.alive:
            self.retry_at = now + self.backoff.failed(now - self.started_at)
        if self.retry_at is not None and now >= self.retry_at:
            self.start()

    def call(self, tool, arguments):
        """Send one call, once. Raises ServerDied if no process runs, or if it dies before it replies."""
        self.tick()
        if self.closed or self.retry_at is not None:
            raise ServerDied("no process runs at the moment")
        return self.process.call(tool, arguments)

    def close(self):
        """End the process, and start none afterwards."""
        self.closed = True
        if self.process.alive:
            self.process.close()
