"""From results to a Markdown page. Every number comes from the run. No I/O."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench import plan
from bench.stats import Judged, Results, Spread, judge, paired, spread

Columns = Sequence[tuple[str, str, str]]  # value, heading, unit

LATENCY: Columns = (("ms", "median", "ms"), ("p95_ms", "95 %", "ms"))
RATE: Columns = (("per_s", "calls a second", ""), ("ms", "median", "ms"), ("p95_ms", "95 %", "ms"))
BIG: Columns = (("s", "time", "s"),)
OPEN: Columns = (
    ("open_s", "connect + list", "s"),
    ("calls_s", "a call to each at once", "s"),
    ("close_s", "close", "s"),
)
WEIGHT: Columns = (("mb", "memory", "MB"), ("descriptors", "descriptors a server", ""), ("threads", "threads", ""))
IMPORT: Columns = (("import_s", "import", "s"),)
PICTURES = {
    "speed.svg": "Bars: the latency of one echo, and calls a second with 32 in flight, a bar for each client",
    "connect.svg": "Lines: seconds to connect and list against the number of servers, a line for each client",
    "weight.svg": "Bars: memory, a call to each server at once, and closing, with the most servers, by client",
}


def page(run: Mapping[str, Any]) -> str:
    """The whole page, from what run.py saved."""
    most, big = max(run["size"]["servers"]), run["size"]["big"]
    parts = [
        "# Our client beside the official SDK and fastmcp",
        "",
        f"Made by `make bench`{' --quick, which proves nothing' if run['quick'] else ''}: {run['machine']}. "
        f"Median of {run['size']['rounds']} rounds; in each round all clients take turns, so that load hits all "
        f"alike. Load of the machine while it ran: {run['load'][0]:.1f} to {run['load'][1]:.1f} (1-minute average, "
        "the benchmark's own work included).",
        "",
        "## Must reach",
        "",
        "Ratios are taken within each round; in brackets the lowest and the highest. The server is the same "
        "trivial script for all, in either revision: of Python, or of the shell where it says that it starts at once.",
        "",
        *must_reach(run["results"], most, big),
        "",
        *out_of_reach(run["results"], most, big),
    ]
    for era in plan.ERAS:
        results: Results = run["results"][era]
        parts += ["", f"## Server of {era}"]
        parts += section(results, "echo", "Echo, one in flight", LATENCY)
        parts += section(results, "flight", "Echo, 32 in flight", RATE)
        for number in run["size"]["servers"]:
            title = f"{number} server{'s' if number > 1 else ''}"
            columns = (*OPEN, *WEIGHT) if number == most else OPEN
            parts += section(results, f"many-{number}", title, columns)
        parts += section(results, f"light-{most}", f"{most} servers that start at once", OPEN)
        parts += section(results, "big", f"A result of {big // 2**20} MB on one line", BIG)
        if era == plan.ERAS[0]:
            parts += section(results, "echo", "Import", IMPORT)
    problems = [f"- {problem}" for problem in run["problems"]]
    if problems:
        parts += ["", "## Runs that failed", "", *problems]
    pictures = [f"![{alt}]({name})" for name, alt in PICTURES.items()]
    parts += ["", "## Pictures", "", *itertools.chain.from_iterable((one, "") for one in pictures)]
    parts += ["## What is not comparable", "", plan.NOT_COMPARABLE, ""]
    return "\n".join(parts)


def verdicts(results: Mapping[str, Results], most: int, big: int) -> list[tuple[Judged, ...]]:
    """For each target what it comes to in each revision."""
    return [tuple(judge(target, results[era]) for era in plan.ERAS) for target in plan.targets(most, big)]


def must_reach(results: Mapping[str, Results], most: int, big: int) -> list[str]:
    """The table of what must be reached."""
    lines = [f"| what | limit | {' | '.join(plan.ERAS)} |", "|---|---|---|---|"]
    for row in verdicts(results, most, big):
        cells = [f"{one.sign} {measured(one)}" for one in row]
        lines.append(f"| {row[0].target.what} | {row[0].target.asked} | {' | '.join(cells)} |")
    return lines


def out_of_reach(results: Mapping[str, Results], most: int, big: int) -> list[str]:
    """What the sign – means, and each such case with the measure of the floor."""
    found = beyond(verdicts(results, most, big))
    if not found:
        return []
    return [
        "A – says that the target was out of reach in this run: the floor, which starts the same processes, waits for "
        "a first byte of each and does nothing else, took more than the limit, too. Such a row says how busy the "
        "servers keep the cores, and nothing about a client.",
        "",
        *(f"- {sentence}" for sentence in found),
    ]


def measured(judged: Judged) -> str:
    """Median and spread of a target."""
    found = judged.measured
    if found is None:
        return "not measured"
    return f"{found.median:.2f}{judged.target.unit} ({found.low:.2f} to {found.high:.2f})"


def section(results: Results, measure: str, title: str, columns: Columns) -> list[str]:
    """One table: a row for each client, and each value also as a multiple of ours."""
    peers = results.get(measure, {})
    shown = [column for column in columns if any(values.get(column[0]) for values in peers.values())]
    headings = " | ".join(f"{heading}, {unit}" if unit else heading for _, heading, unit in shown)
    ratio_of = shown[0] if shown else ("", "", "")
    lines = ["", f"### {title}", "", f"| client | {headings} | to ours |", "|---" + "|--:" * (len(shown) + 1) + "|"]
    for peer, values in peers.items():
        if peer == plan.FLOOR and not any(values.get(key) for key, _, _ in shown):
            continue  # a floor has no such thing
        cells = [number(spread(values.get(key, ()))) for key, _, _ in shown]
        lines.append(f"| {peer} | {' | '.join(cells)} | {to_ours(peers, peer, ratio_of[0])} |")
    return lines


def to_ours(peers: Mapping[str, Mapping[str, Sequence[float | None]]], peer: str, value: str) -> str:
    """The first value of a client as a multiple of ours."""
    ours, theirs = peers.get(plan.OURS, {}).get(value, ()), peers[peer].get(value, ())
    ratio = paired(theirs, ours) if len(ours) == len(theirs) else None
    return f"{ratio.median:.2f} ×" if ratio else "–"


def number(found: Spread | None) -> str:
    """A median with three digits that count."""
    return "–" if found is None else three_digits(found.median)


def three_digits(value: float) -> str:
    """Three significant digits, never an exponent: 0.0343, 1.07, 24.4, 21957."""
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    places = 2
    while abs(value) * 10**places < 100 and places < 6:
        places += 1
    while abs(value) * 10 ** (places - 1) >= 100 and places > 0:
        places -= 1
    return f"{value:.{places}f}"


def missed(rows: Iterable[tuple[Judged, ...]]) -> list[str]:
    """A sentence for each target that was not reached."""
    return [
        f"{era}: {one.target.what}: {measured(one)}, {one.target.asked} was asked"
        for row in rows
        for era, one in zip(plan.ERAS, row, strict=True)
        if one.missed
    ]


def beyond(rows: Iterable[tuple[Judged, ...]]) -> list[str]:
    """A sentence for each target that no client could have reached in this run."""
    return [
        f"{era}: {one.target.what}: {measured(one)}, {one.target.asked} was asked, and the {one.target.bound} "
        f"took {one.least.median:.2f}"
        for row in rows
        for era, one in zip(plan.ERAS, row, strict=True)
        if one.out_of_reach and one.least
    ]
