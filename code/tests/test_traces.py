"""The recorder, its table, its diagram, and what it does not show."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp_harness import Host, ServerConfig, UsageError, lanes, wire
from mcp_harness.carries import carries
from mcp_harness.masking import Masker, looks_secret
from mcp_harness.trace import Recorder, size_of

CODE = Path(__file__).resolve().parents[1]


@pytest.fixture
def recorded(faulty):
    """`recorded(config…, do=function)`: a recorder after a host has lived."""

    def run(*configs, do=lambda host: None, **options):
        recorder = Recorder()
        with recorder.attach(Host(configs or [faulty("good")], **options)) as host:
            do(host)
        return recorder

    return run


@pytest.mark.both_eras
def test_every_line_is_recorded_in_order_and_as_it_was(faulty, recorded, tmp_path):
    record = tmp_path / "record"
    recorder = recorded(faulty("good", "--record", record), do=lambda host: host.call("echo", {"text": "é✓"}))
    sent = [entry.line for entry in recorder.entries if entry.sent]
    assert sent == record.read_bytes().splitlines(), "what was recorded is what the server received"
    heard = [json.loads(entry.line) for entry in recorder.entries if not entry.sent]
    requests = [json.loads(line) for line in sent if b'"id"' in line and b"subscriptions" not in line]
    assert [message["id"] for message in heard if "result" in message] == [message["id"] for message in requests]
    for number, entry in enumerate(recorder.entries):
        if not entry.sent and b'"result"' in entry.line:
            before = [json.loads(one.line).get("id") for one in recorder.entries[:number] if one.sent]
            assert json.loads(entry.line)["id"] in before, "a reply stands before its request"


def test_the_table_has_direction_message_content_and_size(recorded):
    table = recorded(do=lambda host: host.call("echo", {"text": "hello"})).table()
    lines = table.splitlines()
    assert lines[0].split() == ["message", "carries", "bytes"]
    (call,) = [line for line in lines if "tools/call" in line]
    assert call.startswith("→ faulty")
    assert 'echo {"text":"hello"}' in call
    (answer,) = [line for line in lines if '"hello" + structured' in line]
    assert answer.startswith("← faulty")
    assert [line for line in lines if "2025-11-25; tools" in line]
    assert [line for line in lines if "8 tools" in line]


def test_the_size_is_that_of_compact_json_however_the_server_writes_it():
    message = {"jsonrpc": "2.0", "id": 1, "result": {"text": "é✓😀"}}
    assert size_of(message) == len('{"jsonrpc":"2.0","id":1,"result":{"text":"é✓😀"}}'.encode())
    assert size_of({"a": "\ud800"}) == 11


def test_requests_of_the_server_and_our_answers_are_told_apart_although_the_ids_are_equal(recorded):
    def ask(host):
        host.call("ask_client", {"method": "roots/list"}, timeout=10)

    rows = list(recorded(do=ask, roots=lambda server, params: {"roots": []}).rows())
    (asked,) = [row for row in rows if row.label == "roots/list"]
    assert (asked.entry.sent, asked.id, asked.kind) == (False, 1, "request")
    (answer,) = [row for row in rows if row.kind == "result" and row.entry.sent]
    assert (answer.id, answer.carries) == (1, '{"roots":[]}')


def test_noise_and_the_end_of_a_process_are_shown(faulty, recorded, events):
    def die(host):
        with pytest.raises(Exception, match="exited"):
            host.call("die", timeout=10)
        events.wait("failed")

    recorder = recorded(faulty("banners", restart="never"), do=die, on_event=events)
    rows = list(recorder.rows())
    assert "Server running on stdio" in [row.carries for row in rows if row.kind == "noise"]
    assert [row.carries for row in rows if row.kind == "end"] == ["it exited with code 1"]
    picture = recorder.lanes()
    assert picture.names == ("host", "faulty")
    assert picture.rows[-1] == lanes.Mark("faulty", "ended", "dead")
    assert {row.kind for row in picture.rows} == {"request", "result", "notification", "dead"}
    assert lanes.draw(picture).get_size_inches()[1] > 3


def test_a_server_that_ends_because_we_closed_is_no_death(recorded):
    assert [row for row in recorded().rows() if row.kind == "end"] == []


def test_a_long_transcript_is_cut_in_the_diagram_and_bounded_in_memory(faulty):
    recorder = Recorder(max_lines=10)
    with recorder.attach(Host([faulty("good")])) as host:
        for _ in range(10):
            host.call("echo")
    assert len(recorder.entries) == 10
    assert recorder.dropped > 10
    assert "were not recorded" in recorder.table()
    assert len(recorder.lanes(most_rows=4).rows) == 5
    small = Recorder(max_bytes=100_000)
    with small.attach(Host([faulty("good")])) as host:
        host.call("big", {"size": 200_000})
    assert sum(len(entry.line) for entry in small.entries) < 100_000


def test_a_recorder_comes_before_the_host_is_entered(faulty):
    with Host([faulty("good")]) as host, pytest.raises(UsageError):
        Recorder().attach(host)


def test_a_host_without_a_recorder_has_nothing_in_the_path_of_a_message(faulty):
    with Host([faulty("good")]) as host:
        session = host._members["faulty"].session
        assert session._write_frame == session.transport.writer.write
        assert session.transport.intake._on_line == session._on_line


# --- secrets


@pytest.mark.parametrize(
    "key", ["password", "apiKey", "API_KEY", "api-key", "Authorization", "accessToken", "x_auth", "clientSecret", "PIN"]
)
def test_keys_that_look_secret(key):
    assert looks_secret(key)


@pytest.mark.parametrize(
    "key", ["progressToken", "maxTokens", "author", "authored_by", "keyboard", "key", "spinner", "tokens", "pinned", ""]
)
def test_keys_that_do_not(key):
    assert not looks_secret(key)


def test_values_under_secret_keys_are_masked_at_any_depth_and_wherever_they_come_back(faulty, recorded):
    def call(host):
        host.call("echo", {"text": "the code is hunter2-xyz", "login": {"auth": {"user": "ada9", "list": [12345]}}})
        host.call("echo", {"text": "later", "password": "hunter2-xyz"})

    recorder = recorded(do=call)
    for shown in (recorder.table(), json.dumps(list(recorder.lines()))):
        for secret in ("hunter2-xyz", "ada9", "12345"):
            assert secret not in shown
    assert "hunter2-xyz" in recorder.table(secrets=True)
    assert "the code is ***" in recorder.table()


def test_the_environment_of_a_server_is_never_shown(faulty, recorded):
    config = faulty("good", env={"GITHUB_TOKEN": "ghp_zzz", "PLAIN": "also-hidden", "N": "1"})
    recorder = recorded(config, do=lambda host: host.call("report"))
    shown = recorder.servers() + recorder.table() + json.dumps(list(recorder.lines()))
    assert "GITHUB_TOKEN=*** PLAIN=***" in recorder.servers()
    assert "ghp_zzz" not in shown
    assert "also-hidden" not in shown
    assert "ghp_zzz" in recorder.servers(secrets=True)


def test_a_command_line_loses_its_secrets():
    words = ["srv", "--token", "aaaa1", "--api-key=bbbb2", "--port", "80", "https://ada:cccc3@host/x", "--verbose"]
    shown = ["srv", "--token", "***", "--api-key=***", "--port", "80", "https://ada:***@host/x", "--verbose"]
    assert Masker().command(words) == shown
    assert Masker(show=True).command(words) == words


def test_a_schema_keeps_its_names():
    schema = {"inputSchema": {"properties": {"token": {"type": "string"}}}, "token": {"type": "string"}}
    assert Masker().message(schema) == {"inputSchema": schema["inputSchema"], "token": {"type": "***"}}


# --- words, whatever comes


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, [1], {"a": None}], ids=json.dumps)
@pytest.mark.parametrize(
    "method", ["initialize", "tools/call", "tools/list", "sampling/createMessage", "server/discover", "x"]
)
def test_any_message_has_words(method, value):
    for message in ({"method": method, "params": value}, {"result": value}, {"error": value}):
        assert isinstance(carries(message, method), str)
        assert len(carries(message, method)) <= 56
    for key in ("arguments", "inputResponses", "messages", "capabilities", "supportedVersions", "content", "tools"):
        assert isinstance(carries({"method": method, "params": {key: value}}), str)
        assert isinstance(carries({"result": {key: value}}, method), str)


def test_lines_that_nobody_can_read_are_rows_too():
    recorder = Recorder()
    for line in (b"hello", b"[1]", b"\xff", b"", b'{"jsonrpc":"2.0","id":1.5,"result":5}'):
        recorder.hear("s", 1, lambda line: None)(line)
    recorder.hear("s", 1, lambda line: None)(wire.TooLong(10**9, b"x" * 10, b"y" * 10))
    assert [row.kind for row in recorder.rows()] == ["noise", "noise", "noise", "result", "noise"]


# --- the command, and the files in the repository


def test_the_command_shows_the_transcript_and_writes_figure_and_lines(tmp_path):
    figure, lines = tmp_path / "trace.svg", tmp_path / "trace.jsonl"
    command = [sys.executable, "-m", "mcp_harness", "trace", "search", '{"query": "plan"}', "--figure", figure]
    command += ["--lines", lines, "--", sys.executable, str(CODE / "servers" / "notes.py"), "--era", "2026-07-28"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=CODE, check=True)
    assert "server/discover id 1" in run.stdout
    assert 'search {"query":"plan"}' in run.stdout
    assert "<svg" in figure.read_text()
    assert json.loads(lines.read_text().splitlines()[-1])["message"]["result"]["content"][0]["text"] == "plan"


def test_the_command_shows_what_was_said_before_a_failure():
    command = [
        sys.executable,
        "-m",
        "mcp_harness",
        "trace",
        "nobody",
        "--",
        sys.executable,
        str(CODE / "servers" / "files.py"),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=CODE)
    assert run.returncode == 2
    assert "nobody" in run.stderr
    assert "tools/list id 3" in run.stdout


def test_the_traces_in_the_repository_are_what_a_run_gives():
    run = subprocess.run(
        [sys.executable, CODE / "traces" / "record.py", "--check"], capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_config_that_names_no_server_draws_an_empty_diagram():
    recorder = Recorder()
    recorder.attach(Host([ServerConfig("a", "x")]))
    assert recorder.lanes().names == ("host", "a")
