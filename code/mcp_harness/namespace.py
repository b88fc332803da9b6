"""One table of tools over all servers: who owns a name, and where a call goes.

Guarantees: nothing is overwritten, each collision is decided by the policy and reported. First
means first in the configuration, never first to start: names are given out when somebody first
looks, to all servers that are known by then, in configuration order. A name once given out
keeps its owner for the life of the table, also when that server is dead or has dropped the
tool, so that a call can never reach another server's tool.

What it leaves out: processes, sessions, threads (the host holds a lock), the check of a tool's
definition (tools.py).

Canonical names use "/": the specification's set for tool names leaves it out, so a name with
one in it is ours; a server that sends one anyway falls under the rule for taken names.
"""

import difflib
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from .errors import AmbiguousTool, ConfigError, UnknownTool
from .trie import Trie
from .wire import Message

Pair = tuple[str, str]  # server name, local name
Changes = dict[str, list[str]]  # "added", "removed", "changed" → canonical names

MODEL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")  # what every provider takes
LEGAL_PART = re.compile(r"[A-Za-z0-9-](?:[A-Za-z0-9_-]*[A-Za-z0-9-])?")  # neither begins nor ends with "_"
MODEL_NAME_CHARS = 63
HASH_DIGITS = 12  # 48 bits: no accident in a table of thousands
SERVER_PART_CHARS = 20  # of a server's name in a hashed one, so that the tool's part is never empty
SUGGESTIONS = 3  # names offered for an unknown one: a choice, not a catalogue


class Policy(Enum):
    """What to do with a tool whose name is already taken."""

    PREFIX = "prefix"  # the first server keeps the bare name, a later one becomes <server>/<name>
    PREFIX_ALL = "prefix-all"  # every tool becomes <server>/<name>: names never depend on order
    REJECT = "reject"  # the later tool is skipped
    REJECT_SERVER = "reject-server"  # the later server is refused with all its tools
    AMBIGUOUS = "ambiguous"  # unique tools stay bare; a shared bare name is refused, each is <server>/<name>


@dataclass(frozen=True)
class MergedTool:
    """One entry of the dispatch table: the name we show, and where the call really goes."""

    canonical_name: str
    server_name: str
    local_name: str  # the only name that the server itself knows
    description: str
    definition: Message = field(default_factory=dict, compare=False, repr=False)
    model_name: str = ""  # the name for a model: see model_name()


@dataclass(frozen=True)
class Collision:
    """A name that was wanted twice, who had it, who came later, and what became of the later tool."""

    name: str
    owner: str
    server: str
    outcome: str


