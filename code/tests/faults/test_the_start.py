"""Faults while servers start: what is reported, what the other servers notice, what a child is given."""

import json
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from mcp_harness import ConfigError, HandshakeError, Host, HostClosed, Policy, ServerConfig, load_config

SHORT = 0.5  # seconds: a deadline that a test waits for

ENDS = [
    pytest.param(["--code", 3], ["3"], id="exit code 3"),
    pytest.param(["--code", 0], ["0"], id="exit code 0"),
    pytest.param(["--how", "stdout-first"], ["1"], id="stdout ends before the last words"),
    pytest.param(["--signal", 9], ["SIGKILL", "signal 9"], id="killed"),
    pytest.param(["--signal", 11], ["SIGSEGV", "signal 11"], id="segmentation fault"),
]


@pytest.mark.fault("server exits at once, or after a moment")
@pytest.mark.parametrize("mode", ["exits-at-once", "exits-in-handshake"])
@pytest.mark.parametrize("restart", ["never", "on-failure"])
@pytest.mark.parametrize(("end", "words"), ENDS)
def test_an_exit_is_reported_at_once_with_command_code_and_last_words(faulty, mode, restart, end, words):
    began = time.monotonic()
    with Host([faulty(mode, *end, "--text", "no licence key", restart=restart, start_timeout=25)]) as host:
        took, status = time.monotonic() - began, host.status()["faulty"]
    assert took < 5, "it waited for the deadline although the server had gone"
    assert status.state == "failed", "a server that was never ready is not tried again by itself"
    assert "faulty.py" in status.reason, "the command is not named"
    assert any(word in status.reason for word in words)
    assert "no licence key" in status.reason
    assert "no licence key" in status.stderr_tail


@pytest.mark.fault("server exits at once, or after a moment")
@pytest.mark.both_eras
def test_a_server_that_refuses_initialize_is_reported_with_its_own_words(faulty):
    with Host([faulty("refuses-initialize", "--text", "licence expired", restart="never")]) as host:
        status = host.status()["faulty"]
    assert status.state == "failed"
    assert "licence expired" in status.reason
    assert "-32602" in status.reason


@pytest.mark.fault("server exits at once, or after a moment")
@pytest.mark.parametrize(
    "result",
    [
        '{"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}',
        '{"protocolVersion": 7, "capabilities": {}}',
        '{"capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}',
        "{}",
        "[]",
        '"hello"',
        "0",
    ],
)
def test_an_initialize_result_that_makes_no_sense_is_a_failed_server(faulty, result):
    with Host([faulty("odd-initialize", "--text", result, restart="never", start_timeout=20)]) as host:
        status = host.status()["faulty"]
        assert status.state == "failed"
        assert status.reason
        assert status.pid is None


@pytest.mark.fault("server exits at once, or after a moment")
@pytest.mark.parametrize("result", ['{"tools": 5}', '{"tools": {"a": 1}}', "{}", "[]", '"x"', '{"tools": null}'])
@pytest.mark.both_eras
def test_a_tool_list_that_is_none_is_a_failed_server(faulty, result):
    with Host([faulty("odd-tools", "--text", result, restart="never", start_timeout=20)]) as host:
        status = host.status()["faulty"]
        assert status.state == "failed"
        assert "tools" in status.reason


@pytest.mark.fault("server silent at start, or slow to start")
@pytest.mark.both_eras
def test_a_silent_server_fails_at_its_own_deadline_and_the_other_works_meanwhile(faulty, events):
    silent = faulty("silent", name="silent", start_timeout=0.7, restart="never")
    with Host([silent, faulty("good", name="good")], on_event=events, wait=False) as host:
        host.wait_ready("good", timeout=10)
        assert host.status()["silent"].state == "starting"
        assert host.call("echo", {"text": "meanwhile"}, timeout=10).text == "meanwhile"
        events.wait("failed", "silent")
        assert host.status()["silent"].state == "failed"
        assert "0.7" in host.status()["silent"].reason, "the deadline is not named"


