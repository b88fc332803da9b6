# %% [markdown]
# Mistake: the list is only asked for when a notification comes; one that is lost is lost for ever.


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
            self.changed = True

    def tick(self):
        """List again, if it is time."""
        if self.changed:
            self.changed, self.asked = False, self.clock()
            self.tools = self.list_tools()