class Namespace:
    """The names of all tools. `servers` are the configured names, in order.

    Raises ConfigError if `policy` is no member of Policy.
    """

    def __init__(self, servers: Sequence[str], policy: Policy = Policy.PREFIX) -> None:
        if not isinstance(policy, Policy):
            members = ", ".join(str(member) for member in Policy)
            raise ConfigError(f"unknown policy {policy!r}: use one of {members}")
        self.policy = policy
        self._servers = list(servers)
        self._offers: dict[str, dict[str, Message]] = {}  # server → local name → definition
        self._names: dict[Pair, str] = {}  # given out, for ever
        self._owners: dict[str, Pair] = {}  # the same, the other way round
        self._ambiguous: dict[str, list[Pair]] = {}
        self._told: set[Collision] = set()
        self._refused: dict[str, str] = {}
        self.stale = False
        self.looked_at = False
        self.table: dict[str, MergedTool] = {}
        self._trie: Trie | None = None  # made when somebody browses

    # --- filling it ----------------------------------------------------------------------

    def offer(self, server: str, tools: Iterable[Message]) -> list[Collision]:
        """Replace the tools of one server, in one step. Reports names that it lists twice."""
        offer: dict[str, Message] = {}
        collisions = []
        for definition in tools:
            local = definition["name"]
            if local in offer:
                collisions.append(Collision(local, server, server, "skipped: the server lists it twice"))
            else:
                offer[local] = definition
        self._offers[server] = offer
        self.stale = True
        return self._untold(collisions)

    def replace(self, server: str, tools: Iterable[Message]) -> tuple[Changes, list[Collision]]:
        """The same for a table in use: once somebody has looked, new tools have their names at once."""
        before = self.of_server(server)
        collisions = self.offer(server, tools)
        if self.looked_at:
            collisions += self.settle()
        return changes(before, self.of_server(server)), collisions

    def settle(self) -> list[Collision]:
        """Give names to what has none yet, and rebuild the table. Returns collisions not reported before."""
        if not self.stale:
            self.looked_at = True
            return []
        collisions = self._name_all()
        table = {}
        for server in self._servers:
            for local, definition in self._offers.get(server, {}).items():
                name = self._names.get((server, local))
                if name is not None:
                    table[name] = merged(name, server, local, definition)
        self.table, self._trie = table, None
        self.stale, self.looked_at = False, True  # last: who sees these without a lock sees the table too
        return self._untold(collisions)

    def _untold(self, collisions: Iterable[Collision]) -> list[Collision]:
        fresh = [one for one in dict.fromkeys(collisions) if one not in self._told]
        self._told.update(fresh)
        return fresh

    def _name_all(self) -> list[Collision]:
        collisions: list[Collision] = []
        if self.policy is Policy.AMBIGUOUS:
            self._find_shared()
        for server in self._servers:
            fresh = [local for local in self._offers.get(server, {}) if (server, local) not in self._names]
            if self.policy is Policy.REJECT_SERVER and self._refuses(server, fresh, collisions):
                continue
            for local in fresh:
                self._name_one(server, local, collisions)
        return collisions

    def _name_one(self, server: str, local: str, collisions: list[Collision]) -> None:
        """Give one new tool its name, or none, as the policy says."""
        if self.policy is Policy.PREFIX_ALL:
            self._give(f"{server}/{local}", (server, local))
        elif self.policy is Policy.AMBIGUOUS and local in self._ambiguous:
            name = self._mint(server, local, collisions)
            others = [other for other, _ in self._ambiguous[local] if other != server]
            collisions.append(Collision(local, others[0], server, f"ambiguous: renamed to {name}"))
        elif local not in self._owners:
            self._give(local, (server, local))
        elif self.policy in (Policy.REJECT, Policy.REJECT_SERVER):
            collisions.append(Collision(local, self._owners[local][0], server, "skipped"))
        else:
            name = self._mint(server, local, collisions)
            collisions.append(Collision(local, self._owners[local][0], server, f"renamed to {name}"))

    def _give(self, name: str, pair: Pair) -> None:
        self._names[pair] = name
        self._owners[name] = pair

    def _mint(self, server: str, local: str, collisions: list[Collision]) -> str:
        """`<server>/<local>`, or with /2, /3 … behind it where a server has a tool of that very name."""
        wanted = name = f"{server}/{local}"
        for number in itertools.count(2):
            if name not in self._owners and name not in self._ambiguous:
                break
            name = f"{wanted}/{number}"
        if name != wanted:
            owner = self._owners.get(wanted) or self._ambiguous[wanted][0]
            collisions.append(Collision(wanted, owner[0], server, f"renamed to {name}"))
        self._give(name, (server, local))
        return name

    def _find_shared(self) -> None:
        """AMBIGUOUS: bare names that several servers want now and that nobody was given before."""
        wanting: dict[str, list[Pair]] = {}
        for server in self._servers:
            for local in self._offers.get(server, {}):
                wanting.setdefault(local, []).append((server, local))
        for local, pairs in wanting.items():
            if local in self._ambiguous or (len(pairs) > 1 and local not in self._owners):
                self._ambiguous[local] = pairs

    def _refuses(self, server: str, fresh: list[str], collisions: list[Collision]) -> bool:
        """REJECT_SERVER: refuse a newcomer that brings a taken name. Who was let in is not thrown out again."""
        if server in self._refused:
            return True
        if any(owner == server for owner, _ in self._names):
            return False
        taken = [local for local in fresh if local in self._owners]
        for local in taken:
            collisions.append(Collision(local, self._owners[local][0], server, "the whole server is refused"))
        if taken:
            owner = self._owners[taken[0]][0]
            self._refused[server] = f"refused by policy REJECT_SERVER: its tool {taken[0]!r} is already {owner}'s"
        return bool(taken)

    # --- looking into it -------------------------------------------------------------------

    def refused(self) -> dict[str, str]:
        """Servers that REJECT_SERVER keeps out, with the reason."""
        return dict(self._refused)

    def lookup(self, name: str) -> MergedTool:
        """The tool of that canonical name. Raises UnknownTool or AmbiguousTool."""
        found = self.table.get(name)
        if found is not None:
            return found
        if name in self._ambiguous:
            pairs = self._ambiguous[name]
            candidates = [self._names[pair] for pair in pairs if self._names.get(pair) in self.table]
            if candidates:
                raise AmbiguousTool(name, candidates)
        if name in self._owners:
            server, local = self._owners[name]
            detail = f"server {server!r} no longer lists {local!r}, and the name stays its own; nothing was called"
            raise UnknownTool(name, self.suggest(name), detail)
        raise UnknownTool(name, self.suggest(name))

    def suggest(self, name: str) -> list[str]:
        """The nearest names that exist: the same local name on any server first, then similar spellings."""
        if not isinstance(name, str):
            return []
        bare = name.rsplit("/", 1)[-1]
        same = [one for one, tool in self.table.items() if tool.local_name in (name, bare) or tool.model_name == name]
        similar = difflib.get_close_matches(name, self.table, SUGGESTIONS)
        close = difflib.get_close_matches(bare, {tool.local_name for tool in self.table.values()}, SUGGESTIONS)
        spelled = [one for one, tool in self.table.items() if tool.local_name in close]
        return list(dict.fromkeys([*same, *similar, *spelled]))[:SUGGESTIONS]

    def browse(self, prefix: str = "") -> list[str]:
        """The canonical names that begin with `prefix`, sorted."""
        trie = self._trie
        if trie is None:
            trie = self._trie = Trie(self.table)
        return trie.under(prefix)

    def counts(self) -> dict[str, int]:
        """How many tools each server has in the table; before anybody has looked, how many it lists."""
        if not self.looked_at:
            return {server: len(self._offers.get(server, ())) for server in self._servers}
        counts = Counter(tool.server_name for tool in self.table.values())
        return {server: counts[server] for server in self._servers}

    def by_model_name(self) -> dict[str, MergedTool]:
        """The table by the names that a model sees: looked up, never taken apart."""
        return {tool.model_name: tool for tool in self.table.values()}

    def of_server(self, server: str) -> dict[str, MergedTool]:
        """The part of the table that belongs to one server."""
        return {name: tool for name, tool in self.table.items() if tool.server_name == server}


