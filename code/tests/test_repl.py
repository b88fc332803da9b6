"""The REPL, through a pipe and in a terminal."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

CODE = Path(__file__).resolve().parents[1]
SERVERS = CODE / "servers"
COMMAND = [sys.executable, "-m", "mcp_harness", "repl"]


@pytest.fixture
def config(tmp_path, mark):
    """Writes a configuration and returns its path. The mark is in each command line, for the leak check."""

    def write(**servers):
        entries = {}
        for name, (script, *arguments) in servers.items():
            link = tmp_path / f"{mark}{name}.py"
            link.symlink_to(SERVERS / f"{script}.py")
            entries[name] = {"command": sys.executable, "args": ["-S", str(link), *arguments]}
        path = tmp_path / "servers.json"
        path.write_text(json.dumps({"mcpServers": entries}), "utf-8")
        return str(path)

    return write


@pytest.fixture
def usual(config):
    return config(notes=["notes"], files=["files"])


def environment(tmp_path):
    return {
        **os.environ,
        "PYTHONPATH": str(CODE),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "TERM": "xterm-256color",
        "PROMPT_TOOLKIT_NO_CPR": "1",
    }


@pytest.fixture
def piped(tmp_path):
    """The output of a session whose lines come through a pipe."""

    def talk(path, *lines, options=()):
        text = "".join(f"{line}\n" for line in lines)
        run = subprocess.run(
            [*COMMAND, *options, path], input=text, capture_output=True, text=True, timeout=25, check=False,
            env=environment(tmp_path),
        )  # fmt: skip
        assert run.stderr == ""
        assert run.returncode == 0
        return run.stdout

    return talk


def test_it_begins_with_the_summary_line_and_the_collisions(usual, piped):
    assert piped(usual).splitlines() == [
        "2 of 2 servers ready, 4 tools",
        "* files: collision: 'search' is already notes's: renamed to files/search",
    ]


def test_tools_are_listed_by_server_and_by_prefix(usual, piped):
    lines = piped(usual, "tools files/").splitlines()[2:]
    assert lines == ["files (1 tool)", "  files/search  Search in files."]
    assert "no tool begins with 'x'" in piped(usual, "tools x")


def test_describe_shows_where_a_call_goes_and_what_it_needs(usual, piped):
    lines = piped(usual, "describe files/search").splitlines()[2:]
    assert lines == [
        "files/search: 'search' of server 'files'", "for a model: files__search", "Search in files.", "  query (string)"
    ]  # fmt: skip


def test_a_call_takes_its_arguments_as_json_or_asks_for_each(usual, piped):
    shown = piped(
        usual, 'call files/search {"query": "plan"}', "call create", "milk", "two litres", "call search", "two litres"
    )
    assert shown.splitlines()[2:] == ["plan.txt", "created note 'milk'", "milk"]


def test_with_echo_the_output_reads_like_a_session(usual, piped):
    shown = piped(usual, "call search", "plan", options=["--echo"])
    assert shown.splitlines()[2:] == ["mcp> call search", "  query (string): plan", "plan"]


def test_an_argument_is_read_by_its_type_and_asked_for_again():
    from mcp_harness.repl import Parameter

    assert Parameter("n", {"type": "integer"}, True).read("7") == 7
    assert Parameter("s", {"type": "string"}, True).read("7") == "7"
    assert Parameter("l", {"type": "array"}, True).read('["a"]') == ["a"]
    assert Parameter("b", {"type": "boolean"}, True).read("true") is True
    assert Parameter("x", True, True).read("plain words") == "plain words"
    for schema, text in (({"type": "integer"}, "seven"), ({"type": "integer"}, "true"), ({"enum": ["a", "b"]}, "c")):
        with pytest.raises(ValueError, match=r"asked for|please"):
            Parameter("p", schema, True).read(text)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("dance", "error: there is no command 'dance'; the commands are: tools, "),
        (
            "call serch {}",
            "error: unknown tool 'serch': no server offers it; nothing was called. Did you mean 'search'",
        ),
        ("call search {", "error: the arguments are not JSON: "),
        ("call search [1]", "error: the arguments are [1], but they have to be a JSON object"),
        ("call search {}", "error: server 'notes' answered tools/call"),
        ("kill", "error: name a server; `status` lists them"),
        ("trace all", "error: trace takes a number of rows, not 'all'"),
        ("policy prefix", "the policy is 'prefix' already"),
        ("kill nobody", "error: no server 'nobody' is configured; there are: 'notes', 'files'"),
        ("policy whatever", "error: unknown policy 'whatever': use one of 'prefix', "),
        ("call", "error: name a tool; `tools` lists them"),
    ],
)
def test_a_command_that_fails_costs_a_sentence_and_not_the_session(usual, piped, line, sentence):
    if line == "call search {}":
        sentence = ""  # whatever the server says of missing arguments
    shown = piped(usual, line, "call read", "plan.txt")
    assert sentence in shown
    assert shown.endswith("1. merge 2. route\n")


def test_a_killed_server_is_reported_and_can_be_restarted(usual, piped):
    shown = piped(usual, "kill notes", "call search", "plan", "restart notes", "call search", "plan", "status")
    lines = shown.splitlines()[2:]
    assert lines[0] == "killed the process of 'notes'"
    assert lines[1:3] == ["* notes: died: it was killed by signal SIGKILL", "* notes: is restarted in 1 s"]
    assert lines[3].startswith("  query") or "is not running: it was killed by signal SIGKILL" in lines[3]
    assert "server 'notes' is ready again" in lines
    assert [line.split()[:5] for line in lines[-2:]] == [
        ["notes", "ready", "2025-11-25", "2", "1"],
        ["files", "ready", "2025-11-25", "2", "0"],
    ]


def test_another_policy_starts_the_servers_anew(usual, piped):
    shown = piped(usual, "policy", "policy prefix-all", "tools", "policy")
    assert "prefix (there are: prefix, prefix-all, " in shown
    assert "  notes/search  Search your notes." in shown
    assert shown.splitlines()[-1].startswith("prefix-all (")


def test_the_trace_shows_the_newest_rows(usual, piped):
    rows = piped(usual, "call read", "plan.txt", "trace 2").splitlines()[-2:]
    assert rows[0].startswith("→ files  tools/call id ")
    assert rows[1].startswith("← files  result id ")


def test_a_server_cannot_move_the_cursor(config, piped):
    path = config(odd=["faulty", "awkward-names"])
    assert "\x1b" not in piped(path, "tools", "status")


def test_sigterm_ends_the_session_and_the_servers(usual, tmp_path):
    child = subprocess.Popen(
        [*COMMAND, usual],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )
    with child:
        child.stdout.readline()  # the summary: the servers are there
        child.send_signal(signal.SIGTERM)
        assert (child.wait(15), child.stderr.read()) == (143, b"")


# --- In a terminal ---------------------------------------------------------------------------


def hear_ctrl_c():
    """In the new process: SIGINT works, also where the tests themselves run in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def terminal(tmp_path):
    """A session in a terminal of 100 columns."""
    children = []

    def start(*words):
        child = pexpect.spawn(
            COMMAND[0], [*COMMAND[1:], *words], env=environment(tmp_path), encoding="utf-8", timeout=20,
            dimensions=(40, 100), preexec_fn=hear_ctrl_c,
        )  # fmt: skip
        children.append(child)
        child.expect("`help` lists the commands, Ctrl-D ends the session.")
        child.expect("mcp>")
        return child

    yield start
    for child in children:
        child.close(force=True)


