"""Measure our client beside the official SDK and fastmcp: `python code/bench/run.py`.

Each measurement is a process of its own, in the environment of the client that it is about. One
round lets all clients do the same thing one after the other; the next round begins with another
of them. Tables, plots and all numbers go to `outputs/bench/`, with `--quick` to `work/bench/quick/`.

The exit code is 1 if a run failed or, sizes being full, a target was missed that a client could reach; 2 if
nothing could be measured.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import install, machine, plan, plots, report
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

HERE = Path(__file__).resolve().parent
OUTPUTS = install.ROOT / "outputs" / "bench"
QUICK_OUTPUTS = install.TARGET / "quick"
ECHO_SERVER = [str(install.python_of("bare")), str(HERE / "echo_server.py")]
SHELL_SERVER = ["sh", str(HERE / "shell_server.sh")]
RUN_LIMIT = 240.0  # seconds for one measurement of one client: the slowest takes half a minute
QUIET = 2.0  # a load above this spoils the comparison


@dataclass(frozen=True)
class Job:
    """One measurement of all clients that can make it."""

    era: str
    measure: str  # as in the results: "echo", "many-100"
    peers: tuple[str, ...]
    task: dict[str, Any]


@dataclass
class Collected:
    """What the runs gave: revision → measure → client → value → one number a round."""

    results: dict[str, dict[str, dict[str, dict[str, list[float | None]]]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, job: Job, peer: str, number: int, values: dict[str, float] | str) -> None:
        """Note one run: its values, or the sentence that says why there are none."""
        peers = self.results.setdefault(job.era, {}).setdefault(job.measure, {name: {} for name in job.peers})
        if isinstance(values, str):
            self.problems.append(f"{job.era}, {job.measure}, {peer}, round {number + 1}: {values}")
            values = {}
        for key in {*peers[peer], *values}:
            rounds = peers[peer].setdefault(key, [])
            rounds += [None] * (number - len(rounds))  # of rounds that failed before
            rounds.append(values.get(key))


def jobs(size: plan.Size) -> Iterator[Job]:
    """All measurements, the short ones first."""
    for era in plan.ERAS:

        def able(peers: tuple[str, ...], era: str = era) -> tuple[str, ...]:
            return tuple(peer for peer in peers if era == plan.ERAS[0] or peer not in plan.LEGACY_ONLY)

        yield Job(era, "echo", able(plan.SINGLE), {"measure": "echo", "calls": size.calls})
        yield Job(era, "flight", able(plan.SINGLE), {"measure": "flight", "calls": size.flight_calls})
        for servers in size.servers:
            yield Job(era, f"many-{servers}", able(plan.MANY), {"measure": "many", "servers": servers})
        most = max(size.servers)
        yield Job(era, f"light-{most}", able(plan.MANY), {"measure": "many", "servers": most, "server": SHELL_SERVER})
        peers = plan.SINGLE if era == plan.ERAS[0] else plan.BIG_AGAIN
        yield Job(era, "big", peers, {"measure": "big", "size": size.big})


def turns(peers: tuple[str, ...], number: int) -> tuple[str, ...]:
    """The order of a round: each begins with another client, so that nobody is always first."""
    shift = number % len(peers)
    return peers[shift:] + peers[:shift]


def measure(job: Job, name: str) -> dict[str, float] | str:
    """Let one client do one job in a process; its values, or a sentence about the failure."""
    peer = plan.PEERS[name]
    task = json.dumps({"era": job.era, "server": ECHO_SERVER, **job.task})
    command = [str(install.python_of(peer.environment)), str(HERE / "peers" / peer.script), *peer.words, task]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=RUN_LIMIT)
    except subprocess.TimeoutExpired:
        return f"no end within {RUN_LIMIT:.0f} s"
    finally:
        end_group(process)
    if process.returncode != 0:
        return f"exit code {process.returncode}: {last_line(errors)}"
    try:
        values: dict[str, float] = json.loads(last_line(output))
        return values
    except ValueError:
        return f"no values in its output: {last_line(output)}"


def end_group(process: "subprocess.Popen[str]") -> None:
    """Leave nothing of a measurement running. Servers end when the pipes of their client close."""
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself, which is the rule
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_line(text: str) -> str:
    """The last line that says something, without the folders of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].replace(str(install.ROOT), "…")[:10_000] if lines else "(nothing)"


def measure_all(size: plan.Size, console: Console) -> tuple[Collected, tuple[float, float]]:
    """All jobs in all rounds; also the lowest and the highest load seen."""
    todo = list(jobs(size))
    collected, loads = Collected(), [machine.load()]
    columns = (TextColumn("{task.description:50}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=size.rounds * sum(len(job.peers) for job in todo))
        for job in todo:
            for number in range(size.rounds):
                for peer in turns(job.peers, number):
                    progress.update(bar, description=f"{job.era} {job.measure}: {peer}")
                    collected.add(job, peer, number, measure(job, peer))
                    loads.append(machine.load())
                    progress.advance(bar)
    return collected, (min(loads), max(loads))


def show(rows: list[tuple[Any, ...]], console: Console) -> None:
    """The targets in the terminal."""
    table = Table("what", "limit", *plan.ERAS, title="Must reach")
    for row in rows:
        cells = [f"{one.sign} {report.measured(one)}" for one in row]
        table.add_row(row[0].target.what, row[0].target.asked, *cells)
    console.print(table)


def save(run: dict[str, Any], folder: Path) -> None:
    """Write numbers, page and plots."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "results.md").write_text(report.page(run), encoding="utf-8")
    plots.draw(run, folder)


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Measure mcp_harness beside mcp 2.x and fastmcp 4.x, on the same servers, in one run.",
        epilog="example: python code/bench/run.py --quick   (a minute or two; shows that it works, proves nothing)",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, two rounds; goes to work/bench/quick/")
    parser.add_argument("--rounds", type=int, help="how often everything is measured; five unless it is quick")
    parser.add_argument("--redraw", action="store_true", help="measure nothing: tables and plots from saved numbers")
    return parser.parse_args()


def main() -> int:
    """Returns the exit code."""
    options = parse_options()
    console = Console()
    folder, size = (QUICK_OUTPUTS, plan.QUICK) if options.quick else (OUTPUTS, plan.FULL)
    if options.rounds is not None:
        size = replace(size, rounds=max(1, options.rounds))
    if options.redraw:
        run = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    else:
        try:
            for environment in install.PACKAGES:
                with console.status(f"Environment {environment} (made once) …"):
                    install.ensure(environment)
        except install.Missing as missing:
            console.print(str(missing), style="red")
            return 2
        described = machine.describe(install.versions())
        if machine.load() > QUIET:
            console.print(f"The load is {machine.load():.1f}: the machine is busy, and the numbers will say so.")
        collected, load = measure_all(size, console)
        run = {
            "quick": options.quick,
            "machine": described.sentence(),
            "load": load,
            "size": asdict(size),
            "results": collected.results,
            "problems": collected.problems,
        }
    save(run, folder)
    rows = report.verdicts(run["results"], max(run["size"]["servers"]), run["size"]["big"])
    show(rows, console)
    for problem in run["problems"]:
        console.print(f"a run failed: {problem}", style="red", markup=False)
    console.print(f"tables and plots: {folder.relative_to(install.ROOT)}/results.md")
    missed = [] if run["quick"] else report.missed(rows)
    for sentence in [] if run["quick"] else report.beyond(rows):
        console.print(f"out of reach: {sentence}", style="yellow", markup=False)
    for sentence in missed:
        console.print(f"missed: {sentence}", style="red", markup=False)
    return 1 if missed or run["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
