# %% [markdown]
# Mistake: the numbers grow each time a name is added, although it was there already.

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
        node.count += 1
        for character in name:
            node = node.below.setdefault(character, Node())
            node.count += 1
        node.ends = True

    def under(self, prefix):
        """All names that begin with this prefix, sorted."""
        node = self._find(prefix)
        names, waiting = [], [] if node is None else [(prefix, node)]
        while waiting:
            text, node = waiting.pop()
            if node.ends:
                names.append(text)
            waiting += [(text + character, below) for character, below in node.below.items()]
        return sorted(names)

    def count(self, prefix):
        """How many names begin with this prefix."""
        node = self._find(prefix)
        return 0 if node is None else node.count

    def _find(self, prefix):
        """The node at the end of this prefix, or None."""
        node = self.root
        for character in prefix:
            node = node.below.get(character)
            if node is None:
                return None
        return node
