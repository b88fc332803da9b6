"""The command line: what it prints, and exit codes that tell the truth."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp_harness.__main__ import main

CODE = Path(__file__).resolve().parents[1]
SERVERS = CODE / "servers"


def server(name):
    return [sys.executable, "-I", "-S", str(SERVERS / f"{name}.py")]


def entry(name):
    command, *args = server(name)
    return {"command": command, "args": args}


@pytest.fixture
def config(tmp_path):
    """Writes a configuration and returns its path."""

    def write(**servers):
        path = tmp_path / "servers.json"
        path.write_text(json.dumps({"mcpServers": servers}), "utf-8")
        return str(path)

    return write


BROKEN = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('the disk is full')"]}


def test_tools_lists_them_by_server(config, capsys):
    assert main(["tools", config(notes=entry("notes"), files=entry("files"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "notes (2 tools)"
    assert [line.split()[0] for line in lines[1:3]] == ["search", "create"]
    assert lines[3] == "files (2 tools)"
    assert [line.split()[0] for line in lines[4:]] == ["read", "files/search"]
    assert "Read a file." in lines[4]


def test_a_command_behind_two_dashes_is_a_server(capsys):
    assert main(["tools", "--", *server("github")]) == 0
    assert "list_issues" in capsys.readouterr().out


def test_the_policy_can_be_chosen(config, capsys):
    assert main(["tools", "--policy", "prefix-all", config(notes=entry("notes"))]) == 0
    assert "notes/search" in capsys.readouterr().out


def test_tools_of_a_file_with_a_broken_server_shows_the_rest_and_fails(config, capsys):
    assert main(["tools", config(bad=BROKEN, files=entry("files"))]) == 1
    output = capsys.readouterr()
    assert "read" in output.out
    assert "the disk is full" in output.err


def test_call_prints_the_text_of_the_result(config, capsys):
    assert main(["call", config(files=entry("files")), "read", '{"path": "plan.txt"}']) == 0
    assert capsys.readouterr().out == "1. merge 2. route\n"
    assert main(["call", "list_issues", "--", *server("github")]) == 0


def test_a_call_whose_tool_fails_prints_why_and_exits_1(capsys):
    assert main(["call", "read", '{"path": "nowhere"}', "--", *server("files")]) == 1
    assert "nowhere" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["raed", "{}"], "'read'"),
        (["read", "{"], "not JSON"),
        (["read", "[]"], "JSON object"),
        (["read", "{}", "{}"], "too many words"),
        ([], "name a tool"),
    ],
)
def test_a_call_that_is_put_wrongly_exits_2_and_says_how(words, message, capsys):
    assert main(["call", *words, "--", *server("files")]) == 2
    assert message in capsys.readouterr().err


def test_a_call_that_fails_because_a_server_does_exits_1(config, capsys):
    assert main(["call", config(bad=BROKEN), "read", "{}"]) == 1
    assert "the disk is full" in capsys.readouterr().err


def test_a_call_past_its_deadline_exits_1(faulty, capsys):
    never = faulty("never-answers")
    assert main(["call", "--timeout", "0.1", "never", "--", never.command, *never.args]) == 1
    assert "no reply" in capsys.readouterr().err


def test_doctor_shows_each_server_with_its_reason_and_its_last_words(config, capsys):
    path = config(files=entry("files"), bad=BROKEN, gone={"command": "no-such-command"}, web={"url": "https://x"})
    assert main(["doctor", path]) == 1
    output = capsys.readouterr().out
    table = {line.split()[0]: line for line in output.splitlines()[1:5]}
    assert table["files"].split()[1:4] == ["ready", "2025-11-25", "2"]
    assert "exited with code 1" in table["bad"]
    assert "no-such-command" in table["gone"]
    assert "URL" in table["web"]
    assert "stderr: the disk is full" in output
    assert "PATH searched" in output


def test_doctor_of_healthy_servers_exits_0(config, capsys):
    assert main(["doctor", config(files=entry("files"))]) == 0


@pytest.mark.parametrize(
    "words", [["tools"], ["tools", "nowhere.json"], ["doctor", "--"], ["tools", "a", "b", "--", "true"]]
)
def test_what_cannot_be_read_exits_2_with_a_sentence(words, capsys):
    assert main(words) == 2
    assert capsys.readouterr().err.startswith("mcp_harness: ")


def test_unknown_keys_are_a_warning_on_stderr(config, capsys):
    assert main(["doctor", config(files={**entry("files"), "frob": 1})]) == 0
    assert "'frob'" in capsys.readouterr().err


def test_an_empty_configuration_is_a_mistake(config, capsys):
    assert main(["doctor", config()]) == 2


@pytest.mark.parametrize("command", ["tools", "call", "doctor"])
def test_each_command_has_an_example_in_its_help(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert f"example: python -m mcp_harness {command}" in capsys.readouterr().out


def run(*words, **options):
    """The command line as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "mcp_harness", *words],
        env={**os.environ, "PYTHONPATH": str(CODE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("stage", ["start", "call"])
def test_a_signal_ends_the_command_and_all_its_servers(faulty, gate, tmp_path, number, code, stage):
    door = gate()
    slow = (
        faulty("slow-start", "--gate", door)
        if stage == "start"
        else faulty("never-answers", "--record", tmp_path / "r")
    )
    words = ["doctor"] if stage == "start" else ["call", "never"]
    with run(*words, "--", slow.command, *slow.args) as process:
        if stage == "start":
            arrived = door.arrive()  # the server is at its gate: the client waits for it
        else:
            while "tools/call" not in ((tmp_path / "r").read_text("utf-8") if (tmp_path / "r").exists() else ""):
                assert process.poll() is None
            arrived = None
        process.send_signal(number)
        if arrived:
            arrived.close()
        assert process.wait(20) == code, process.stderr.read().decode()
        if number == signal.SIGINT:
            assert b"interrupted" in process.stderr.read()


def test_a_reader_that_has_seen_enough_is_no_traceback(config):
    with run("tools", config(files=entry("files"))) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_that_strikes_inside_a_lock_ends_the_command_all_the_same(monkeypatch, number, code):
    """Python's own Condition complains when it is left between two of its steps; that is no error of anybody's."""

    def strike(options, command):
        try:
            signal.raise_signal(number)
        finally:
            raise RuntimeError("cannot release un-acquired lock")

    monkeypatch.setattr("mcp_harness.__main__.read_servers", strike)
    assert main(["tools", "servers.json"]) == code


def test_the_same_complaint_without_a_signal_is_not_hidden(monkeypatch):
    def complain(options, command):
        raise RuntimeError("cannot release un-acquired lock")

    monkeypatch.setattr("mcp_harness.__main__.read_servers", complain)
    with pytest.raises(RuntimeError):
        main(["tools", "servers.json"])
