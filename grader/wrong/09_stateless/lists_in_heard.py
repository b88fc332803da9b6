# %% [markdown]
# Mistake: `heard` asks for the list itself, on the reader thread, which alone could read the answer.


# %% id="task4" answer=true
class Watch:
    """The tools of one server, kept up to date by notifications, and by polling in case one is lost."""

    def __init__(self, list_tools, every, clock):
        self.list_tools, self.every, self.clock = list_tools, every, clock
        self.changed, self.asked = False, clock()
        self.tools = list_tools()

    def heard(self, message):
        """A notification came."""
        if message["method"] == LIST_CHANGED:
            self.asked = self.clock()
            self.tools = self.list_tools()

    def tick(self):
        """List again, if it is time."""
        if self.clock() - self.asked >= self.every:
            self.asked = self.clock()
            self.tools = self.list_tools()
