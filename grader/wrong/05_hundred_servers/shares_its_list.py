# %% [markdown]
# Mistake: the list of results is a default argument, so all calls share one, and old answers come again.


# %% id="task2" answer=true
class Node:
    """A place in the trie: where one more character leads, whether a name ends here, how many end here or below."""

    def __init__(self):
        self.below, self.ends, self.count = {}, False, 0


class Trie:
    """Names by their characters."""

    def __init__(self):
        self.root = Node()

    def add(self, name):
        """Put a name in; a second time changes nothing."""
        node = self.root
        for character in name:
            node = node.below.setdefault(character, Node())
        node.ends = True

    def under(self, prefix, found=[]):  # noqa: B006
        """All names that begin with this prefix, sorted."""
        node = self.root
        for character in prefix:
            if character not in node.below:
                return []
            node = node.below[character]
        if node.ends:
            found.append(prefix)
        for character in sorted(node.below):
            self.under(prefix + character, found)
        return found

    def count(self, prefix):
        """How many names begin with this prefix."""
        return len(self.under(prefix))
