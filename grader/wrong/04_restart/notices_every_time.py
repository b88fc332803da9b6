# %% [markdown]
# Mistake: from the third failure on there is a notice each time, so a dead server fills the screen.

# %% id="task3" answer=true
NOTICE_AT = 3  # failures in a row


class Notices:
    """Tells once that a server keeps failing, and once that it works again."""

    def __init__(self, tell):
        self.tell = tell
        self.noticed = set()

    def failed(self, server, failures):
        """The server failed; `failures` is the number in a row."""
        if failures >= NOTICE_AT:
            self.noticed.add(server)
            self.tell(server, "notice")

    def ready(self, server):
        """The server has come up."""
        if server in self.noticed:
            self.noticed.discard(server)
            self.tell(server, "recovered")
