"""Put the client under the official referee: `python code/conformance/run.py`.

Each scenario that a stdio client can face is run in each revision it belongs to. The suite
starts an HTTP server on loopback, runs `client.py` with its address, and judges what arrived;
`bridge.py` carries stdio to HTTP. The table goes to `outputs/conformance/`, made by the run.

The exit code is 0 only if every scenario ran, made at least one check, and failed none.
"""

import argparse
import contextlib
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
NOT_FACED = """\
What the suite cannot ask of a stdio client: `auth/*`, `sse-retry`, `http-custom-headers` and
`http-invalid-tool-headers` judge HTTP itself, and the `sep-2640-*` scenarios an extension. In
`http-standard-headers` the headers are written by the bridge, from what the client's lines say.
What the suite leaves out of stdio (its issue 258): probing with `server/discover` first, cancelling by
notification, stopping on cancel, starting a dead server again, a supported version after -32022,
listening again after a restart. Scripted servers in `code/tests` ask for those."""


@dataclass(frozen=True)
class Check:
    """One verdict of the suite. `status`: SUCCESS, FAILURE, WARNING, INFO, SKIPPED."""

    id: str
    status: str
    message: str = ""


@dataclass(frozen=True)
class Verdict:
    """One scenario in one revision. `problem` is set where the run itself went wrong."""

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


def judge(suite: Sequence[str], revision: str, scenario: str) -> Verdict:
    """Run one scenario. Never raises for what the suite or the client does."""
    client = shlex.join([sys.executable, str(Path(__file__).with_name("client.py"))])
    with tempfile.TemporaryDirectory() as folder:
        options = ["--scenario", scenario, "--spec-version", revision, "--output-dir", folder]
        options += ["--timeout", str(1000 * SCENARIO_LIMIT)]
        code, output = run_bounded([*suite, "client", "--command", client, *options], SUITE_LIMIT)
        found = sorted(Path(folder).glob("**/checks.json"))
        if not found:
            return Verdict(revision, scenario, problem=f"no verdict, exit code {code}: {last_line(output)}")
        checks = read_checks(found[0].read_text(encoding="utf-8"))
        problem = ""
        if code != 0 and not any(check.status in BAD for check in checks):
            problem = f"exit code {code}: {last_line(output)}"
        return Verdict(revision, scenario, checks, problem)


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
    """The results as a Markdown page."""
    verdicts = list(verdicts)
    lines = [
        "# The client under the official conformance suite",
        "",
        f"Made by `make conformance`: {versions}. {summary(verdicts)}",
        "",
        "| revision | scenario | passed | failed | warnings | |",
        "|---|---|--:|--:|--:|:-:|",
    ]
    for verdict in verdicts:
        count = Counter(check.status for check in verdict.checks)
        mark = "✓" if verdict.passed else "✗"
        numbers = f"{count['SUCCESS']} | {count['FAILURE']} | {count['WARNING']}"
        lines.append(f"| {verdict.revision} | `{verdict.scenario}` | {numbers} | {mark} |")
    remarks = [remark for verdict in verdicts for remark in remarks_on(verdict)]
    if remarks:
        lines += ["", "## Failures and warnings", "", *(f"- {remark}" for remark in remarks)]
    lines += ["", "## Checks", ""]
    for verdict in verdicts:
        passed = sorted({check.id for check in verdict.checks if check.status == "SUCCESS"})
        lines.append(f"- {verdict.revision} `{verdict.scenario}`: {', '.join(passed) or 'none passed'}")
    return "\n".join([*lines, "", "## Not asked here", "", NOT_FACED, ""])


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many passed, in a sentence."""
    passed = sum(verdict.passed for verdict in verdicts)
    return f"{passed} of {len(verdicts)} scenarios passed."


def remarks_on(verdict: Verdict) -> list[str]:
    """What did not pass, each with the suite's own words."""
    where = f"{verdict.revision} `{verdict.scenario}`"
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
    """Suite and Node, as the table names them."""
    package = json.loads((SUITE / "package.json").read_text(encoding="utf-8"))
    node = subprocess.run([suite[0], "--version"], capture_output=True, text=True, timeout=30, check=False)
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{package['name']} {package['version']}, Node {node.stdout.strip().removeprefix('v')}, Python {python}"


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Run the official conformance suite against mcp_harness, in both revisions.",
        epilog="example: python code/conformance/run.py --revision 2026-07-28 --scenario tools_call",
    )
    parser.add_argument("--revision", choices=list(SCENARIOS), help="this revision only; nothing is saved then")
    parser.add_argument("--scenario", help="this scenario only; nothing is saved then")
    return parser.parse_args()


def main() -> int:
    """Returns the exit code."""
    options = parse_options()
    chosen = [
        (revision, scenario)
        for revision, scenarios in SCENARIOS.items()
        for scenario in scenarios
        if options.revision in (None, revision) and options.scenario in (None, scenario)
    ]
    if not chosen:
        print(f"no scenario {options.scenario!r}; there are: {SCENARIOS}", file=sys.stderr)
        return 2
    try:
        suite = find_suite()
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    verdicts = []
    for revision, scenario in chosen:
        verdict = judge(suite, revision, scenario)
        verdicts.append(verdict)
        print("✓" if verdict.passed else "✗", revision, scenario, flush=True)
        for remark in remarks_on(verdict):
            print("   ", remark, flush=True)
    print(summary(verdicts))
    if options.revision is None and options.scenario is None:
        save(verdicts, name_versions(suite))
        print(f"table: {(OUTPUTS / 'results.md').relative_to(ROOT)}")
    return 0 if all(verdict.passed for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
