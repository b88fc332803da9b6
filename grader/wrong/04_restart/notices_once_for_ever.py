# %% [markdown]
# Mistake: who was noticed once is never noticed again, so the next trouble of this server stays unknown.

# %% id="task3" answer=true
NOTICE_AT = 3  # failures in a row


class Notices:
    """Tells once that a server keeps failing, and once that it works again."""

    def __init__(self, tell):
        self.tell = tell
        self.noticed, self.recovered = set(), set()

    def failed(self, server, failures):
        """The server failed; `failures` is the number in a row."""
        if failures >= NOTICE_AT and server not in self.noticed:
            self.noticed.add(server)
            self.tell(server, "notice")

    def ready(self, server):
        """The server has come up."""
        if server in self.noticed and server not in self.recovered:
            self.recovered.add(server)
            self.tell(server, "recovered")
