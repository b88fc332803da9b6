"""The clients under test, and how verdicts of the conformance suite are read. The suite itself is not run."""

import http.server
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conformance import install, run, scenarios
from main import make_files_server
from mcp_harness import BadReply
from servers.stateless import stateless

FOLDER = Path(run.__file__).parent
ERAS = list(run.SCENARIOS)
OTHERS = {
    "prompts/list": {"prompts": [{"name": "greet"}]},
    "prompts/get": {"messages": []},
    "resources/list": {"resources": [{"uri": "file:///a", "name": "a"}]},
    "resources/read": {"contents": []},
}


# --- both clients against a server behind HTTP -------------------------------------------------


class Passing(http.server.BaseHTTPRequestHandler):
    """An HTTP server round a function of `main.py`; notes what is posted."""

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append(message)
        reply = self.server.function(message)
        body = b"" if reply is None else json.dumps(reply).encode()
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def with_prompts(inner):
    """The same server, with a prompt and a resource."""

    def serve(message):
        if message["method"] in OTHERS:
            return {"jsonrpc": "2.0", "id": message["id"], "result": OTHERS[message["method"]]}
        return inner(message)

    return serve


@pytest.fixture
def speaking(http_server):
    """`speaking(era)`: a server of that revision."""

    def start(era):
        server = http_server(Passing)
        files = with_prompts(make_files_server())
        server.function = stateless(files) if era == "2026-07-28" else files
        return server

    return start


def play(client, scenario, era, port, *more):
    """Run a client's script as the suite does."""
    command = [sys.executable, str(FOLDER / run.CLIENTS[client]), f"http://127.0.0.1:{port}/mcp", *more]
    environ = os.environ | {"MCP_CONFORMANCE_SCENARIO": scenario, "MCP_CONFORMANCE_PROTOCOL_VERSION": era}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environ)


@pytest.mark.parametrize("client", run.CLIENTS)
@pytest.mark.parametrize("era", ERAS)
def test_both_clients_open_call_and_read_all(speaking, client, era):
    server = speaking(era)
    done = play(client, "http-standard-headers", era, server.server_port)
    assert done.returncode == 0, done.stderr
    methods = [message["method"] for message in server.seen]
    assert methods[0] == ("initialize" if era == "2025-11-25" else "server/discover")
    asked = [method for method in methods if method in {"tools/call", *OTHERS}]
    assert asked == ["tools/call", "tools/call", *OTHERS]
    assert f"state ready era {era} tools 2" in done.stdout
    assert "read file:///a result" in done.stdout


@pytest.mark.parametrize("client", run.CLIENTS)
def test_a_server_that_does_not_start_is_exit_code_1_with_the_reason(client):
    done = play(client, "tools_call", "2025-11-25", 9)  # the discard port: nobody listens
    assert done.returncode == 1
    assert "state failed" in done.stdout
    assert "the post failed" in done.stderr


@pytest.mark.parametrize("client", run.CLIENTS)
@pytest.mark.parametrize(("scenario", "more"), [("auth/basic", []), ("tools_call", ["--verbose"])])
def test_what_makes_no_sense_is_exit_code_2_with_the_names(client, scenario, more):
    done = play(client, scenario, "2025-11-25", 9, *more)
    assert done.returncode == 2
    assert "tools_call" in done.stderr


# --- plans ---------------------------------------------------------------------------------


def test_a_plan_goes_on_after_a_refusal():
    plan = scenarios.read_all({})
    steps, answers = [], iter([None, BadReply("suite", "no"), {"resources": [{"uri": "u"}]}, BadReply("suite", "no")])
    while (step := scenarios.resume(plan, next(answers))) is not None:
        steps.append(step.arguments[1:])
    assert steps == [("prompts/list",), ("resources/list",), ("resources/read", {"uri": "u"})]


def test_each_scenario_that_is_asked_for_has_a_plan():
    asked = {scenario for names in run.SCENARIOS.values() for scenario in names}
    assert asked == set(scenarios.SCENARIOS)


def test_an_elicitation_is_answered_with_its_defaults():
    schema = {"properties": {"name": {"default": "Ada"}, "age": {"type": "number"}}}
    assert scenarios.accept_defaults("s", {"requestedSchema": schema})["content"] == {"name": "Ada"}


# --- verdicts --------------------------------------------------------------------------------


def verdict(*statuses, problem="", client="Host"):
    checks = tuple(run.Check(f"check-{number}", status) for number, status in enumerate(statuses))
    return run.Verdict(client, "2026-07-28", "tools_call", checks, problem)


