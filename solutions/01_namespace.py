# %% [markdown]
# # Exercise 1: One namespace for many servers
#
# You write four small functions of a host: two ways to merge the tools of several servers, one way to
# call them, and a policy that refuses to guess. Lesson 1 explains every word used here.
#
# How to work: read the prompt, run the example in your head, fill the cell below it, run the check below
# that. A check says in one sentence what is wrong. Run it as often as you like. The tasks do not depend
# on each other: if you are stuck in one, go to the next.
#
# When all is green, your answers still meet the *hidden checks*: the same questions with other servers. Your
# instructor runs them, or you do, on your machine: `.venv/bin/python -m grader check` and the notebook's path.

# %% [markdown]
# ## The stage
#
# The cell below makes the servers of this exercise. You need not read all of it. Know these three things:
#
# - `make_sessions({"notes": ["search", "create"]})` gives `dict[str, Session]`, as after discovery:
#   `session.name`, `session.tools` (the raw list of the server) and `session.alive`.
# - Each server is a `Recorder`. It keeps every call that it received, so a check can see what you really sent.
# - `rows(registry)` shows a registry in short: canonical name → `server: local name`.
#
# To try something out, add a cell of your own, for example `rows(merge_prefix(make_sessions(SERVERS)))`.


# %% id="stage" locked=true
class Recorder:
    """A server that says which tool it ran and keeps what it received. It accepts every tool name."""

    def __init__(self, name):
        self.name, self.received = name, []

    def __call__(self, message):
        tool, arguments = message["params"]["name"], message["params"]["arguments"]
        self.received.append({"name": tool, "arguments": arguments})
        return {"jsonrpc": "2.0", "id": message["id"], "result": main.text_result(f"{self.name} ran {tool}")}


def make_sessions(servers):
    """One session for each server; `servers` is {server name: [tool names]}."""
    return {
        server: main.Session(server, Recorder(server), {"tools": {}}, [main.tool(name, f"{name}.") for name in names])
        for server, names in servers.items()
    }


def rows(registry):
    """A registry in short: {canonical name: "server: local name"}. Anything else comes back as it is."""
    if not isinstance(registry, dict):
        return registry
    return {
        name: f"{entry.server_name}: {entry.local_name}"
        if isinstance(entry, main.MergedTool) and entry.canonical_name == name
        else entry
        for name, entry in registry.items()
    }


def received(sessions):
    """What each server received: {server name: [calls]}, without the servers that received nothing."""
    return {name: session.server_fn.received for name, session in sessions.items() if session.server_fn.received}


def random_servers(random):
    """Three servers that no answer can know before: one tool is in all three, one in two, three are in one."""
    first, second, third = random.sample(["mail", "wiki", "shop", "maps", "chat", "bank", "logs", "cars"], 3)
    everywhere, twice, *unique = random.sample(["open", "find", "send", "drop", "copy", "sort", "join", "move"], 5)
    servers = {first: [everywhere, unique[0], twice], second: [unique[1], everywhere], third: [everywhere, twice]}
    servers[third].append(unique[2])
    return {name: random.sample(tools, len(tools)) for name, tools in servers.items()}


SERVERS = {"notes": ["search", "create"], "files": ["read", "search"], "github": ["list_issues", "open_pr", "search"]}

# %% [markdown] task=1 minutes=2 difficulty="easy"
# ## Task 1: merge with a prefix
#
# The first server that offers a name keeps it. A later server with the same name gets `<server>/<name>`.
# Only one line is missing: the name for that later tool.
#
# Example. In: `notes` offers `search` and `create`, then `files` offers `read` and `search`. Out:
#
# | canonical name | server | local name |
# |---|---|---|
# | `search` | `notes` | `search` |
# | `create` | `notes` | `create` |
# | `read` | `files` | `read` |
# | `files/search` | `files` | `search` |
#
# Look at the last row. The canonical name has a prefix, the local name has none.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# At the place of the missing line, which two variables hold the server's name and the tool's own name?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# Python builds a string from two others with an f-string: `f"{a}-{b}"` gives a, a hyphen, b.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# `canonical = ` the session's name, then a slash, then `local`. `local` itself stays as it is.
#
# </details>


