# %% [markdown]
# Mistake: it sleeps until the delay is over; whoever called stands still, and so does every test.

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
        if self.closed:
            return
        if not self.process.alive:
            time.sleep(self.backoff.failed(self.clock.now() - self.started_at))
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
        self.process.close()