@pytest.mark.fault("server silent at start, or slow to start")
@pytest.mark.both_eras
def test_entering_the_host_waits_for_the_slow_one_within_its_own_deadline(faulty, gate):
    slow = gate()
    opener = threading.Thread(target=slow.open)
    opener.start()
    with Host([faulty("slow-start", "--gate", slow, start_timeout=25)]) as host:
        assert host.status()["faulty"].state == "ready"
    opener.join()


@pytest.mark.fault("server silent at start, or slow to start")
def test_the_deadline_counts_from_the_servers_own_start(faulty, gate):
    """One place to start in: the second server begins when the first has used up a second of silence."""
    second = gate()
    configs = [
        faulty("silent", name="first", start_timeout=1.0, restart="never"),
        faulty("slow-start", "--gate", second, name="second", start_timeout=1.0, restart="never"),
    ]
    with Host(configs, max_starting=1, wait=False) as host:
        second.open()
        host.wait_ready("second", timeout=10)
        assert host.status()["first"].state == "failed"


@pytest.mark.fault("server silent at start, or slow to start")
def test_close_does_not_wait_for_a_server_that_is_still_starting(faulty, gate):
    began = time.monotonic()
    with Host([faulty("silent", start_timeout=60)], wait=False):
        pass
    assert time.monotonic() - began < 15


@pytest.mark.fault("server silent at start, or slow to start")
def test_initialize_is_never_cancelled(faulty, tmp_path):
    record = tmp_path / "record"
    with Host([faulty("silent", "--record", record, start_timeout=0.5, restart="never")]) as host:
        assert host.status()["faulty"].state == "failed"
    methods = [json.loads(line)["method"] for line in record.read_text().splitlines() if line.startswith("{")]
    assert methods == ["initialize"]


@pytest.mark.fault("many slow servers, started one after another")
@pytest.mark.parametrize("number", [2, 6])
@pytest.mark.both_eras
def test_slow_servers_start_together(faulty, gate, number):
    """None is let through before all of them have arrived: one after another would never end."""
    gates = [gate() for _ in range(number)]
    configs = [
        faulty("slow-start", "--gate", each, name=f"s{index}", start_timeout=25) for index, each in enumerate(gates)
    ]
    with Host(configs, wait=False) as host:
        arrived = [each.arrive() for each in gates]
        for each in arrived:
            each.close()
        for config in configs:
            host.wait_ready(config.name, timeout=10)
        assert {status.state for status in host.status().values()} == {"ready"}


@pytest.mark.fault("many slow servers, started one after another")
def test_not_more_servers_start_at_once_than_the_bound_allows(faulty, gate, tmp_path):
    gates, starts = [gate() for _ in range(4)], tmp_path / "starts"
    configs = [
        faulty("slow-start", "--gate", each, "--starts", starts, name=f"s{index}", start_timeout=25)
        for index, each in enumerate(gates)
    ]
    with Host(configs, max_starting=2, wait=False) as host:
        arrived = [gates[0].arrive(), gates[1].arrive()]
        assert [status.pid is not None for status in host.status().values()] == [True, True, False, False]
        assert len(starts.read_text().splitlines()) == 2
        for each in arrived:
            each.close()
        gates[2].open()
        gates[3].open()
        for config in configs:
            host.wait_ready(config.name, timeout=10)


BAD = [
    pytest.param(("exits-at-once",), id="exits"),
    pytest.param(("silent",), id="silent"),
    pytest.param(("refuses-initialize",), id="refuses"),
    pytest.param(("odd-tools", "--text", "7"), id="lists nonsense"),
]


@pytest.mark.fault("one bad server among good ones")
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("bad", BAD)
def test_the_others_work_and_the_status_names_the_bad_one(faulty, bad, position):
    configs = [faulty("good", name="one"), faulty("good", name="two")]
    configs.insert(
        position, faulty(*bad, name="bad", start_timeout=SHORT if bad[0] == "silent" else 20, restart="never")
    )
    with Host(configs, policy=Policy.PREFIX_ALL) as host:
        states = {name: status.state for name, status in host.status().items()}
        assert states == {"one": "ready", "two": "ready", "bad": "failed"}
        assert list(states) == [config.name for config in configs], "the order of the configuration is lost"
        assert host.status()["bad"].reason
        assert host.status()["one"].reason in ("", None)
        assert host.call("one/echo", {"text": "1"}, timeout=10).text == "1"
        assert host.call("two/echo", {"text": "2"}, timeout=10).text == "2"