# %% id="task1" answer=true
def merge_prefix(sessions):
    """Merge the tools of all sessions: dict[canonical name, main.MergedTool]."""
    registry = {}
    for session in sessions.values():
        for definition in session.tools:
            local = definition["name"]
            canonical = local
            if local in registry:
                ### BEGIN SOLUTION
                canonical = f"{session.name}/{local}"
                ### END SOLUTION
            if canonical in registry:  # nothing is ever overwritten in silence
                owner = registry[canonical].server_name
                raise ValueError(f"the name {canonical!r} is already taken by {owner!r}")
            description = definition.get("description", "")
            registry[canonical] = main.MergedTool(canonical, session.name, local, description)
    return registry


# %% id="task1_check" points=2
with checks.task(1, "merge with a prefix", points=2) as check:
    check.returns(
        lambda: rows(merge_prefix(make_sessions(SERVERS))),
        called="merge_prefix(sessions) for notes, files and github",
        expected={
            "search": "notes: search",
            "create": "notes: create",
            "read": "files: read",
            "files/search": "files: search",
            "list_issues": "github: list_issues",
            "open_pr": "github: open_pr",
            "github/search": "github: search",
        },
        why="the first server keeps the bare name, a later one gets <server>/<name>, and the local name stays",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other servers, other names"):
        servers = random_servers(check.random())
        check.returns(
            lambda: rows(merge_prefix(make_sessions(servers))),
            expected=rows(main.merge(make_sessions(servers))),
            why="the registry is wrong for them; make the name from session.name and local",
        )
    with check.hidden("a tool that already has the new name"):
        first, second = list(servers)[:2]
        shared = next(tool for tool in servers[first] if tool in servers[second])
        check.raises(
            merge_prefix,
            make_sessions({first: [shared, f"{second}/{shared}"], second: [shared]}),
            error=ValueError,
            why="the given lines that raise ValueError must stay, or one of the two tools is lost in silence",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=2 minutes=8 difficulty="easy"
# ## Task 2: merge with reject
#
# Now the later tool is left out. Nobody may lose a tool without being told, so the function also returns
# what it left out: a list of pairs (server name, tool name), in the order in which they came.
#
# Example. In: `notes` offers `search` and `create`, then `files` offers `read` and `search`. Out:
# a registry with `search` (of notes), `create` and `read`, and the list `[("files", "search")]`.
#
# The entries are `main.MergedTool(canonical_name, server_name, local_name, description)`, as in task 1.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# What do you know about a tool at the moment when its name is already in the registry?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# The two loops of task 1 are right for this task too. Only what happens to a taken name is different.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# For each tool of each session: if the name is taken, append a pair to `left_out` and go to the next tool
# (`continue`); if not, put an entry into `registry` under the tool's own name. Return both.
#
# </details>


# %% id="task2" answer=true
def merge_reject(sessions):
    """Merge the tools of all sessions and leave out later ones: (registry, [(server name, tool name), …])."""
    registry, left_out = {}, []
    ### BEGIN SOLUTION
    for session in sessions.values():
        for definition in session.tools:
            local = definition["name"]
            if local in registry:
                left_out.append((session.name, local))
                continue
            description = definition.get("description", "")
            registry[local] = main.MergedTool(local, session.name, local, description)
    ### END SOLUTION
    return registry, left_out


# %% id="task2_check" points=2
with checks.task(2, "merge with reject", points=2) as check:

    def in_short(pair):
        return (rows(pair[0]), pair[1]) if isinstance(pair, tuple) and len(pair) == 2 else pair

    check.returns(
        lambda: in_short(merge_reject(make_sessions(SERVERS))),
        called="merge_reject(sessions) for notes, files and github",
        expected=(
            {
                "search": "notes: search",
                "create": "notes: create",
                "read": "files: read",
                "list_issues": "github: list_issues",
                "open_pr": "github: open_pr",
            },
            [("files", "search"), ("github", "search")],
        ),
        why="the first server keeps the name; each later tool with that name is left out and reported",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other servers, other names"):
        servers, hits = random_servers(check.random()), []
        expected = rows(main.merge(make_sessions(servers), main.Policy.REJECT, hits.append))
        check.returns(
            lambda: in_short(merge_reject(make_sessions(servers))),
            expected=(expected, [(hit.server, hit.name) for hit in hits]),
            why="keep the first tool of a name and report each later one as (server name, tool name)",
        )
    with check.hidden("what was given stays"):
        sessions = make_sessions(servers)
        check.call(merge_reject, sessions)
        check.equal(
            {name: [tool["name"] for tool in session.tools] for name, session in sessions.items()},
            servers,
            what="the tools of the sessions",
            why="the sessions or their tool lists were changed; only read them, another merge may need them",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=3 minutes=14 difficulty="medium"
# ## Task 3: one call, by the table
#
# Write `call(registry, sessions, name, arguments)`. It does one of three things.
#
# 1. `name` is not in the registry: return an error result that names the tool.
# 2. The server of the entry is dead (`alive` is false): return an error result that names the server.
#    Send nothing.
# 3. Otherwise send `tools/call` to the server of the entry, with the name *that server* knows, and return
#    the result.
#
# You have two helpers: `main.request(server_fn, "tools/call", {"name": …, "arguments": …})` sends and
# returns the result, and `main.text_result("a sentence", is_error=True)` makes an error result.
#
# Example. The entry of `files/search` has the server `files` and the local name `search`. Then
# `call(registry, sessions, "files/search", {"query": "plan"})` sends to `files`
# `{"name": "search", "arguments": {"query": "plan"}}` and returns what `files` answers. If `files` is dead,
# it returns `{"content": [{"type": "text", "text": "server 'files' is dead"}], "isError": True}` or another
# sentence with the server's name in it.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# The entry has three names in it. Which of them finds the session, and which of them does the server know?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `registry.get(name)` gives the entry, or `None` for an unknown tool. Never look into the text of `name`:
# a server may have a tool whose own name contains a slash.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Get the entry; if there is none, return an error result. Get the session by the entry's server name;
# if its flag says dead, return an error result. Then one request, with the entry's local name and the
# arguments as they came.
#
# </details>


# %% id="task3" answer=true
def call(registry, sessions, name, arguments):
    """Route one call by the registry; what goes wrong comes back as an error result."""
    ### BEGIN SOLUTION
    entry = registry.get(name)
    if entry is None:
        return main.text_result(f"no server offers the tool {name!r}", is_error=True)
    session = sessions[entry.server_name]
    if not session.alive:
        return main.text_result(f"server {session.name!r} is dead: {name!r} was not called", is_error=True)
    return main.request(session.server_fn, "tools/call", {"name": entry.local_name, "arguments": arguments})
    ### END SOLUTION


# %% id="task3_check" points=3
with checks.task(3, "call with dead flag and local name", points=3) as check:
    sessions = make_sessions(SERVERS)
    registry = main.merge(sessions)

    def is_error_about(result, word):
        """Whether this is an error result with the word in its text."""
        is_error = isinstance(result, dict) and result.get("isError") is True
        return is_error and word in str(result["content"][0]["text"])

    called = "call(registry, sessions, 'files/search', {'query': 'plan'})"
    answer = check.call(call, registry, sessions, "files/search", {"query": "plan"}, called=called)
    check.equal(
        received(sessions),
        {"files": [{"name": "search", "arguments": {"query": "plan"}}]},
        what="what the servers received for 'files/search'",
        why="one request to one server, under the name that this server knows, with the arguments as they came",
    )
    check.equal(
        answer,
        main.text_result("files ran search"),
        what="what call returned for 'files/search'",
        why="the server's result is handed on as it is",
    )
    answer = check.call(call, registry, sessions, "delete", {}, called="call(registry, sessions, 'delete', {})")
    check.true(
        is_error_about(answer, "delete"),
        "Called call(registry, sessions, 'delete', {}). No server offers 'delete', so an error result "
        f"(isError True) with 'delete' in its text was expected. It returned {checks.shown(checks.plain(answer))}.",
    )
    sessions = make_sessions(SERVERS)
    sessions["files"].alive = False
    answer = check.call(call, registry, sessions, "read", {}, called="call(registry, sessions, 'read', {})")
    check.equal(
        received(sessions),
        {},
        what="what the servers received after files was marked dead and 'read' was called",
        why="a dead server gets nothing, so look at the flag before you send",
    )
    check.true(
        is_error_about(answer, "files"),
        "Called call(registry, sessions, 'read', {}) after files was marked dead. An error result "
        f"(isError True) with 'files' in its text was expected. It returned {checks.shown(checks.plain(answer))}.",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other servers, and a tool with a slash in its own name"):
        first, second, third = random_servers(check.random())
        tool, other = check.random().sample(["peek", "poke", "pull", "push"], 2)
        servers = {first: [tool, f"{second}/{other}"], second: [tool, other], third: [tool]}
        registry = main.merge(make_sessions(servers))
        for name, entry in registry.items():
            sessions = make_sessions(servers)
            why = "a call went astray; the entry says which server and which local name, the text of a name does not"
            check.call(call, registry, sessions, name, {"n": name}, why=why)
            sent = {entry.server_name: [{"name": entry.local_name, "arguments": {"n": name}}]}
            check.equal(received(sessions), sent, what="what the servers received", why=why)
    with check.hidden("another server is dead"):
        for dead in servers:
            sessions = make_sessions(servers)
            sessions[dead].alive = False
            why = "only the dead server's tools answer with an error; ask the flag of the server in the entry, no other"
            answers = {name: check.call(call, registry, sessions, name, {}, why=why) for name in registry}
            good = {name for name, entry in registry.items() if entry.server_name != dead}
            check.equal({n for n, answer in answers.items() if not answer["isError"]}, good, what="the tools", why=why)
            check.equal(set(received(sessions)), set(servers) - {dead}, what="the servers reached", why=why)
    with check.hidden("registry and sessions stay"):
        dead, registry, sessions = third, main.merge(make_sessions(servers)), make_sessions(servers)
        sessions[dead].alive = False
        before = (dict(registry), list(sessions), list(servers))
        check.call(call, registry, sessions, f"{dead}/{tool}", {})
        check.equal(
            (dict(registry), list(sessions), [name for name, session in sessions.items() if session.name == name]),
            before,
            what="the registry and the sessions",
            why="a call to a dead server changed them; only read them, because the server may come back",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=4 minutes=16 difficulty="medium"
# ## Task 4: refuse to guess
#
# With the prefix policy, a bare `search` goes to whoever was registered first. A careful host does not
# guess. Write the *ambiguous* policy in two functions.
#
# `merge_ambiguous(sessions)` gives a registry in which
#
# - a tool that only one server offers keeps its bare name,
# - a tool that several servers offer stands there under `<server>/<name>` for *each* of them, the first
#   one too; its bare name is not in the registry.
#
# As in task 1, nothing is overwritten: if a name is already taken, raise `ValueError`.
#
# `call_or_refuse(registry, sessions, name, arguments)` calls by the registry. You may use
# `main.call(registry, sessions, name, arguments)`, which is right. Only if `name` is not in the registry but
# is the local name of some entries, it sends nothing and returns an error result that lists the canonical
# names of those entries.
#
# Example. `notes`, `files` and `github` all offer `search`. The registry has seven entries: `create`, `read`,
# `list_issues`, `open_pr`, `notes/search`, `files/search`, `github/search`. A call of `search` returns an error
# result such as `'search' is ambiguous: use one of notes/search, files/search, github/search`. A call of
# `files/search` reaches `files`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# When you stand at the first `search`, can you know already that two more will come? If not, what must you
# do before you give out the first name?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `collections.Counter` counts. For the refusal, the registry knows everything: each entry holds its
# `local_name`. A canonical name need not be cut into pieces.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# First loop: count in how many servers each tool name occurs. Second loop: bare name if the count is 1, else
# with prefix; check that it is free; put the entry in. Refusal: collect the canonical names of the entries
# whose local name is the wanted one; if there are any and the wanted one is no canonical name, return an
# error result with them joined by commas.
#
# </details>


# %% id="task4" answer=true
def merge_ambiguous(sessions):
    """Merge the tools of all sessions; a shared name is only there with its prefix: dict[str, main.MergedTool]."""
    ### BEGIN SOLUTION
    owners = {}  # tool name → the servers that offer it
    for session in sessions.values():
        for definition in session.tools:
            owners.setdefault(definition["name"], set()).add(session.name)
    registry = {}
    for session in sessions.values():
        for definition in session.tools:
            local = definition["name"]
            canonical = local if len(owners[local]) == 1 else f"{session.name}/{local}"
            if canonical in registry:
                owner = registry[canonical].server_name
                raise ValueError(f"the name {canonical!r} is already taken by {owner!r}")
            description = definition.get("description", "")
            registry[canonical] = main.MergedTool(canonical, session.name, local, description)
    return registry
    ### END SOLUTION


def call_or_refuse(registry, sessions, name, arguments):
    """Call by the registry; a bare name that several servers share is refused with the candidates."""
    ### BEGIN SOLUTION
    candidates = [entry.canonical_name for entry in registry.values() if entry.local_name == name]
    if name not in registry and candidates:
        return main.text_result(f"{name!r} is ambiguous: use one of {', '.join(candidates)}", is_error=True)
    return main.call(registry, sessions, name, arguments)
    ### END SOLUTION


# %% id="task4_check" points=3
with checks.task(4, "refuse to guess", points=3) as check:
    seven = {
        "notes/search": "notes: search",
        "create": "notes: create",
        "read": "files: read",
        "files/search": "files: search",
        "list_issues": "github: list_issues",
        "open_pr": "github: open_pr",
        "github/search": "github: search",
    }
    check.returns(
        lambda: rows(merge_ambiguous(make_sessions(SERVERS))),
        called="merge_ambiguous(sessions) for notes, files and github",
        expected=seven,
        why="a shared name is there only with its prefix, for the first server too",
    )
    sessions = make_sessions(SERVERS)
    registry = {name: main.MergedTool(name, *entry.split(": "), "") for name, entry in seven.items()}
    called = "call_or_refuse(registry, sessions, 'search', {'query': 'plan'})"
    answer = check.call(call_or_refuse, registry, sessions, "search", {"query": "plan"}, called=called)

    def refusal(result):
        """The text of an error result; an empty one for anything else."""
        is_error = isinstance(result, dict) and result.get("isError") is True
        return str(result["content"][0]["text"]) if is_error else ""

    check.true(
        all(name in refusal(answer) for name in ("notes/search", "files/search", "github/search")),
        f"Called {called}. An error result (isError True) that lists notes/search, files/search and github/search was "
        f"expected. It returned {checks.shown(checks.plain(answer))}.",
    )
    check.equal(
        received(sessions),
        {},
        what="what the servers received after 'search' was refused",
        why="a refused call reaches no server",
    )
    check.returns(
        call_or_refuse,
        registry,
        sessions,
        "files/search",
        {"query": "plan"},
        called="call_or_refuse(registry, sessions, 'files/search', {'query': 'plan'})",
        expected=main.text_result("files ran search"),
        why="a name in the registry is called as usual",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other servers, other names"):
        servers = random_servers(check.random())
        tools = [tool for names in servers.values() for tool in names]
        shared = {tool for tool in tools if tools.count(tool) > 1}
        check.returns(
            lambda: rows(merge_ambiguous(make_sessions(servers))),
            expected={
                f"{server}/{tool}" if tool in shared else tool: f"{server}: {tool}"
                for server, names in servers.items()
                for tool in names
            },
            why="a name that two servers share gets its prefix as well as one that all share; others stay bare",
        )
    with check.hidden("a tool that already has the new name"):
        first, second, third = servers
        tool = next(tool for tool in servers[first] if tool in servers[second])
        check.raises(
            merge_ambiguous,
            make_sessions({first: [tool, f"{second}/{tool}"], second: [tool]}),
            error=ValueError,
            why="a tool's own name was <server>/<name> of another tool; raise ValueError, do not lose one in silence",
        )
    with check.hidden("a name that only looks like a candidate"):
        pairs = {
            f"{first}/{tool}": (first, tool),
            f"{second}/{tool}": (second, tool),
            f"x/{tool}": (third, f"x/{tool}"),
        }
        registry = {name: main.MergedTool(name, *pair, "") for name, pair in pairs.items()}
        sessions = make_sessions(servers)
        answer = refusal(check.call(call_or_refuse, registry, sessions, tool, {}))
        check.true(
            f"{first}/{tool}" in answer and f"{second}/{tool}" in answer and not received(sessions),
            "refused with its candidates",
            why="a shared bare name was not refused with all its candidates",
        )
        check.true(
            f"x/{tool}" not in answer,
            "no false candidate",
            why="a candidate is an entry whose local_name is the wanted name, not one whose text ends like it",
        )
    with check.hidden("a tool that nobody offers"):
        answer = refusal(check.call(call_or_refuse, registry, sessions, "absent", {}))
        check.true(
            "absent" in answer and "ambiguous" not in answer,
            "unknown, not ambiguous",
            why="it is unknown, not ambiguous, and needs an error result that names it",
        )
    ### END HIDDEN TESTS

# %% [markdown]
# ## Done?
#
# `solutions/01_namespace.md` in the repository discusses the answers and another right way for each.
