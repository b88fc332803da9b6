"""Put both clients under the official referee: `python code/conformance/run.py`.

Each scenario that a stdio client can face is run in each revision it belongs to, with `Host` and
with `SdkHost`. The suite starts an HTTP server on loopback, runs the client's script with its
address, and judges what arrived; `bridge.py` carries stdio to HTTP. The table goes to
`outputs/conformance/`, made by the run.

The exit code is 0 only if every scenario ran, made at least one check, and failed none; 1 if one
did not; 2 if nothing was run.
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.install import ROOT, SUITE, Missing, find_suite

CLIENTS = {"Host": "client.py", "SdkHost": "sdk_client.py"}  # who is judged → the script that plays
SCENARIOS = {
    "2025-11-25": (
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "json-schema-2020-12-preservation",
    ),
    "2026-07-28": (
        "tools_call",
        "request-metadata",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
    ),
}
BAD = {"FAILURE", "WARNING"}  # either makes the suite's own exit code 1
SCENARIO_LIMIT = 30  # seconds that the suite gives the client
SUITE_LIMIT = 60  # seconds that we give the suite
OUTPUTS = ROOT / "outputs" / "conformance"
WHO = """\
`Host` is the client of threads, standard library only; `SdkHost` has the same surface on the official SDK.
Both speak stdio, and the same bridge stands between them and the suite, which speaks HTTP: the SDK's own
HTTP transport is not judged here. A cell counts the checks that passed."""
NOT_FACED = """\
What the suite cannot ask of a stdio client: `auth/*`, `sse-retry`, `http-custom-headers` and
`http-invalid-tool-headers` judge HTTP itself, and the `sep-2640-*` scenarios an extension. In
`http-standard-headers` the headers are written by the bridge, from what the client's lines say.
What the suite leaves out of stdio (its issue 258): probing with `server/discover` first, cancelling by
notification, stopping on cancel, starting a dead server again, a supported version after -32022,
listening again after a restart. Scripted servers in `code/tests/eras` ask `Host` for all of those; of `SdkHost`
`code/tests/faults/sdk.md` says what is proved, and the rest is the SDK's."""


@dataclass(frozen=True)
class Check:
    """One verdict of the suite. `status`: SUCCESS, FAILURE, WARNING, INFO, SKIPPED."""

    id: str
    status: str
    message: str = ""


@dataclass(frozen=True)
class Verdict:
    """One client in one scenario of one revision. `problem` is set where the run itself went wrong."""

    client: str
    revision: str
    scenario: str
    checks: tuple[Check, ...] = ()
    problem: str = ""

    @property
    def passed(self) -> bool:
        """At least one check, and as in the suite no failure or warning: what checked nothing proves nothing."""
        statuses = {check.status for check in self.checks}
        return not self.problem and "SUCCESS" in statuses and not statuses & BAD


# --- one scenario --------------------------------------------------------------------------


def judge(suite: Sequence[str], client: str, revision: str, scenario: str) -> Verdict:
    """Run one scenario. Never raises for what the suite or the client does."""
    command = shlex.join([sys.executable, str(Path(__file__).with_name(CLIENTS[client]))])
    with tempfile.TemporaryDirectory() as folder:
        options = ["--scenario", scenario, "--spec-version", revision, "--output-dir", folder]
        options += ["--timeout", str(1000 * SCENARIO_LIMIT)]
        code, output = run_bounded([*suite, "client", "--command", command, *options], SUITE_LIMIT)
        found = sorted(Path(folder).glob("**/checks.json"))
        if not found:
            problem = f"no verdict, exit code {code}: {last_line(output)}"
            return Verdict(client, revision, scenario, problem=problem)
        checks = read_checks(found[0].read_text(encoding="utf-8"))
        problem = ""
        if code != 0 and not any(check.status in BAD for check in checks):
            problem = f"exit code {code}: {last_line(output)}"
        return Verdict(client, revision, scenario, checks, problem)