def end(child):
    child.expect(pexpect.EOF)
    child.close()
    assert "Traceback" not in child.before
    return child.exitstatus


def test_in_a_terminal_names_are_completed_and_arguments_asked_for(usual, terminal):
    child = terminal(usual)
    child.send("cal\t")
    child.expect("cal")
    child.expect("l")  # of "call": only what is new is written
    child.send(" files/s\t")
    child.expect("files/s")
    child.expect("earch")
    child.send("\r")
    child.expect("query")
    child.send("plan\r")
    child.expect("plan.txt")
    child.expect("mcp>")
    child.sendeof()
    assert end(child) == 0


def test_ctrl_c_gives_up_the_line_and_ctrl_d_quits(usual, terminal):
    child = terminal(usual)
    child.send("call read")
    child.expect("read")
    child.sendintr()
    child.expect("mcp>")
    child.send("call read\r")
    child.expect("path")
    child.sendintr()
    child.expect("given up")
    child.expect("mcp>")
    child.sendeof()
    assert end(child) == 0


def test_ctrl_c_gives_up_a_call_that_is_never_answered(config, terminal):
    child = terminal(config(mute=["faulty", "never-answers"]))
    child.send("call never {}\r")
    child.expect("never")
    while child.expect([pexpect.TIMEOUT, "given up"], timeout=0.5) == 0:
        child.sendintr()  # before the call has begun it gives up the line, which is as good
    child.expect("mcp>")
    child.send("quit\r")
    assert end(child) == 0


