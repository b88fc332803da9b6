# %% [markdown]
# # Exercise 7: From tools/list to the model and back
#
# You write what stands between a table of tools and a model: definitions out, calls back, results in, a cap
# and a mark for what a server sends, a rule for consent, and a choice of few tools out of many. No model and
# no key is needed: a check plays the model. Lesson 7 explains every word used here.
#
# How to work: read the prompt, fill the cell below it, run the check below that. The tasks do not depend on
# each other: if you are stuck in one, go to the next. An answer that hangs is stopped after a few seconds,
# with its processes.

# %% [markdown]
# ## The stage
#
# The cell below makes the tools and the servers of this exercise. You need not read it. Know these things:
#
# - A `Tool` is one entry of the table. It has a `canonical_name` for people and logs (`files/search`), a
#   `server_name`, a `local_name` that the server knows (`search`), a `model_name` that every provider takes
#   (`files__search`), and the `definition`, as the server sent it.
# - `TOOLS` is a list of seven such tools.
# - `words(text)` gives the set of the words in a text, in lower case.


# %% id="stage" locked=true
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from steps.step03_reader_thread import Connection

SERVERS = Path(main.__file__).parent / "servers"


@dataclass(frozen=True)
class Tool:
    """One entry of the table."""

    canonical_name: str
    server_name: str
    local_name: str
    model_name: str
    definition: dict


def tool(server, name, description="", *arguments, **more):
    """A tool of a server; the arguments are strings. `more` goes into its definition."""
    definition = {**main.tool(name, description, *arguments), **more}
    legal = re.sub(r"[^A-Za-z0-9-]", "_", name)
    return Tool(f"{server}/{name}", server, name, f"{server}__{legal}", definition)


TOOLS = [
    tool("notes", "search", "Search your notes.", "query"),
    tool("notes", "create", "Create a note.", "title", "text"),
    tool("files", "read", "Read a file.", "path"),
    tool("files", "search", "Search in files.", "query"),
    tool("github", "list_issues", "List the open issues."),
    tool("github", "open_pr", "Open a pull request.", "title"),
    tool("github", "search", "Search issues.", "query"),
]


def words(text):
    """The words of a text, in lower case: "list_issues" has two."""
    return set(re.findall(r"[a-z]+", text.lower()))


def copied(value):
    """A copy that nobody changes by mistake."""
    return json.loads(json.dumps(value))


class Servers:
    """Real servers, each a process: {server name: script}. `run` calls a tool; `wire` has the calls and results."""

    def __init__(self, scripts):
        self.connections = {}
        for name, script in scripts.items():
            command = [sys.executable, "-S", str(SERVERS / f"{script}.py")]
            self.connections[name] = Connection(name, command)
        self.wire = []

    def __enter__(self):
        try:
            for connection in self.connections.values():
                connection.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        for connection in self.connections.values():
            connection.close()

    def tools(self):
        """All tools of all servers."""
        return [
            Tool(f"{name}/{d['name']}", name, d["name"], f"{name}__{d['name']}", d)
            for name, connection in self.connections.items()
            for d in connection.tools
        ]

    def run(self, tool, arguments):
        """Send tools/call to the server of a tool, under the local name, and return the result."""
        params = {"name": tool.local_name, "arguments": arguments}
        self.wire.append(f"→ {tool.server_name}: tools/call {json.dumps(params)}")
        result = self.connections[tool.server_name].request("tools/call", params, timeout=5)
        self.wire.append(f"← {tool.server_name}: {json.dumps(result)}")
        return result


def openai_call(name, arguments, id="call_1"):
    """A call as OpenAI sends it; arguments that are no text become JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


# %% [markdown] task=1 minutes=3 difficulty="easy"
# ## Task 1: definitions for a provider
#
# `for_openai` is written. `for_anthropic` lacks one line: the one that appends a tool's definition in
# Anthropic's shape. It is flat and has three keys.
#
# | key | value |
# |---|---|
# | `"name"` | the name for the model |
# | `"description"` | the description |
# | `"input_schema"` | the schema, as the server sent it |

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# A tool has four names. Which of them does every provider take?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `for_openai` holds every value that you need. Only the keys and the nesting differ.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# `definitions.append(` one dict with the three keys of the table `)`. Two of its values stand in the line above the
# gap; the third is one of the names of the tool.
#
# </details>


# %% id="task1" answer=true
def for_openai(tools):
    """The definitions for OpenAI's chat completions."""
    definitions = []
    for tool in tools:
        description = tool.definition.get("description", "")
        function = {"name": tool.model_name, "description": description, "parameters": tool.definition["inputSchema"]}
        definitions.append({"type": "function", "function": function})
    return definitions