def run_bounded(command: Sequence[str], seconds: float) -> tuple[int | None, str]:
    """Run a command in a process group of its own, and leave none of it: (exit code or None, its output)."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        return None, f"no end within {seconds} s"
    finally:
        with contextlib.suppress(ProcessLookupError):  # all of the group has ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def read_checks(text: str) -> tuple[Check, ...]:
    """The checks in a `checks.json`."""
    return tuple(
        Check(check["id"], check["status"], str(check.get("errorMessage") or check.get("description") or ""))
        for check in json.loads(text)
    )


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "(no output)"


# --- the table -----------------------------------------------------------------------------


def table(verdicts: Iterable[Verdict], versions: str) -> str:
    """The results as a Markdown page: a row for each scenario, a column for each client."""
    verdicts = list(verdicts)
    clients = [client for client in CLIENTS if any(verdict.client == client for verdict in verdicts)]
    rows: dict[tuple[str, str], dict[str, Verdict]] = {}
    for verdict in verdicts:
        rows.setdefault((verdict.revision, verdict.scenario), {})[verdict.client] = verdict
    lines = [
        "# The clients under the official conformance suite",
        "",
        f"Made by `make conformance`: {versions}. {summary(verdicts)}",
        "",
        WHO,
        "",
        "| revision | scenario |" + "".join(f" `{client}` |" for client in clients),
        "|---|---|" + "--:|" * len(clients),
    ]
    for (revision, scenario), row in rows.items():
        cells = "".join(f" {cell(row[client]) if client in row else 'not run'} |" for client in clients)
        lines.append(f"| {revision} | `{scenario}` |{cells}")
    remarks = [remark for verdict in verdicts for remark in remarks_on(verdict)]
    if remarks:
        lines += ["", "## Failures and warnings", "", *(f"- {remark}" for remark in remarks)]
    lines += ["", "## Checks that passed", ""]
    for (revision, scenario), row in rows.items():
        lines.append(f"- {revision} `{scenario}`: {'; '.join(checks_of(row))}")
    return "\n".join([*lines, "", "## Not asked here", "", NOT_FACED, ""])


def cell(verdict: Verdict) -> str:
    """One verdict in a few words."""
    count = Counter(check.status for check in verdict.checks)
    words = {"SUCCESS": "", "FAILURE": " failed", "WARNING": " warned"}
    numbers = [f"{count[status]}{word}" for status, word in words.items() if count[status] or not word]
    return f"{', '.join(numbers)} {'✓' if verdict.passed else '✗'}"


def checks_of(row: dict[str, Verdict]) -> list[str]:
    """The names of the checks that passed: those of all clients, then what only some of them passed."""
    passed = {client: {check.id for check in one.checks if check.status == "SUCCESS"} for client, one in row.items()}
    shared = set.intersection(*passed.values())
    told = [", ".join(sorted(shared)) or "none passed by all"]
    for client, names in passed.items():
        if names - shared:
            told.append(f"`{client}` also {', '.join(sorted(names - shared))}")
    return told


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many scenarios each client passed, in a sentence."""
    counts = []
    for client in CLIENTS:
        passed = [verdict.passed for verdict in verdicts if verdict.client == client]
        if passed:
            counts.append(f"{client} passed {sum(passed)} of {len(passed)} scenarios")
    return f"{', '.join(counts)}."


def remarks_on(verdict: Verdict) -> list[str]:
    """What did not pass, each with the suite's own words."""
    where = f"{verdict.client}, {verdict.revision} `{verdict.scenario}`"
    remarks = [f"{where}: {verdict.problem}"] if verdict.problem else []
    for check in verdict.checks:
        if check.status in BAD:
            remarks.append(f"{where}, {check.status.lower()} `{check.id}`: {check.message or 'no message'}")
    return remarks


def save(verdicts: Sequence[Verdict], versions: str) -> None:
    """Write the page and the same as JSON."""
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    (OUTPUTS / "results.md").write_text(table(verdicts, versions), encoding="utf-8")
    data = {"versions": versions, "results": [{**asdict(one), "passed": one.passed} for one in verdicts]}
    (OUTPUTS / "results.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def name_versions(suite: Sequence[str]) -> str:
    """Suite, Node, Python and SDK, as the table names them."""
    package = json.loads((SUITE / "package.json").read_text(encoding="utf-8"))
    node = subprocess.run([suite[0], "--version"], capture_output=True, text=True, timeout=30, check=False)
    named = [f"{package['name']} {package['version']}", f"Node {node.stdout.strip().removeprefix('v')}"]
    named.append(f"Python {'.'.join(map(str, sys.version_info[:3]))}")
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # then SdkHost has failed, and the page says so
        named.append(f"mcp {importlib.metadata.version('mcp')}")
    return ", ".join(named)


# --- the command -----------------------------------------------------------------------------


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Run the official conformance suite against Host and SdkHost, in both revisions.",
        epilog="example: python code/conformance/run.py --client SdkHost --revision 2026-07-28 --scenario tools_call\n"
        "exit code: 0 all passed, 1 something did not pass, 2 nothing was run",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--client", choices=list(CLIENTS), help="this client only; nothing is saved then")
    parser.add_argument("--revision", choices=list(SCENARIOS), help="this revision only; nothing is saved then")
    parser.add_argument("--scenario", help="this scenario only; nothing is saved then")
    return parser.parse_args()


def main() -> int:
    """Returns the exit code."""
    options = parse_options()
    chosen = [
        (client, revision, scenario)
        for revision, scenarios in SCENARIOS.items()
        for scenario in scenarios
        for client in CLIENTS
        if options.client in (None, client)
        and options.revision in (None, revision)
        and options.scenario in (None, scenario)
    ]
    if not chosen:
        there = "; ".join(f"{revision}: {', '.join(names)}" for revision, names in SCENARIOS.items())
        print(f"no scenario {options.scenario!r} in {options.revision or 'any revision'}. {there}", file=sys.stderr)
        return 2
    try:
        suite = find_suite()
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    verdicts = []
    for client, revision, scenario in chosen:
        verdict = judge(suite, client, revision, scenario)
        verdicts.append(verdict)
        print("✓" if verdict.passed else "✗", client, revision, scenario, flush=True)
        for remark in remarks_on(verdict):
            print("   ", remark, flush=True)
    print(summary(verdicts))
    if (options.client, options.revision, options.scenario) == (None, None, None):
        save(verdicts, name_versions(suite))
        print(f"table: {(OUTPUTS / 'results.md').relative_to(ROOT)}")
    return 0 if all(verdict.passed for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
