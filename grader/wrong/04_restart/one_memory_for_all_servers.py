# %% [markdown]
# Mistake: one flag for all servers: when another server comes up, it is told as recovered.

# %% id="task3" answer=true
NOTICE_AT = 3  # failures in a row


class Notices:
    """Tells once that a server keeps failing, and once that it works again."""

    def __init__(self, tell):
        self.tell = tell
        self.noticed = False

    def failed(self, server, failures):
        """The server failed; `failures` is the number in a row."""
        if failures == NOTICE_AT:
            self.noticed = True
            self.tell(server, "notice")

    def ready(self, server):
        """The server has come up."""
        if self.noticed:
            self.noticed = False
            self.tell(server, "recovered")
