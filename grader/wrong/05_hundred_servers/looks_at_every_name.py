# %% [markdown]
# Mistake: a list of names and startswith: it works, and looks at every name for each question.

# %% id="task2" answer=true
class Trie:
    """Names in a list."""

    def __init__(self):
        self.names = []

    def add(self, name):
        """Put a name in; a second time changes nothing."""
        if name not in self.names:
            self.names.append(name)

    def under(self, prefix):
        """All names that begin with this prefix, sorted."""
        return sorted(name for name in self.names if name.startswith(prefix))

    def count(self, prefix):
        """How many names begin with this prefix."""
        return len(self.under(prefix))
