"""The end of a host: whatever happens, no process, thread or descriptor stays. The leak check of conftest looks."""

import os
import pty
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from mcp_harness import Host, HostClosed, ServerDied

CODE = Path(__file__).resolve().parents[2]


@pytest.mark.fault("the grandchild survives")
@pytest.mark.parametrize("how", ["plain", "stubborn", "1", "2"], ids=["plain", "stubborn", "writes out", "writes err"])
@pytest.mark.both_eras
def test_the_whole_group_goes_at_close(faulty, how):
    with Host([faulty("leaves-a-grandchild", "--how", how)]) as host:
        assert host.call("echo", {"text": "x"}, timeout=10).text == "x"


@pytest.mark.slow
@pytest.mark.fault("the grandchild survives")
@pytest.mark.parametrize("how", ["plain", "stubborn", "1", "2"], ids=["plain", "stubborn", "writes out", "writes err"])
def test_the_whole_group_goes_when_the_server_dies_by_itself(faulty, events, mark, how):
    with Host([faulty("leaves-a-grandchild", "--how", how, restart="never")], on_event=events) as host:
        with pytest.raises(ServerDied):
            host.call("die", {}, timeout=20)
        events.wait("failed")


@pytest.mark.fault("the grandchild survives")
def test_every_server_leads_a_group_of_its_own(faulty, facts):
    with Host([faulty("good", name="a"), faulty("good", name="b")]) as host:
        a, b = facts(host, "report"), facts(host, "b/report")
    assert a["group"] == a["pid"]
    assert b["group"] == b["pid"]


@pytest.mark.slow
@pytest.mark.fault("ignores EOF, ignores SIGTERM")
@pytest.mark.parametrize("mode", ["stops-reading", "leaves-a-grandchild"])
def test_a_stubborn_server_ends_within_a_bound(faulty, mode):
    with Host([faulty(mode)]) as host:
        host.wait_ready("faulty", timeout=10)
        began = time.monotonic()
    assert time.monotonic() - began < 12


@pytest.mark.slow
@pytest.mark.fault("ignores EOF, ignores SIGTERM")
def test_stubborn_servers_are_ended_in_parallel(faulty):
    """One takes 4 seconds: 2 after the end of stdin, 2 after SIGTERM. Eight in a row would take 32."""
    with Host([faulty("ignores-sigterm", name=f"s{index}") for index in range(8)]):
        began = time.monotonic()
    assert time.monotonic() - began < 15


@pytest.mark.fault("ignores EOF, ignores SIGTERM")
def test_all_servers_see_the_end_of_stdin_before_any_is_waited_for(faulty, gate, tmp_path):
    """Each one is at its gate before any is let through, and none needs a signal."""
    gates, record = [gate() for _ in range(4)], tmp_path / "record"
    configs = [
        faulty("ends-at-gate", "--gate", each, "--record", record, name=f"s{index}") for index, each in enumerate(gates)
    ]

    def let_through():
        arrived = [each.arrive() for each in gates]
        for each in arrived:
            each.close()

    opener = threading.Thread(target=let_through)
    with Host(configs):
        opener.start()
    opener.join()
    assert b"SIG" not in record.read_bytes()


@pytest.mark.fault("ignores EOF, ignores SIGTERM")
def test_a_server_that_ends_with_its_stdin_gets_no_signal(faulty, tmp_path):
    with Host([faulty("good", "--record", tmp_path / "record")]):
        pass
    assert b"SIG" not in (tmp_path / "record").read_bytes()


@pytest.mark.slow
@pytest.mark.fault("ignores EOF, ignores SIGTERM")
@pytest.mark.both_eras
def test_a_server_that_ignores_eof_gets_sigterm_before_sigkill(faulty, tmp_path):
    with Host([faulty("ignores-eof", "--record", tmp_path / "record")]):
        pass
    assert b"SIGTERM" in (tmp_path / "record").read_bytes()


WAIT = "while True: time.sleep(0.1)"  # signal.pause() could begin just after the signal, and would wait for ever

HOST = """
    import os, signal, sys, time
    sys.path.insert(0, {code!r})
    from mcp_harness import Host, load_config
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts `command &` with SIGINT ignored
    def tell(word):
        os.write(1, word.encode() + b"\\n")
    with Host(load_config({config!r}), on_event=lambda event: tell("event")) as host:
        tell("ready")
        {body}
"""


