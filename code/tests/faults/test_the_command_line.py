"""What a stranger's text may do to the output of `python -m mcp_harness`: nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = Path(__file__).resolve().parents[2]


def run(config, *words, **environment):
    """Run the command line on one server; returns exit code, stdout and stderr."""
    command = [sys.executable, "-m", "mcp_harness", *words, "--", config.command, *config.args]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CODE), **environment}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=20)
    return done.returncode, done.stdout, done.stderr


LEGACY = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


@pytest.mark.fault("legacy code page")
@pytest.mark.parametrize(
    ("text", "environment", "shown"),
    [
        ("✓ ok", {"PYTHONUTF8": "1"}, "✓ ok".encode()),
        ("✓ ok", LEGACY, rb"\u2713 ok"),
        ("half \ud800 a character", {"PYTHONUTF8": "1"}, rb"half \ud800 a character"),
    ],
    ids=["UTF-8", "ASCII", "lone surrogate"],
)
def test_the_command_line_prints_any_text_that_a_tool_returns(faulty, text, environment, shown):
    line = '{"jsonrpc": "2.0", "id": $id, "result": ' + json.dumps({"content": [{"type": "text", "text": text}]}) + "}"
    arguments = json.dumps({"lines": [line], "last": True})
    code, stdout, stderr = run(faulty("good"), "call", "say", arguments, **environment)
    assert (code, stdout.strip()) == (0, shown), stderr.decode("latin-1")


@pytest.mark.fault("stderr flood")
def test_the_colours_and_cursor_moves_of_a_server_do_not_reach_the_terminal(faulty):
    code, stdout, stderr = run(faulty("exits-at-once", "--text", "\x1b[31mred\x1b[2J ✓", restart="never"), "doctor")
    assert code == 1
    assert b"\x1b" not in stdout + stderr
    assert rb"\x1b[31mred" in stdout
