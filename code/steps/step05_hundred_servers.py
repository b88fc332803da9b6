"""Step 5 of the small client: concurrent start, trie, metrics.

Made by `grader build` from lessons/05_hundred_servers.md.
"""

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor

from steps.step03_reader_thread import Connection


def connect_all(commands, at_once=8, timeout=10.0):
    """Start servers, `at_once` at a time: ({name: Connection}, {name: exception}), both in the given order.

    One that fails stops nobody else; each has `timeout` seconds of its own.
    """
    connections = {name: Connection(name, command) for name, command in commands.items()}
    ready, failed = {}, {}
    with ThreadPoolExecutor(at_once) as pool:
        futures = {name: pool.submit(connection.start, timeout) for name, connection in connections.items()}
        for name, future in futures.items():
            try:
                ready[name] = future.result()
            except (OSError, RuntimeError) as error:
                failed[name] = error
            except BaseException:  # such as Ctrl-C: leave no process behind
                pool.shutdown(cancel_futures=True)
                close_all(connections)
                raise
    return ready, failed


def close_all(connections):
    """Close many connections side by side: the slowest decides, not the sum."""
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(Connection.close, connections.values()))


def counts(registry, servers=()):
    """How many entries each server has in the table: {server: number}; a server of `servers` without any has 0."""
    numbers = dict.fromkeys(servers, 0)
    for entry in registry.values():
        numbers[entry.server_name] = numbers.get(entry.server_name, 0) + 1
    return numbers


LEGAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")  # what every provider takes, and one character to spare


def is_clear(part):
    """Whether nobody can mistake where this part begins and ends, between two `_`."""
    return part != "" and part == part.strip("_") and "__" not in part


def cleaned(part, length):
    """A part for the eye: each run of other characters is one `_`, and what is too long is cut."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", part).strip("_")[:length]


def model_name(server, tool):
    """The name of a tool for a model: `server__tool` if that is clear and legal, else with a digest behind it."""
    plain = f"{server}__{tool}"
    if is_clear(server) and is_clear(tool) and LEGAL_NAME.fullmatch(plain):
        return plain
    # the length keeps ("ab", "c") apart from ("a", "bc")
    digest = hashlib.sha256(f"{len(server)}:{server}{tool}".encode()).hexdigest()[:12]
    return f"s_{cleaned(server, 18)}__{cleaned(tool, 26)}__{digest}"


class Node:
    """Where one more character leads, whether a name ends here, and how many names end here or below."""

    def __init__(self):
        self.below, self.ends, self.count = {}, False, 0


class Trie:
    """Names by their characters."""

    def __init__(self, names=()):
        self.root = Node()
        for name in names:
            self.add(name)

    def add(self, name):
        """Put a name in; a second time changes nothing."""
        if name in self:
            return
        node = self.root
        node.count += 1
        for character in name:
            node = node.below.setdefault(character, Node())
            node.count += 1
        node.ends = True

    def __contains__(self, name):
        matched, node = self._walk(name)
        return matched == len(name) and node.ends

    def under(self, prefix):
        """All names that begin with this prefix, sorted."""
        matched, node = self._walk(prefix)
        if matched < len(prefix):
            return []
        names, waiting = [], [(prefix, node)]
        while waiting:
            text, node = waiting.pop()
            if node.ends:
                names.append(text)
            waiting += [(text + character, below) for character, below in node.below.items()]
        return sorted(names)

    def count(self, prefix):
        """How many names begin with this prefix."""
        matched, node = self._walk(prefix)
        return node.count if matched == len(prefix) else 0

    def near(self, name):
        """The names that share the longest beginning with this one: did you mean one of them?"""
        matched, _ = self._walk(name)
        return self.under(name[:matched])

    def _walk(self, text):
        """As far as the characters lead: how many they were, and the node there."""
        node = self.root
        for place, character in enumerate(text):
            if character not in node.below:
                return place, node
            node = node.below[character]
        return len(text), node