@pytest.mark.fault("one bad server among good ones")
@pytest.mark.both_eras
def test_a_missing_command_does_not_stop_the_others(faulty):
    configs = [ServerConfig("bad", "no-such-command-anywhere", restart="never"), faulty("good", name="good")]
    with Host(configs) as host:
        assert host.status()["bad"].state == "failed"
        assert host.call("echo", {"text": "still"}, timeout=10).text == "still"


@pytest.mark.fault("command missing, PATH stripped")
def test_a_missing_command_is_shown_with_the_path_that_was_searched(tmp_path):
    config = ServerConfig("lost", "no-such-command-anywhere", env={"PATH": str(tmp_path)}, restart="never")
    with Host([config]) as host:
        reason = host.status()["lost"].reason
    assert "no-such-command-anywhere" in reason
    assert str(tmp_path) in reason


@pytest.mark.fault("command missing, PATH stripped")
def test_a_space_in_the_command_is_pointed_out(tmp_path):
    with Host([ServerConfig("lost", "npx -y some-server", restart="never")]) as host:
        reason = host.status()["lost"].reason
    assert "npx -y some-server" in reason
    assert "space" in reason
    assert "args" in reason


@pytest.mark.fault("command missing, PATH stripped")
def test_the_command_is_searched_on_the_path_that_the_server_gets(tmp_path, mark):
    tool = tmp_path / "my-server"
    tool.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write('found me')\nsys.exit(4)\n")
    tool.chmod(0o755)
    with Host([ServerConfig("found", "my-server", env={"PATH": str(tmp_path)}, restart="never")]) as host:
        assert "found me" in host.status()["found"].reason


@pytest.mark.fault("command missing, PATH stripped")
@pytest.mark.parametrize("kind", ["a folder", "not executable", "not a program", "no such working directory"])
def test_a_command_that_cannot_be_started_is_a_sentence_not_a_crash(tmp_path, kind):
    command, cwd = tmp_path / "thing", None
    if kind == "a folder":
        command.mkdir()
    elif kind == "no such working directory":
        command, cwd = sys.executable, str(tmp_path / "nowhere")
    else:
        command.write_bytes(b"\0\1\2 no program")
        command.chmod(0o755 if kind == "not a program" else 0o644)
    with Host([ServerConfig("odd", str(command), cwd=cwd, restart="never", start_timeout=10)]) as host:
        status = host.status()["odd"]
        assert status.state == "failed"
        assert str(command if cwd is None else cwd) in status.reason


@pytest.mark.fault("command missing, PATH stripped")
def test_a_command_that_cannot_be_started_leaves_no_descriptor(leaks):
    before = leaks()
    for _ in range(20):
        with Host([ServerConfig("lost", "/no/such/command", restart="never")]):
            pass
    assert before.since() == []


