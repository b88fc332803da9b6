"""A trie of names, for browsing by prefix. Built once for a table, then only read.

What it leaves out: removal. The table is replaced as a whole, and its trie with it.
"""

from collections.abc import Iterable


class _Node:
    __slots__ = ("below", "ends")

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.ends = False


class Trie:
    """Names by their characters. Finding a prefix costs its length, not the number of names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._root = _Node()
        for name in names:
            node = self._root
            for character in name:
                node = node.below.setdefault(character, _Node())
            node.ends = True

    def under(self, prefix: str) -> list[str]:
        """All names that begin with `prefix`, sorted."""
        node = self._root
        for character in prefix:
            if character not in node.below:
                return []
            node = node.below[character]
        found: list[str] = []
        heap = [(prefix, node)]
        while heap:
            name, node = heap.pop()
            if node.ends:
                found.append(name)
            heap += [(name + character, below) for character, below in node.below.items()]
        return sorted(found)
