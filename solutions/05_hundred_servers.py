# %% [markdown]
# # Exercise 5: A hundred servers
#
# You write four parts that a host needs when it has many servers: a count of tools for each server, a trie of
# names, a start of many servers at once, and names that every model provider takes. Lesson 5 explains every word used
# here.
#
# How to work: read the prompt, run the example in your head, fill the cell below it, run the check below
# that. The tasks do not depend on each other: if you are stuck in one, go to the next.

# %% [markdown]
# ## The stage
#
# The cell below makes what the checks work with. You need not read all of it. Know these three things:
#
# - `registry_of([("search", "notes", "search"), …])` gives a registry: canonical name, server, local name.
# - `Stage(at_once)` makes starters for task 3. A starter is a function without arguments. It starts a **real
#   process**, waits inside until others are starting too, shakes hands, and returns the process; or it raises.
# - `Word` is a `str` that counts how often a name is looked at: read character by character, compared, searched. In
#   task 2 a check fills a trie with such names.


# %% id="stage" locked=true
import contextlib
import hashlib
import itertools
import json
import re
import string
import subprocess
import sys
import threading
from pathlib import Path

SERVERS = Path(main.__file__).parent / "servers"
ALPHABET = string.ascii_lowercase


def registry_of(rows):
    """A registry of rows (canonical name, server, local name)."""
    return {name: main.MergedTool(name, server, local, "") for name, server, local in rows}


def counting(method):
    """The method of str, with one more look at a Word each time it is called."""

    def counted(self, *args):
        Word.looks += 1
        return getattr(str, method)(self, *args)

    return counted


class Word(str):
    """A string that counts how often its letters are looked at."""

    looks = 0
    __hash__ = str.__hash__
    startswith, find, __getitem__ = counting("startswith"), counting("find"), counting("__getitem__")
    __iter__, __contains__, __eq__ = counting("__iter__"), counting("__contains__"), counting("__eq__")
    __lt__, __gt__, __le__ = counting("__lt__"), counting("__gt__"), counting("__le__")


def looks_of(function, *args):
    """What the function returns, and how often it looked at a Word."""
    Word.looks = 0
    value = function(*args)
    return value, Word.looks