@pytest.fixture
def host_process(tmp_path, faulty):
    """Write a host program; it says `ready` on stdout when its servers are up, then runs `body`."""

    def write(configs, body):
        import json

        entries = {config.name: {"command": config.command, "args": list(config.args)} for config in configs}
        config = tmp_path / "servers.json"
        config.write_text(json.dumps({"mcpServers": entries}))
        script = tmp_path / "host.py"
        script.write_text(textwrap.dedent(HOST.format(code=str(CODE), config=str(config), body=body)))
        return script

    return write


@pytest.mark.fault("Ctrl-C reaches the children first")
def test_ctrl_c_in_a_terminal_reaches_the_host_alone(host_process, faulty, tmp_path):
    """A real terminal: the key sends SIGINT to its foreground group. The servers then end with their stdin."""
    record = tmp_path / "record"
    servers = [
        faulty("good", "--record", record, name="a"),
        faulty("leaves-a-grandchild", "--record", record, name="b"),
    ]
    script = host_process(servers, WAIT)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, str(script)])
    shown = b""
    try:
        while b"ready" not in shown:
            shown += os.read(terminal, 1024)
        os.write(terminal, b"\x03")
        while True:
            try:
                shown += os.read(terminal, 1024)
            except OSError:
                break  # the other side of the terminal has gone
    finally:
        os.close(terminal)  # hangs up: a host that is still there ends
        _, status = os.waitpid(pid, 0)
    assert b"KeyboardInterrupt" in shown
    assert os.waitstatus_to_exitcode(status) != 0
    assert b"SIGINT" not in record.read_bytes(), "the key reached a server"


def run_host(script, number=None):
    """Run a host program to its end, with a signal when it is ready; returns exit code and stderr."""
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while (line := process.stdout.readline()) != b"ready\n":
            assert line, process.stderr.read().decode()
        if number:
            process.send_signal(number)
        _, stderr = process.communicate(timeout=20)
    return process.returncode, stderr.decode()


@pytest.mark.slow
@pytest.mark.fault("Ctrl-C reaches the children first")
@pytest.mark.parametrize("mode", ["good", "leaves-a-grandchild", "ignores-sigterm", "never-answers"])
def test_sigint_in_a_host_leaves_nothing_alive(host_process, faulty, mode):
    body = 'host.call("never", {}, timeout=60)' if mode == "never-answers" else WAIT
    code, stderr = run_host(host_process([faulty(mode)], body), signal.SIGINT)
    assert "KeyboardInterrupt" in stderr
    assert code != 0


@pytest.mark.slow
@pytest.mark.fault("Ctrl-C reaches the children first")
def test_sigint_while_the_servers_start_leaves_nothing_alive(host_process, faulty, gate, tmp_path):
    door = gate()
    script = host_process([faulty("slow-start", "--gate", door), faulty("good", name="good")], "pass")
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process, door.arrive():  # the host waits in `with`
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=20)
    assert b"KeyboardInterrupt" in stderr
    assert b"ready" not in stdout


@pytest.mark.fault("Ctrl-C reaches the children first")
@pytest.mark.both_eras
def test_sigint_while_entering_a_host_leaves_nothing_in_a_program_that_goes_on(faulty, gate):
    """As in a notebook, where the interrupted cell is not the end of the kernel."""
    door = gate()

    def interrupt():
        with door.arrive():
            os.kill(os.getpid(), signal.SIGINT)

    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt), Host([faulty("slow-start", "--gate", door, start_timeout=25)]):
            thread.join(20)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, old)


@pytest.mark.fault("Ctrl-C reaches the children first")
def test_a_second_sigint_while_the_servers_end_kills_what_is_left(host_process, faulty, gate):
    door = gate()
    script = host_process([faulty("ends-at-gate", "--gate", door), faulty("ignores-sigterm", name="s")], WAIT)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while b"ready" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        with door.arrive():  # the host waits in `close`
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=20)
    assert stderr.count(b"KeyboardInterrupt") >= 2
    assert time.monotonic() - began < 1.9, "the second Ctrl-C did not shorten the end, which takes 4 s"


