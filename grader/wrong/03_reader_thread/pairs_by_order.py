# %% [markdown]
# Mistake: the oldest request gets whatever reply comes next, as if replies came in order.


# %% id="task1" answer=true
class MyTracker:
    """The requests that wait for a reply."""

    def __init__(self):
        self.lock, self.last, self.pending = threading.Lock(), 0, {}

    def add(self):
        """A new id, and the future that its reply will fill."""
        with self.lock:
            self.last += 1
            self.pending[self.last] = Future()
            return self.last, self.pending[self.last]

    def take(self, request_id):
        """Remove and return the future of this id; None if nobody waits for it."""
        with self.lock:
            return self.pending.pop(min(self.pending, default=None), None)