def merged(name: str, server: str, local: str, definition: Message) -> MergedTool:
    """An entry of the table."""
    description = definition.get("description", "")
    text = description if isinstance(description, str) else ""
    return MergedTool(name, server, local, text, definition, model_name(server, local))


def model_name(server: str, tool: str) -> str:
    """The name of a tool for a model: at most 63 characters that every provider takes.

    A pure function of the pair, and no two pairs share one: plain `server__tool` only where it
    can be read in one way, otherwise with a hash of the pair behind it. The plain form has
    one "__", the other one has two. It is kept in a table and never taken apart again.
    """
    plain = f"{server}__{tool}"
    clear = all(LEGAL_PART.fullmatch(part) and "__" not in part for part in (server, tool))
    if clear and MODEL_NAME.fullmatch(plain):
        return plain
    pair = f"{len(server)}:{server}{tool}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(pair).hexdigest()[:HASH_DIGITS]
    first = readable(server, SERVER_PART_CHARS)
    if not first[:1].isalpha():
        first = f"s-{first}"
    rest = MODEL_NAME_CHARS - len(first) - HASH_DIGITS - 2 * len("__")
    return f"{first}__{readable(tool, rest) or 't'}__{digest}"


def readable(text: str, limit: int) -> str:
    """What a person can still recognise of a name: legal characters, no "__", "_" at neither end."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", text)[:limit].strip("_")


def changes(before: Mapping[str, MergedTool], after: Mapping[str, MergedTool]) -> Changes:
    """What a new list brought: names added, removed, and changed in their definition."""
    return {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "changed": sorted(n for n in before.keys() & after.keys() if before[n].definition != after[n].definition),
    }


def names_in(difference: Changes) -> list[str]:
    """All names in a difference, sorted."""
    return sorted({name for names in difference.values() for name in names})