@pytest.mark.fault("Ctrl-C reaches the children first")
def test_a_host_that_ends_without_leaving_the_block_leaves_no_server_that_honours_eof(host_process, faulty):
    """SIGKILL gives the host no chance: its pipes close, and a server that reads its stdin ends."""
    code, _ = run_host(host_process([faulty("good")], WAIT), signal.SIGKILL)
    assert code == -signal.SIGKILL


@pytest.mark.fault("Ctrl-C reaches the children first")
def test_an_interpreter_can_end_with_a_host_that_nobody_closed(tmp_path, faulty):
    """The threads of the client must not keep the interpreter from its end."""
    good = faulty("good")
    script = tmp_path / "host.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(CODE)!r})\n"
        "from mcp_harness import Host, ServerConfig\n"
        f"host = Host([ServerConfig('a', {good.command!r}, {tuple(good.args)!r})])\n"
        "host.__enter__()\nprint('ready', flush=True)\n"
    )
    code, stderr = run_host(script)
    assert (code, stderr) == (0, "")


class OwnError(Exception):
    pass


@pytest.mark.fault("start and stop 200 times")
@pytest.mark.parametrize(
    ("error", "mode"),
    [
        (OwnError, "leaves-a-grandchild"),
        (OwnError, "good"),
        (KeyboardInterrupt, "good"),
        (SystemExit, "good"),
        (GeneratorExit, "good"),
    ],
)
def test_an_exception_in_the_block_comes_out_unchanged_and_leaves_nothing(faulty, error, mode):
    raised = error("mine")
    with pytest.raises(error) as caught, Host([faulty(mode)]):
        raise raised
    assert caught.value is raised
    assert caught.value.__cause__ is None


@pytest.mark.fault("start and stop 200 times")
@pytest.mark.parametrize("error", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_a_callback_that_raises_still_hears_of_what_comes_later(faulty, events, error):
    def broken(event):
        events(event)
        raise error("the callback is broken")

    with Host([faulty("good"), faulty("exits-at-once", name="bad")], on_event=broken) as host:
        assert host.call("echo", {"text": "x"}, timeout=10).text == "x"
        host.call("change", {"tools": ["new"]}, timeout=10)
        events.wait("tools_changed")
        assert host.status()["faulty"].state == "ready"


@pytest.mark.slow
@pytest.mark.fault("start and stop 200 times")
def test_a_callback_that_never_returns_does_not_hold_up_calls_or_close(faulty):
    held = threading.Event()
    try:
        with Host([faulty("banners")], on_event=lambda event: held.wait(20)) as host:
            assert host.call("echo", {"text": "x"}, timeout=10).text == "x"
            began = time.monotonic()
        assert time.monotonic() - began < 12
    finally:
        held.set()


@pytest.mark.fault("start and stop 200 times")
def test_a_callback_may_call_a_tool_and_close_the_host(faulty):
    done = threading.Event()

    def on_event(event):
        if event.kind == "ready":
            assert host.call("echo", {"text": "inside"}, timeout=10).text == "inside"
            host.close()
            done.set()

    host = Host([faulty("good")], on_event=on_event)
    with host:
        assert done.wait(10)


@pytest.mark.fault("start and stop 200 times")
def test_close_may_be_called_twice_and_from_two_threads(faulty):
    with Host([faulty("good")]) as host:
        threads = [threading.Thread(target=host.close) for _ in range(3)]
        for thread in threads:
            thread.start()
        host.close()
        for thread in threads:
            thread.join()
    host.close()
    with pytest.raises(HostClosed):
        host.call("echo", {}, timeout=1)


@pytest.mark.fault("start and stop 200 times")
@pytest.mark.both_eras
def test_a_call_that_waits_while_the_host_is_closed_ends_at_once(faulty):
    raised = []
    with Host([faulty("never-answers")]) as host:
        sent = threading.Event()

        def call():
            try:
                sent.set()
                host.call("never", {}, timeout=60)
            except Exception as error:
                raised.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        sent.wait()
    thread.join(10)
    assert not thread.is_alive()
    assert isinstance(raised[0], HostClosed | ServerDied)