@pytest.mark.slow
def test_a_death_is_shown_while_one_types(usual, terminal):
    child = terminal(usual)
    child.send("kill files\r")
    child.expect("files: died: it was killed by signal SIGKILL")
    child.expect("files: is ready again")
    child.send("restart files\r")
    child.expect("server 'files' is ready again")
    assert "* files: is ready again" not in child.before
    child.send("quit\r")
    assert end(child) == 0


@pytest.mark.slow
def test_the_history_lasts_and_keeps_no_answers(usual, terminal, tmp_path):
    child = terminal(usual)
    child.send("call read\r")
    child.expect("path")
    child.send("a-secret\r")
    child.expect("mcp>")
    child.send("quit\r")
    assert end(child) == 0
    history = (tmp_path / "state" / "mcp_harness_history").read_text()
    assert "call read" in history
    assert "a-secret" not in history
    child = terminal(usual)
    child.send("\x1b[A\x1b[A")
    child.expect("call read")
    child.sendintr()
    child.sendeof()
    assert end(child) == 0


def test_an_answer_of_two_words_is_completed_as_a_whole():
    from mcp_harness.terminal import among
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    found = list(among(["New York", "Chicago"]).get_completions(Document("New "), CompleteEvent()))
    assert [(one.text, one.start_position) for one in found] == [("New York", -len("New "))]


@pytest.mark.slow
def test_the_recorded_session_with_a_real_server_is_what_a_run_gives(tmp_path):
    """`outputs/repl_server_everything.txt`, line by line; numbers may differ from release to release."""
    root = CODE.parent
    modules = Path(os.environ.get("MCP_NODE_SERVERS") or root / "work" / "node_servers") / "node_modules"
    script = modules / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    if not script.exists():
        pytest.fail(
            "server-everything is not installed: run `python code/tests/node_servers/install.py`", pytrace=False
        )
    recorded = (root / "outputs" / "repl_server_everything.txt").read_text("utf-8")
    typed = re.findall(r"^(?:mcp> |  \w+ \([^)]*\): )(.*)$", recorded, re.MULTILINE)
    typed = [text for text in typed if not text.endswith("number")]  # what `describe` says of its arguments
    run = subprocess.run(
        [*COMMAND, "--echo", "--", "node", str(script)], input="".join(f"{line}\n" for line in typed),
        capture_output=True, text=True, timeout=60, check=False, env=environment(tmp_path),
    )  # fmt: skip
    assert run.returncode == 0, run.stderr

    def without_numbers(text):
        lines = re.sub(r" +", " ", re.sub(r"\d+(\.\d+)?", "N", text)).splitlines()
        # when the server announces its tools again, and is asked for them, differs from run to run
        return [
            line
            for line in lines
            if not re.search(r"^[→←] server (notifications/)?(tools/list|result id N N tools)", line)
        ]

    assert without_numbers(run.stdout) == without_numbers(recorded)
    assert "tools/list id" in run.stdout


def test_the_session_in_the_readme_stands_in_the_recorded_one():
    root = CODE.parent
    recorded = (root / "outputs" / "repl_server_everything.txt").read_text("utf-8").splitlines()
    readme = (root / "README.md").read_text("utf-8")
    (shown,) = re.findall(r"^```text\n(mcp> .*?)^```", readme, re.MULTILINE | re.DOTALL)
    left = iter(recorded)
    assert [line for line in shown.splitlines() if line not in left] == []