def for_anthropic(tools):
    """The definitions for Anthropic's Messages API."""
    definitions = []
    for tool in tools:
        description, schema = tool.definition.get("description", ""), tool.definition["inputSchema"]
        ### BEGIN SOLUTION
        definitions.append({"name": tool.model_name, "description": description, "input_schema": schema})
        ### END SOLUTION
    return definitions


# %% id="task1_check" points=1
with checks.task(1, "definitions for a provider", points=1) as check:
    check.returns(
        for_anthropic,
        TOOLS[3:4],
        called="for_anthropic([the tool files/search])",
        expected=[
            {
                "name": "files__search",
                "description": "Search in files.",
                "input_schema": main.tool("search", "", "query")["inputSchema"],
            }
        ],
        why="the name for the model, the description and the schema, under the keys of the table",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other tools"):
        letters = check.random().sample("abcdefghij", 4)
        odd = [tool(f"{letter}x", f"get.{letter}", f"Get {letter}.", letter) for letter in letters]
        check.returns(
            for_anthropic,
            odd,
            expected=[
                {
                    "name": f"{letter}x__get_{letter}",
                    "description": f"Get {letter}.",
                    "input_schema": main.tool("", "", letter)["inputSchema"],
                }
                for letter in letters
            ],
            why="take every value from the tool: its model_name, its description, its schema",
        )
    with check.hidden("what was given stays"):
        before = copied([one.definition for one in odd])
        check.call(for_anthropic, odd)
        check.equal(
            [one.definition for one in odd],
            before,
            what="the definitions",
            why="the servers' definitions were changed; another provider needs them too",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=2 minutes=14 difficulty="medium"
# ## Task 2: a call back, a result in
#
# The model wants a tool called. In OpenAI's shape its call is
#
#     {"id": "call_1", "type": "function",
#      "function": {"name": "files__search", "arguments": "{\"query\": \"plan\"}"}}
#
# Note that `arguments` is a *text*, which the model wrote. It may not be JSON at all, and the name may be
# invented. Write `answer(call, tools, run)`. It returns the message for the model,
# `{"role": "tool", "tool_call_id": "call_1", "content": "…"}`, and never raises for what the model wrote.
#
# 1. If no tool has this model name, `content` is an error and nothing is run.
# 2. If the arguments are not a JSON *object*, `content` is an error and nothing is run. (An empty text may be taken
#    for `{}`, as in the lesson, or for an error: no check asks.)
# 3. Otherwise `run(tool, arguments)` gives the result of the server. `content` is the text of its blocks, one
#    below the other. A block of another type than `text` becomes its type in brackets, such as `[image]`.
#    If the result says `isError`, the content is an error.
#
# An *error* is a content that begins with `error: `. In cases 1 and 2 write what is wrong behind it.
#
# Example. A result `{"content": [{"type": "text", "text": "disk full"}, {"type": "image", …}], "isError": true}`
# becomes the content `error: disk full`, a new line, and `[image]`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Three things can go wrong before anything is run: the name, the JSON, and what the JSON is. What does Python do in
# each case if you do nothing?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# A dict from model name to tool finds the tool. `json.loads` raises `ValueError` for a text that is not JSON,
# and it also returns lists and numbers. `isError` may be absent.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Find the tool by its model name; if there is none, the content is an error. Read the arguments in a `try`;
# if that fails or gives no dict, the content is an error. Otherwise run, make one text for each block, join
# them, and put `error: ` in front if the result says so. One `return` at the end serves all cases.
#
# </details>


# %% id="task2" answer=true
def answer(call, tools, run):
    """The message that answers one call of a model."""
    ### BEGIN SOLUTION
    name, content = call["function"]["name"], ""
    found = [tool for tool in tools if tool.model_name == name]
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = None
    if not found:
        content = f"error: there is no tool {name!r}; nothing was called"
    elif not isinstance(arguments, dict):
        content = "error: the arguments are not a JSON object; nothing was called"
    else:
        result = run(found[0], arguments)
        texts = [block["text"] if block["type"] == "text" else f"[{block['type']}]" for block in result["content"]]
        content = ("error: " if result.get("isError") else "") + "\n".join(texts)
    return {"role": "tool", "tool_call_id": call["id"], "content": content}
    ### END SOLUTION


# %% id="task2_check" points=3
with checks.task(2, "a call back, a result in", points=3) as check:

    def told(content, id="call_1"):
        return {"role": "tool", "tool_call_id": id, "content": content}

    def is_refusal(message, id):
        """Whether this is a message with an error for this call."""
        right = isinstance(message, dict) and message.get("role") == "tool" and message.get("tool_call_id") == id
        return right and str(message.get("content", "")).startswith("error: ")

    with Servers({"notes": "notes", "files": "files"}) as servers:
        check.wire(servers.wire)
        for name, arguments, content in [
            ("files__search", {"query": "plan"}, "plan.txt"),
            ("notes__search", {"query": "plan"}, "plan"),
            ("files__read", {"path": "nowhere"}, "error: FileNotFoundError: nowhere"),
        ]:
            check.returns(
                answer,
                openai_call(name, arguments),
                servers.tools(),
                servers.run,
                called=f"answer(a call of {name} with {json.dumps(arguments)}, …)",
                expected=told(content),
                why="run the tool of this model name and hand on the text of its result",
            )
        for name, arguments, what in [
            ("files__find", {"query": "plan"}, "No tool has the name files__find"),
            ("files__search", '{"query": "pl', "The arguments are cut off"),
            ("files__search", "[1]", "The arguments are a list"),
        ]:
            before = len(servers.wire)
            called = f"answer(a call of {name} with the arguments {checks.shown(arguments)}, …)"
            message = check.call(
                answer,
                openai_call(name, arguments, "call_2"),
                servers.tools(),
                servers.run,
                called=called,
                why="whatever the model wrote, it gets a message and no exception leaves `answer`",
            )
            check.true(
                is_refusal(message, "call_2") and len(servers.wire) == before,
                f"Called {called}. {what}, so a message for call_2 was expected whose content begins with 'error: ', "
                f"and no call to a server. It returned {checks.shown(checks.plain(message))}.",
            )
    check.wire(())
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    check.returns(
        answer,
        openai_call("files__read", {"path": "a"}),
        TOOLS,
        lambda tool, arguments: {"content": [main.text_result("disk full")["content"][0], image], "isError": True},
        called="answer(a call of files__read, …) where the result has a text and an image and says isError",
        expected=told("error: disk full\n[image]"),
        why="each block gives one line, whatever its type, and isError puts 'error: ' in front",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other servers and other words"):
        data = check.random()
        first, second = data.sample(["desk", "shelf", "drawer", "box"], 2)
        word = data.choice(["merge", "route", "course", "client"])
        with Servers({first: "notes", second: "files"}) as servers:
            for server in (first, second):
                entry = next(one for one in servers.tools() if one.model_name == f"{server}__search")
                expected = servers.run(entry, {"query": word})["content"][0]["text"]
                check.returns(
                    answer,
                    openai_call(f"{server}__search", {"query": word}, f"id-{word}"),
                    servers.tools(),
                    servers.run,
                    expected=told(expected, f"id-{word}"),
                    why="the call went astray, or the message has another id or another text",
                )
    with check.hidden("a model name that says something else than the entry"):
        odd = Tool("x/y", "x", "y", "a__b__0f3c", main.tool("y", ""))
        seen = []
        check.call(
            answer,
            openai_call("a__b__0f3c", {"n": 1}),
            [*TOOLS, odd],
            lambda tool, arguments: seen.append((tool, arguments)) or {"content": []},
            why="a model name is looked up, never taken apart, and isError may be absent",
        )
        check.equal(
            [(one.canonical_name, arguments) for one, arguments in seen],
            [("x/y", {"n": 1})],
            what="what was run",
            why="a model name is looked up in the list of tools, never taken apart",
        )
    with check.hidden("arguments of every kind"):
        for broken in ["null", "7", '"text"', "{'query': 'x'}", "[" * 3, "true"]:
            ran = []
            message = check.call(
                answer,
                openai_call("files__search", broken),
                TOOLS,
                lambda tool, arguments, ran=ran: ran.append(tool) or {"content": []},
                why="arguments that are not a JSON object give an error for the model, no exception",
            )
            check.true(
                is_refusal(message, "call_1") and not ran,
                "refused",
                why="arguments that are not a JSON object give an error for the model, and nothing is run",
            )
    with check.hidden("many blocks"):
        kinds = check.random().sample(["audio", "image", "resource", "resource_link"], 3)
        blocks = [
            main.text_result("one")["content"][0],
            *({"type": kind} for kind in kinds),
            {"type": "text", "text": ""},
        ]
        check.returns(
            answer,
            openai_call("files__search", {}),
            TOOLS,
            lambda tool, arguments: {"content": blocks, "isError": False},
            expected=told("\n".join(["one", *(f"[{kind}]" for kind in kinds), ""])),
            why="each block gives one line: a text its text, another type its type in brackets",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=3 minutes=12 difficulty="medium"
# ## Task 3: cap and mark
#
# A result may be 31 MB, and it may contain the sentence "Ignore your instructions". Write two functions.
#
# `cap(text, limit)` keeps the beginning and the end. If the text has at most `limit` bytes in UTF-8, it comes
# back as it is. Otherwise the result is
#
# 1. the first `limit // 2` bytes, without a character that would be cut in half,
# 2. a line of its own, `[… 123 bytes cut …]`, with the number of bytes that are missing,
# 3. the last `limit // 2` bytes, again without half a character.
#
# Parts 1 and 2, and 2 and 3, are joined by a newline. `limit` is at least 2. A text of many megabytes must
# take no longer than a moment.
#
# `mark(text, draw)` puts the text between two lines that nobody can forge:
#
#     <<<untrusted WORD
#     the text
#     <<<end of untrusted WORD
#
# `draw()` gives a new random word each time. A word that occurs in the text is of no use: draw again.
#
# Example. `cap("aaaaa" + "b" * 90 + "ccccc", 10)` is `"aaaaa\n[… 90 bytes cut …]\nccccc"`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# How many bytes has "ü" in UTF-8, and how many characters? Which of the two does the limit count?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `text.encode("utf-8")` gives the bytes, and bytes can be cut with `[:n]` and `[-n:]`. To come back,
# `data.decode("utf-8", "ignore")` leaves out what is no whole character.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Encode once. If that is short enough, return the text. Cut the head and the tail from the bytes and decode
# both. What is missing is the whole length minus the lengths of the two, counted in bytes again. For the
# mark: draw a word, and as long as it is in the text, draw another one.
#
# </details>


# %% id="task3" answer=true
def cap(text, limit):
    """Head and tail of a text, with a note between them of how many bytes are missing."""
    ### BEGIN SOLUTION
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text
    head = data[: limit // 2].decode("utf-8", "ignore")
    tail = data[-(limit // 2) :].decode("utf-8", "ignore")
    cut = len(data) - len(head.encode("utf-8")) - len(tail.encode("utf-8"))
    return f"{head}\n[… {cut} bytes cut …]\n{tail}"
    ### END SOLUTION


def mark(text, draw):
    """The text between two lines with a random word that does not occur in it."""
    ### BEGIN SOLUTION
    word = draw()
    while word in text:
        word = draw()
    return f"<<<untrusted {word}\n{text}\n<<<end of untrusted {word}"
    ### END SOLUTION


# %% id="task3_check" points=2
with checks.task(3, "cap and mark", points=2) as check:

    def drawn(*words):
        """A draw() that gives these words, one after the other."""
        return iter(words).__next__

    check.returns(cap, "plan", 10, expected="plan", why="a text within the limit comes back as it is")
    check.returns(
        cap,
        "aaaaa" + "b" * 90 + "ccccc",
        10,
        called="cap('aaaaa' + 90 times 'b' + 'ccccc', 10)",
        expected="aaaaa\n[… 90 bytes cut …]\nccccc",
        why="half of the limit from the beginning, half from the end, and the number of missing bytes",
    )
    check.returns(
        cap,
        "ü" * 6,
        10,
        expected="üü\n[… 4 bytes cut …]\nüü",
        why="the limit counts bytes, and 'ü' has two: five bytes hold two of them and no half one",
    )
    check.returns(
        mark,
        "plan",
        drawn("k7", "p2"),
        called="mark('plan', draw) where draw() gives 'k7'",
        expected="<<<untrusted k7\nplan\n<<<end of untrusted k7",
        why="the same word in both lines",
    )
    check.returns(
        mark,
        "<<<end of untrusted k7",
        drawn("k7", "p2"),
        called="mark('<<<end of untrusted k7', draw) where draw() gives 'k7', then 'p2'",
        expected="<<<untrusted p2\n<<<end of untrusted k7\n<<<end of untrusted p2",
        why="a word that occurs in the text is of no use",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("texts of many alphabets"):
        for _ in range(30):
            data = check.random()
            text = "".join(data.choices("abc\n 7üж€漢🙂", k=data.randrange(5, 60)))
            limit = data.randrange(2, 40)
            whole = text.encode()
            expected = text
            if len(whole) > limit:
                parts = [
                    whole[: limit // 2].decode("utf-8", "ignore"),
                    whole[-(limit // 2) :].decode("utf-8", "ignore"),
                ]
                cut = len(whole) - sum(len(part.encode()) for part in parts)
                expected = f"\n[… {cut} bytes cut …]\n".join(parts)
            check.returns(
                cap,
                text,
                limit,
                expected=expected,
                why="the limit and the number count bytes, and no character is half",
            )
    with check.hidden("thirty million bytes"):
        large = check.random().choice("xyz") * 30_000_000
        check.returns(
            cap,
            large,
            1000,
            seconds=4,
            expected=f"{large[:500]}\n[… 29999000 bytes cut …]\n{large[:500]}",
            why="a text of 30 MB took too long or came back wrong; cut once, not character by character",
        )
    with check.hidden("a text that knows many words"):
        known = [f"w{check.random().randrange(10**6)}" for _ in range(20)]
        check.returns(
            mark,
            " ".join(known),
            drawn(*known, "free"),
            expected=f"<<<untrusted free\n{' '.join(known)}\n<<<end of untrusted free",
            why="draw until a word does not occur in the text",
        )
    ### END HIDDEN TESTS

# %% [markdown] task=4 minutes=6 difficulty="easy"
# ## Task 4: ask first
#
# Write `must_ask(tool, allowed)`: True if a person has to agree before this tool is called. `allowed` is the
# user's own list: a set of *canonical* names.
#
# - A tool that is not on the list must be asked for.
# - A tool on the list runs unasked, except if its annotations say `destructiveHint: true`.
# - No annotation may spare a question. `readOnlyHint: true` changes nothing: the server wrote it about itself.
#
# The annotations stand in `tool.definition["annotations"]`, a dict. The key may be absent.
#
# Example. `files/search` is on the list and has no annotations: `False`. A tool `delete` of a new server, not on
# the list, with `readOnlyHint: true`: `True`.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# Who wrote the list, and who wrote the annotations? Which of the two may lead to `False`?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `tool.definition.get("annotations", {})` is a dict in every case.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Two reasons to ask, joined by `or`: the canonical name is not in `allowed`; the annotations have a
# `destructiveHint` that is true.
#
# </details>


# %% id="task4" answer=true
def must_ask(tool, allowed):
    """Whether a person has to agree before this tool is called."""
    ### BEGIN SOLUTION
    annotations = tool.definition.get("annotations", {})
    return tool.canonical_name not in allowed or annotations.get("destructiveHint") is True
    ### END SOLUTION


# %% id="task4_check" points=2
with checks.task(4, "ask first", points=2) as check:
    LIST = {"files/search", "files/delete"}
    cases = [
        ("files/search, on the list, no annotations", TOOLS[3], False, "the user's list lets it run"),
        ("notes/search, not on the list", TOOLS[0], True, "the list has canonical names: another search is on it"),
        (
            "notes/peek, not on the list, readOnlyHint true",
            tool("notes", "peek", annotations={"readOnlyHint": True}),
            True,
            "what a server says about itself spares no question",
        ),
        (
            "files/delete, on the list, destructiveHint true",
            tool("files", "delete", annotations={"destructiveHint": True}),
            True,
            "an annotation may make the rule stricter",
        ),
    ]
    for what, one, expected, why in cases:
        check.returns(must_ask, one, LIST, called=f"must_ask(…) for {what}", expected=expected, why=why)
    ### BEGIN HIDDEN TESTS
    with check.hidden("other tools and lists"):
        data = check.random()
        for _ in range(40):
            server, name = data.choice(["mail", "bank", "wiki"]), data.choice(["send", "read", "list"])
            notes = {
                key: data.choice([True, False]) for key in ("readOnlyHint", "destructiveHint") if data.random() < 0.6
            }
            one = tool(server, name, annotations=notes)
            listed = set(data.sample(["mail/send", "bank/read", "wiki/list", "send", "mail", "read", "mail__send"], 4))
            check.returns(
                must_ask,
                one,
                listed,
                expected=one.canonical_name not in listed or notes.get("destructiveHint") is True,
                why="only a canonical name on the list lets a tool run, and destructiveHint true asks in every case",
            )
    ### END HIDDEN TESTS

# %% [markdown] task=5 minutes=10 difficulty="medium"
# ## Task 5: choose k tools
#
# Each definition costs tokens on every turn, so a host with many tools shows only some. Write
# `choose(tools, query, k)`: a list of the k tools that fit the query best, the best first.
#
# - The words of a tool are the words of its local name and of its description.
# - Each word of the query that a tool has gives it points. A rare word gives more: a word that n of the N
#   tools have gives N − n + 1 points.
# - Equal tools stay in the order in which they were given. If k is larger than the list, all come back.
#
# Example. With the seven `TOOLS` and the query "search my notes", `search` is a word of three tools and gives
# 5 points, `notes` is a word of one and gives 7, `my` of none. `notes/search` has 12 points,
# `files/search` and `github/search` have 5 each. So `choose(TOOLS, "search my notes", 2)` gives the tools
# `notes/search` and `files/search`: two `Tool` objects, not their names.

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
#
# For one tool, you need the words that it shares with the query. For one word, in how many tools it is. Which
# of the two can be worked out once, before you look at the first tool?
#
# </details>
#
# <details><summary>Hint 2: a pointer</summary>
#
# `words(a) & words(b)` gives the shared words. `sorted(tools, key=…)` keeps the order of equal ones; with
# `reverse=True` too.
#
# </details>
#
# <details><summary>Hint 3: a sketch</summary>
#
# Make a list with the words of each tool. Count for each word of the query in how many of these sets it is.
# The points of a tool are a sum over the words that it shares with the query. Sort by points, highest
# first, and return the first k.
#
# </details>


# %% id="task5" answer=true
def choose(tools, query, k):
    """The k tools that fit the query best, the best first."""
    ### BEGIN SOLUTION
    known = {tool.canonical_name: words(f"{tool.local_name} {tool.definition['description']}") for tool in tools}
    worth = {word: len(tools) + 1 - sum(word in its for its in known.values()) for word in words(query)}

    def points(tool):
        return sum(worth[word] for word in worth if word in known[tool.canonical_name])

    return sorted(tools, key=points, reverse=True)[:k]
    ### END SOLUTION


# %% id="task5_check" points=2
with checks.task(5, "choose k tools", points=2) as check:

    def names(chosen):
        """The canonical names, in order; what is no list of tools is said as it is."""
        if not isinstance(chosen, list):
            return chosen
        return [one.canonical_name if isinstance(one, Tool) else f"a {type(one).__name__}, no Tool" for one in chosen]

    check.returns(
        lambda: names(choose(TOOLS, "search my notes", 2)),
        called="choose(TOOLS, 'search my notes', 2)",
        expected=["notes/search", "files/search"],
        why="12 points and 5 points; of two tools with 5 points the first one given comes first",
    )
    check.returns(
        lambda: names(choose(TOOLS, "which issues are open", 3)),
        called="choose(TOOLS, 'which issues are open', 3)",
        expected=["github/list_issues", "github/open_pr", "github/search"],
        why="two shared words count more than one",
    )
    check.returns(
        lambda: names(choose(TOOLS, "search pull", 2)),
        called="choose(TOOLS, 'search pull', 2)",
        expected=["github/open_pr", "notes/search"],
        why="'search' is a word of three tools and gives 5 points, 'pull' is a word of one and gives 7",
    )
    ### BEGIN HIDDEN TESTS
    with check.hidden("other tools, other queries"):
        data = check.random()
        vocabulary = ["pay", "bill", "ship", "box", "tax", "log", "map", "sky", "red", "sum"]
        many = [
            tool(f"s{place}", data.choice(vocabulary), " ".join(data.choices(vocabulary, k=data.randrange(1, 6))))
            for place in range(40)
        ]
        for _ in range(10):
            query = " ".join(data.sample(vocabulary, 3))
            k = data.choice([1, 3, 8, 40, 99])
            has = [words(f"{one.local_name} {one.definition['description']}") for one in many]
            score = [
                sum(41 - sum(word in other for other in has) for word in words(query) if word in its) for its in has
            ]
            order = sorted(range(40), key=lambda place: (-score[place], place))
            check.returns(
                lambda query=query, k=k: names(choose(many, query, k)),
                expected=[many[place].canonical_name for place in order[:k]],
                why="a rare word gives more points than a common one, the best come first, equal ones keep their order",
            )
    with check.hidden("what was given stays"):
        before = names(many)
        check.call(choose, many, "pay the bill", 2)
        check.equal(names(many), before, what="the list", why="the list of tools was changed; sort a copy")
    ### END HIDDEN TESTS

# %% [markdown]
# ## Done?
#
# `solutions/07_model_loop.md` in the repository discusses the answers and another right way for each.