class Stage:
    """Starters of real processes, for `at_once` starts at a time. It keeps how many were inside together."""

    PATIENCE = 3.0  # seconds for the others to come; only a wrong answer waits so long
    CROWD = 0.2  # seconds in which one too many may come

    def __init__(self, at_once):
        self.at_once, self.inside, self.most, self.alone = at_once, 0, 0, False
        self.lock, self.processes = threading.Lock(), []
        self.together = threading.Barrier(at_once)
        self.full, self.first_group = threading.Event(), at_once

    def starter(self, error=None):
        """A starter whose server comes up, or one that raises this error."""

        def start():
            with self.lock:
                self.inside += 1
                self.most = max(self.most, self.inside)
                meets, self.first_group = self.first_group > 0, self.first_group - 1
                if self.inside > self.at_once:
                    self.full.set()
            try:
                if meets:
                    self.meet()
                if error is not None:
                    raise error
                return self.spawn()
            finally:
                with self.lock:
                    self.inside -= 1

        return start

    def meet(self):
        """Wait until as many starts as allowed are inside; then look whether one more comes."""
        try:
            self.together.wait(self.PATIENCE)
        except threading.BrokenBarrierError:
            self.alone = True
        else:
            self.full.wait(self.CROWD)

    def spawn(self):
        """A server process after its handshake."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        popen = subprocess.Popen([sys.executable, "-S", str(SERVERS / "notes.py")], **pipes)
        with self.lock:
            self.processes.append(popen)
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        popen.stdin.write(json.dumps(request).encode() + b"\n")
        popen.stdin.flush()
        json.loads(popen.stdout.readline())
        return popen

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for popen in self.processes:
            popen.kill()
            popen.wait()
            for pipe in (popen.stdin, popen.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()


# %% [markdown] task=1 minutes=3 difficulty="easy"
# ## Task 1: how many tools has each server?
#
# A server whose number of tools jumps to 300, or falls to 0, is a reason to look. Give the number of entries of
# each server. A server without any tool is there too, with 0. Only one line is missing.
#
# Example. The servers are `notes`, `files` and `empty`; the registry has `search` and `create` of `notes` and
# `files/search` of `files`. Out: `{"notes": 2, "files": 1, "empty": 0}`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# The dict begins with a zero for each server. Which of them has to grow for one entry?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# The entry knows its server. The text of its name does not: a bare `search` has no prefix.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Add one to the place in `numbers` that belongs to the server name of the entry.
#
# </details>


# %% id="task1" answer=true
def counts(registry, servers):
    """How many entries each of these servers has: {server name: number}."""
    numbers = dict.fromkeys(servers, 0)
    for entry in registry.values():
        ### BEGIN SOLUTION
        numbers[entry.server_name] += 1
        ### END SOLUTION
    return numbers


# %% id="task1_check" points=2
with checks.task(1, "how many tools has each server", points=2) as check:
    rows = [("search", "notes", "search"), ("create", "notes", "create"), ("files/search", "files", "search")]
    check.returns(
        counts,
        registry_of(rows),
        ["notes", "files", "empty"],
        called="counts(registry, ['notes', 'files', 'empty'])",
        expected={"notes": 2, "files": 1, "empty": 0},
        why="the entry says which server it belongs to, and a server without tools has 0",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other servers, and a tool with a slash in its own name"):
        data = check.random()
        names = data.sample(["mail", "wiki", "shop", "maps", "chat", "bank"], 4)
        rows = [(f"tool_{n}", data.choice(names[:3]), f"tool_{n}") for n in range(data.randrange(8, 20))]
        rows.append((f"{names[0]}/odd", names[1], f"{names[0]}/odd"))
        check.returns(
            counts,
            registry_of(rows),
            names,
            expected={name: [server for _, server, _ in rows].count(name) for name in names},
            why="count by entry.server_name, for these servers too",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=2 minutes=14 difficulty="medium"
# ## Task 2: a trie of names
#
# Write a trie with three methods.
#
# - `add(name)` puts a name in. A name that is there already changes nothing.
# - `under(prefix)` gives all names that begin with this prefix, sorted; `under("")` gives them all.
# - `count(prefix)` says how many there are, without making the list.
#
# Each node has a dict from one character to the next node. A lookup walks down, one step for each character of the
# *prefix*, so it never looks at names that do not begin with it. The check counts such looks.
#
# Example. With `files/read`, `files/search` and `notes/search` in it: `under("files/")` gives
# `["files/read", "files/search"]`, `count("files/")` gives 2, `under("x")` gives `[]`, and `count("")` gives 3.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# `add("files")` after `add("files/read")`: no new node is made. How does the trie know that `files` is a name as well?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# Let each node hold `below` (a dict), `ends` (is there a name that ends here?) and `count` (how many names end here or
# below). `add` raises `count` on its whole way, but only if the name is new.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# One helper walks to the node of a prefix and gives `None` if there is no way. `add` returns if the helper finds a node
# that ends a name. `under` takes the helper's node and goes through everything below it, with the text so far in hand;
# a list of (text, node) that still wait does it without recursion. `count` takes that node and reads its number.
#
# </details>


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
        ### BEGIN SOLUTION
        found = self._find(name)
        if found is not None and found.ends:
            return
        node = self.root
        node.count += 1
        for character in name:
            node = node.below.setdefault(character, Node())
            node.count += 1
        node.ends = True
        ### END SOLUTION

    def under(self, prefix):
        """All names that begin with this prefix, sorted."""
        ### BEGIN SOLUTION
        node = self._find(prefix)
        if node is None:
            return []
        names, waiting = [], [(prefix, node)]
        while waiting:
            text, node = waiting.pop()
            if node.ends:
                names.append(text)
            waiting += [(text + character, below) for character, below in node.below.items()]
        return sorted(names)
        ### END SOLUTION

    def count(self, prefix):
        """How many names begin with this prefix."""
        ### BEGIN SOLUTION
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
        ### END SOLUTION


# %% id="task2_check" points=3
with checks.task(2, "a trie of names", points=3) as check:

    def trie_of(names):
        """A trie with these names, added in this order."""
        trie = Trie()
        for name in names:
            trie.add(name)
        return trie

    def answers(names, prefixes):
        """For each prefix: the names under it, and how many there are."""
        trie = trie_of(names)
        return {prefix: (trie.under(prefix), trie.count(prefix)) for prefix in prefixes}

    def asked_twice(names, prefix):
        """What under(prefix) gives, twice."""
        trie = trie_of(names)
        return [trie.under(prefix), trie.under(prefix)]

    check.returns(
        asked_twice,
        ["notes/search"],
        "notes/",
        called="under('notes/') twice, in a trie with one name, notes/search",
        expected=[["notes/search"], ["notes/search"]],
        why="each call gives a list of its own; a question changes nothing",
    )
    names = ["notes/search", "files/search", "files/read"]
    check.returns(
        answers,
        names,
        ["files/", "notes/search", "x", ""],
        called="under(prefix) and count(prefix) of a trie with notes/search, files/search and files/read",
        expected={
            "files/": (["files/read", "files/search"], 2),
            "notes/search": (["notes/search"], 1),
            "x": ([], 0),
            "": (["files/read", "files/search", "notes/search"], 3),
        },
        why="under() is sorted, a name is under itself, and every name begins with the empty prefix",
    )
    check.returns(
        answers,
        ["files/read", "files", "files/read"],
        ["files", "files/"],
        called="under(prefix) and count(prefix) after add('files/read'), add('files'), add('files/read')",
        expected={"files": (["files", "files/read"], 2), "files/": (["files/read"], 1)},
        why="a name may be the beginning of another one, and a name that is added again counts once",
    )
    many = check.call(trie_of, [Word(f"server{number}/search") for number in range(1000)], called="add(…), 1000 times")
    rare, looks = check.call(looks_of, many.under, "server777/", called="under('server777/') in a trie of 1000 names")
    check.equal(rare, ["server777/search"], what="under('server777/') in a trie of 1000 names")
    check.true(
        looks <= 50,
        f"under('server777/') looked {looks} times at names, to find one of 1000. Walk down the nodes by the "
        "characters of the prefix; then only names under it are ever met.",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other names"):
        data = check.random()
        words = ["".join(data.choices("abc/", k=data.randrange(1, 6))) for _ in range(60)]
        prefixes = ["", "a", "b/", "ab", "zzz", words[0], words[1][:-1], words[2] + "c"]
        expected = {}
        for prefix in prefixes:
            found = sorted({word for word in words if word.startswith(prefix)})
            expected[prefix] = (found, len(found))
        check.returns(
            answers,
            words,
            prefixes,
            expected=expected,
            why="each name once, sorted, and count() is the length of under()",
        )
    with check.hidden("count among many"):
        number, looks = check.call(looks_of, many.count, "server")
        check.equal(number, 1000, what="the count", why="all 1000 names begin so")
        check.true(looks <= 50, "few looks", why="count() went through the names; let each node keep its number")
    with check.hidden("two tries"):
        first, second = trie_of(["a"]), trie_of(["b"])
        found = (first.under(""), second.under(""))
        check.equal(found, (["a"], ["b"]), what="the names", why="two tries share their nodes")
    ### END HIDDEN TESTS

# %% [markdown] task=3 minutes=14 difficulty="medium"
# ## Task 3: start many, but not all at once
#
# Write `start_all(starters, at_once)`. `starters` is a dict: server name → a function without arguments that starts the
# server and returns something. Call each of them once, `at_once` of them at the same time and never more. Return two
# dicts, `(started, failed)`:
#
# - `started`: server name → what its starter returned,
# - `failed`: server name → the exception that it raised. One failure stops nobody else.
#
# Both are in the order of `starters`, whoever was ready first: names must not depend on who is fast.
#
# Example. `start_all({"a": f, "b": g, "c": h}, 2)`, where `g` raises `OSError("no")`: `f` and `g` run at the same time,
# `h` as soon as one of them has ended. Out: `({"a": …, "c": …}, {"b": OSError("no")})`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Which part of the standard library runs functions in a fixed number of threads?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `with ThreadPoolExecutor(max_workers=2) as pool:` and `future = pool.submit(function)`. `future.result()` waits, and
# raises what the function raised.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# First loop: submit every starter and keep name → future. Only then a second loop, in the same order: ask each future
# for its result, and put an exception into the other dict. If you ask inside the first loop, you start one after the
# other.
#
# </details>

# %% id="task3" answer=true
from concurrent.futures import ThreadPoolExecutor


def start_all(starters, at_once):
    """Call all starters, `at_once` at a time: ({name: result}, {name: exception}), in the order of `starters`."""
    started, failed = {}, {}
    ### BEGIN SOLUTION
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        futures = {name: pool.submit(start) for name, start in starters.items()}
        for name, future in futures.items():
            try:
                started[name] = future.result()
            except Exception as error:
                failed[name] = error
    ### END SOLUTION
    return started, failed


# %% id="task3_check" points=3
with checks.task(3, "start many, but not all at once", points=3) as check:

    def rally(names, at_once, broken=()):
        """Start real processes with start_all; what came of it, in plain words."""
        with Stage(at_once) as stage:
            starters = {name: stage.starter(OSError(name) if name in broken else None) for name in names}
            started, failed = start_all(starters, at_once)
            return {
                "at the same time": 1 if stage.alone else stage.most,
                "no processes": [type(value).__name__ for value in started.values() if value not in stage.processes],
                "started": list(started),
                "failed": [f"{name}: {type(error).__name__}" for name, error in failed.items()],
                "processes": len(stage.processes),
            }

    facts = check.call(
        rally, ["a", "b", "c", "d", "e", "f"], 3, ["b"], called="start_all for six servers, 3 at once; b raises OSError"
    )
    together = facts.pop("at the same time")
    check.true(
        together > 1,
        "Called start_all for six servers, 3 at once. The first server waited for two others to start at the same "
        "time, and nobody came: one was started after the other.",
    )
    check.true(
        together <= 3,
        "Called start_all for six servers, 3 at once. More than 3 were starting at the same time.",
    )
    for kind in facts.pop("no processes"):
        future = " Ask each future for its result()." if kind == "Future" else ""
        check.fail(f"A value in `started` is a {kind}, and not what the starter returned.{future}")

    def order_of_two():
        """`slow` is ready well after `fast`: the names that start_all gives for both, in its order."""
        fast_is_ready, never = threading.Event(), threading.Event()
        starters = {"slow": lambda: fast_is_ready.wait(3) and never.wait(0.2), "fast": fast_is_ready.set}
        return list(start_all(starters, 2)[0])

    check.returns(
        order_of_two,
        called="start_all for the servers slow and fast, 2 at once, where fast is ready first",
        expected=["slow", "fast"],
        why="both dicts have the order that was given, or a name would belong to whoever is fast",
    )
    check.equal(
        facts,
        {"started": ["a", "c", "d", "e", "f"], "failed": ["b: OSError"], "processes": 5},
        what="what start_all gave for six servers of which b raises OSError",
        why="each starter runs once, one failure stops nobody else, and both dicts have the order that was given",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other numbers"):
        data = check.random()
        names = data.sample(["mail", "wiki", "shop", "maps", "chat", "bank", "logs", "cars"], 7)
        at_once, broken = data.choice([2, 4]), [names[0], names[-1]]
        facts = check.call(rally, names, at_once, broken)
        check.equal(
            facts,
            {
                "at the same time": at_once,
                "no processes": [],
                "started": names[1:-1],
                "failed": [f"{name}: OSError" for name in broken],
                "processes": 5,
            },
            what="the start",
            why="as many at once as asked for, no more and no fewer; the order as given; failures apart",
        )
    with check.hidden("no server at all"):
        check.returns(start_all, {}, 4, expected=({}, {}), why="nothing to start gives two empty dicts")
    ### END HIDDEN TESTS

# %% [markdown] task=4 minutes=12 difficulty="medium"
# ## Task 4: names that every provider takes
#
# A provider refuses the whole request if one tool has a name that it does not like. `search` of `notes` is a good
# `notes__search`, but `read file` of `files` is none, and two pairs may give the same text: (`acme`, `_status`) and
# (`acme_`, `status`) both become `acme___status`.
#
# Write `model_name(server, tool)`. The rules:
#
# 1. Every name matches `LEGAL`: it begins with a letter or `_`, has only letters, digits, `_` and `-`, and at most 63
#    characters. (The strictest providers take 64; one is to spare.)
# 2. If the pair is *clear*, the name is `server__tool`. Clear means: neither part contains `__`, neither begins or ends
#    with `_`, and `server__tool` matches `LEGAL`.
# 3. Otherwise the name ends in `__` and the digest of the pair, which `digest(server, tool)` gives you. What stands in
#    front is yours to choose, within rule 1; keep as much of both parts as a person can still recognise.
# 4. The name depends on nothing but the pair: no counter, no table, no order.
#
# Example. `model_name("notes", "search")` gives `notes__search`. `model_name("files", "read file")` may give
# `files__read_file__e8c588a7f0d9`, where the last part is `digest("files", "read file")`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# When are `server__tool` and the pair the same thing, so that no other pair can give this text?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `re.sub(r"[^A-Za-z0-9-]+", "_", text)` makes one `_` of everything that is not allowed. `text[:20]` cuts.
# `text.strip("_")` takes `_` from both ends. `LEGAL.fullmatch(text)` says whether a name is legal.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Build the plain name. If both parts are clear and it is legal, return it. If not, clean and cut both parts, so that
# together with the digest and two `__` they fit into 63 characters; if the result does not begin with a letter, put one
# in front. Return them joined with `__`.
#
# </details>

# %% id="task4" answer=true
LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")


def digest(server, tool):
    """Twelve hexadecimal digits for a pair; another pair gives others."""
    return hashlib.sha256(f"{len(server)}:{server}{tool}".encode()).hexdigest()[:12]


def model_name(server, tool):
    """The name of a tool for a model: legal, unique, and a function of the pair alone."""
    ### BEGIN SOLUTION
    plain = f"{server}__{tool}"
    clear = all("__" not in part and part == part.strip("_") for part in (server, tool))
    if clear and LEGAL.fullmatch(plain):
        return plain
    first, second = (re.sub(r"[^A-Za-z0-9-]+", "_", part).strip("_") for part in (server, tool))
    return f"s_{first[:18]}__{second[:26]}__{digest(server, tool)}"
    ### END SOLUTION


# %% id="task4_check" points=2
with checks.task(4, "names that every provider takes", points=2) as check:

    def verdicts(pairs):
        """The pairs whose names break a rule, each with what is wrong; the names of all, by pair."""
        names, wrong = {}, []
        for pair in pairs:
            name = names[pair] = model_name(*pair)
            plain = "__".join(pair)
            clear = all("__" not in part and part == part.strip("_") for part in pair) and LEGAL.fullmatch(plain)
            if not isinstance(name, str) or not LEGAL.fullmatch(name):
                wrong.append((pair, name, "is not legal: a letter or _ first, letters, digits, _ and -, 63 at most"))
            elif clear and name != plain:
                wrong.append((pair, name, "is not plain: this pair is clear, so rule 2 wants server__tool"))
            elif not clear and not name.endswith("__" + digest(*pair)):
                wrong.append((pair, name, "does not end in __ and the digest: this pair is not clear, see rule 3"))
        return names, wrong

    def refuse_bad_names(pairs, why=""):
        """Fail with the first name that two pairs share, or that breaks a rule."""
        names, wrong = check.call(verdicts, pairs, called=f"model_name for {len(pairs)} pairs", why=why)
        for first, second in itertools.combinations(names, 2):
            if names[first] == names[second]:
                check.fail(f"The pairs {first} and {second} get the same name, {names[first]!r}.", why)
        for (server, tool), name, what in wrong[:1]:
            shown = checks.shown(checks.plain(name))
            check.fail(f"Called model_name({server!r:.40}, {tool!r:.40}). It returned {shown}, which {what}.", why)
        return names

    refuse_bad_names(
        [
            ("notes", "search"),
            ("files", "search"),
            ("my-files", "read_file2"),
            ("acme", "_status"),
            ("acme_", "status"),
            ("a", "b__c"),
            ("a__b", "c"),
            ("files", "read file"),
            ("files", "read.file"),
            ("files", "read/file"),
            ("github", "x" * 90),
            ("github", "x" * 91),
            ("7zip", "pack"),
            ("-", "1"),
            ("files", "ünï"),
        ],
        "a clear pair has its plain name; every other pair has its own digest at the end, so no two share a name",
    )
    ### BEGIN HIDDEN TESTS
    why = "a name was illegal, not plain where the pair is clear, without its digest, or shared by two pairs"
    with check.hidden("many awkward pairs"):
        data = check.random()
        letters = ALPHABET + "_-./ 1"
        pairs = {
            (
                "".join(data.choices("ab_-1", k=data.randrange(1, 5))),
                "".join(data.choices(letters, k=data.randrange(1, 6))),
            )
            for _ in range(150)
        }
        pairs |= {("s" * data.randrange(1, 33), data.choice(letters) * data.randrange(20, 130)) for _ in range(20)}
        names = refuse_bad_names(sorted(pairs), why)
    with check.hidden("another order, one pair at a time"):
        shuffled = list(names)
        data.shuffle(shuffled)
        for pair in shuffled:
            check.returns(
                model_name,
                *pair,
                expected=names[pair],
                why="the same pair got another name when asked again, in another order",
            )
    ### END HIDDEN TESTS

# %% [markdown]
# ## Done?
#
# `solutions/05_hundred_servers.md` in the repository discusses the answers and another right way for each.