@pytest.mark.parametrize(
    ("one", "passed"),
    [
        (verdict("SUCCESS", "INFO", "SKIPPED"), True),
        (verdict("SUCCESS", "FAILURE"), False),
        (verdict("SUCCESS", "WARNING"), False),
        (verdict("INFO"), False),
        (verdict(), False),
        (verdict("SUCCESS", problem="exit code 1"), False),
    ],
)
def test_a_scenario_passes_only_if_something_was_checked_and_all_of_it_is_well(one, passed):
    assert one.passed is passed


def test_the_table_has_a_column_for_each_client_and_says_what_failed_in_the_suites_words():
    checks = (run.Check("check-0", "SUCCESS"), run.Check("add", "FAILURE", "5 + 3 was 7"), run.Check("w", "WARNING"))
    failed = run.Verdict("SdkHost", "2026-07-28", "tools_call", checks)
    page = run.table([verdict("SUCCESS", "SUCCESS"), failed], "suite 1")
    assert "suite 1. Host passed 1 of 1 scenarios, SdkHost passed 0 of 1 scenarios." in page
    assert "| revision | scenario | `Host` | `SdkHost` |\n|---|---|--:|--:|" in page
    assert "| 2026-07-28 | `tools_call` | 2 ✓ | 1, 1 failed, 1 warned ✗ |" in page
    assert "- SdkHost, 2026-07-28 `tools_call`, failure `add`: 5 + 3 was 7" in page
    assert "- 2026-07-28 `tools_call`: check-0; `Host` also check-1" in page


def test_a_client_that_was_not_judged_has_no_column():
    page = run.table([verdict("SUCCESS")], "suite 1")
    assert "| revision | scenario | `Host` |\n" in page
    assert "Failures" not in page


def test_a_suite_that_says_nothing_is_a_failure(tmp_path):
    silent = tmp_path / "suite.py"
    silent.write_text("print('no such scenario')")
    found = run.judge([sys.executable, str(silent)], "Host", "2026-07-28", "tools_call")
    assert not found.passed
    assert "no such scenario" in found.problem


def test_a_suite_that_hangs_is_ended(tmp_path):
    hangs = tmp_path / "suite.py"
    hangs.write_text("import os\nreading, writing = os.pipe()\nos.read(reading, 1)\n")
    code, output = run.run_bounded([sys.executable, str(hangs)], 0.5)
    assert code is None
    assert "no end" in output


# --- the commands ------------------------------------------------------------------------------


@pytest.fixture
def referee(monkeypatch):
    """`referee(statuses, *options)`: the exit code of run.py and who was judged in what; `saved` is what it wrote."""

    def start(statuses, *options):
        judged = []

        def judge(suite, client, revision, scenario):
            judged.append((client, revision, scenario))
            return verdict(statuses.get(client, "SUCCESS"), client=client)

        monkeypatch.setattr(run, "find_suite", lambda: ["suite"])
        monkeypatch.setattr(run, "judge", judge)
        monkeypatch.setattr(run, "name_versions", lambda suite: "suite 1")
        monkeypatch.setattr(run, "save", lambda verdicts, versions: start.saved.append(len(verdicts)))
        monkeypatch.setattr(sys, "argv", ["run.py", *options])
        return run.main(), judged

    start.saved = []
    return start


def test_one_run_judges_both_clients_in_all_scenarios_and_saves(referee):
    code, judged = referee({})
    assert code == 0
    assert len(judged) == len(set(judged)) == 20
    assert {client for client, _, _ in judged} == {"Host", "SdkHost"}
    assert referee.saved == [20]


def test_one_client_that_fails_is_exit_code_1(referee):
    assert referee({"SdkHost": "FAILURE"})[0] == 1


def test_a_part_is_run_and_nothing_saved(referee):
    code, judged = referee({"SdkHost": "FAILURE"}, "--client", "Host", "--scenario", "tools_call")
    assert (code, judged) == (0, [("Host", "2025-11-25", "tools_call"), ("Host", "2026-07-28", "tools_call")])
    assert referee.saved == []


def test_nothing_run_is_exit_code_2(referee, monkeypatch, capsys):
    assert referee({}, "--revision", "2026-07-28", "--scenario", "initialize") == (2, [])
    assert "2025-11-25: initialize" in capsys.readouterr().err

    def missing():
        raise install.Missing("run: install.py")

    monkeypatch.setattr(run, "find_suite", missing)
    monkeypatch.setattr(sys, "argv", ["run.py"])
    assert run.main() == 2
    assert capsys.readouterr().err == "run: install.py\n"


@pytest.mark.parametrize("script", ["install.py", "run.py"])
def test_help_has_an_example_and_the_exit_codes(script):
    command = [sys.executable, str(FOLDER / script), "--help"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "example: python code/conformance/" in told
    assert "exit code: 0" in told