@pytest.mark.fault("every secret of the host in every child")
@pytest.mark.both_eras
def test_a_child_gets_a_short_list_of_variables_and_what_the_configuration_declares(faulty, facts, monkeypatch):
    for name in ("AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "PGPASSWORD", "MY_SETTING", "PYTHONPATH"):
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("HOME", "/the/home")
    with Host([faulty("good", env={"GITHUB_TOKEN": "declared", "MODE": "x=y\n✓"})]) as host:
        environment = facts(host)["environment"]
    assert environment["HOME"] == "/the/home"
    assert environment["PATH"] == os.environ["PATH"]
    assert environment["GITHUB_TOKEN"] == "declared"
    assert environment["MODE"] == "x=y\n✓"
    assert "hunter2" not in environment.values()
    assert len(environment) < 25


@pytest.mark.fault("every secret of the host in every child")
def test_a_child_gets_no_descriptor_but_its_three_pipes(faulty, facts, tmp_path):
    """An inheritable descriptor of the host stays with the host."""
    with open(tmp_path / "secret", "w") as secret:
        os.set_inheritable(secret.fileno(), True)
        with Host([faulty("good", name="a"), faulty("good", name="b")], policy=Policy.PREFIX_ALL) as host:
            for name in ("a", "b"):
                assert facts(host, f"{name}/report")["descriptors"] == [0, 1, 2]


@pytest.mark.fault("`${VAR}` undefined")
def test_an_undefined_variable_names_server_and_key_and_the_others_work(monkeypatch):
    monkeypatch.delenv("NO_SUCH_TOKEN", raising=False)
    entry = {"command": "some-server", "args": ["--token", "${NO_SUCH_TOKEN}"]}
    with pytest.raises(ConfigError) as caught:
        load_config({"mcpServers": {"github": entry}})
    assert "github" in str(caught.value)
    assert "NO_SUCH_TOKEN" in str(caught.value)
    assert "args" in str(caught.value)


@pytest.mark.fault("`${VAR}` undefined")
def test_a_default_takes_the_place_of_an_undefined_variable_on_its_way_to_the_child(faulty, facts, monkeypatch):
    monkeypatch.delenv("NO_SUCH_TOKEN", raising=False)
    monkeypatch.setenv("SOME_TOKEN", "given")
    good = faulty("good")
    entry = {
        "command": good.command,
        "args": list(good.args),
        "env": {"A": "${NO_SUCH_TOKEN:-fallback}", "B": "<${SOME_TOKEN}>", "C": "${NO_SUCH_TOKEN:-}", "D": "$HOME"},
    }
    with Host(load_config({"mcpServers": {"faulty": entry}})) as host:
        environment = facts(host)["environment"]
    assert [environment[key] for key in "ABCD"] == ["fallback", "<given>", "", "$HOME"]


LEGACY_HOST = """
    import sys
    sys.path.insert(0, {code!r})
    from mcp_harness import Host, load_config
    with Host(load_config({config!r})) as host:
        assert host.status()["faulty"].state == "ready", ascii(host.status()["faulty"].reason)
        text = host.call("echo", {{"text": "h\\u00e9llo \\u2713 \\u6f22\\u5b57 \\U0001f600"}}, timeout=10).text
        assert text == "h\\u00e9llo \\u2713 \\u6f22\\u5b57 \\U0001f600", ascii(text)
        assert host.status()["faulty"].stderr_tail == (), host.status()["faulty"].stderr_tail
    print("same")
"""


@pytest.mark.fault("legacy code page")
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_text_survives_a_host_that_runs_under_a_legacy_code_page(faulty, tmp_path, encoding):
    good, code = faulty("good"), os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    entry = {"command": good.command, "args": list(good.args), "env": {"NOTE": "ünï ✓"}}
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"faulty": entry}}, ensure_ascii=False), "utf-8")
    script = textwrap.dedent(LEGACY_HOST.format(code=code, config=str(path)))
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, "PYTHONIOENCODING": encoding},
        capture_output=True,
        timeout=20,
    )
    assert done.stdout.decode("latin-1").strip() == "same", done.stderr.decode("latin-1")


@pytest.mark.fault("server exits at once, or after a moment")
def test_a_failed_server_can_be_tried_again_and_says_again_why(faulty, tmp_path):
    starts = tmp_path / "starts"
    with Host([faulty("exits-at-once", "--starts", starts, "--text", "no licence key", restart="never")]) as host:
        for _ in range(2):
            with pytest.raises(HandshakeError) as caught:
                host.restart("faulty")
            assert "no licence key" in str(caught.value)
        with pytest.raises(HandshakeError):
            host.wait_ready("faulty", timeout=5)
    assert len(starts.read_text().splitlines()) == 3
    with pytest.raises(HostClosed):
        host.restart("faulty")
