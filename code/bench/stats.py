"""What is made of the numbers of many runs: medians, ratios of runs side by side, verdicts. No I/O.

A ratio is taken within each round, where both sides met the same load, and the median of those
ratios counts. No run is left out, however odd: an odd one moves a median little.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Rounds = Sequence[float | None]  # one value a round; None where the run failed


@dataclass(frozen=True)
class Spread:
    """A median and the two ends around it."""

    median: float
    low: float
    high: float


def spread(values: Rounds) -> Spread | None:
    """Median, lowest and highest of the rounds that gave a value; None if none did."""
    there = [value for value in values if value is not None]
    return Spread(statistics.median(there), min(there), max(there)) if there else None


def paired(ours: Rounds, theirs: Rounds) -> Spread | None:
    """The ratio ours / theirs of each round, and the median of those."""
    pairs = zip(ours, theirs, strict=True)
    return spread([a / b if a is not None and b else None for a, b in pairs])


@dataclass(frozen=True)
class Target:
    """One line of the table of what must be reached.

    `value` of the peer `ours` in `measure`, divided by that of `to`; not divided where `to` is None. `bound` is the
    peer that does only what no client can leave out, where there is one.
    """

    what: str
    measure: str
    value: str
    to: str | None
    limit: float
    at_least: bool = False
    unit: str = ""
    bound: str | None = None

    @property
    def asked(self) -> str:
        """The limit in words."""
        return f"{'at least' if self.at_least else 'at most'} {self.limit:g}{self.unit}"


@dataclass(frozen=True)
class Judged:
    """A target and what was measured. `measured` is None where a run is missing: that is not reached.

    `least` is what the bound of the target comes to, measured in the same rounds.
    """

    target: Target
    measured: Spread | None
    least: Spread | None = None

    @property
    def reached(self) -> bool:
        """The median keeps to the limit."""
        if self.measured is None:
            return False
        if self.target.at_least:
            return self.measured.median >= self.target.limit
        return self.measured.median <= self.target.limit

    @property
    def out_of_reach(self) -> bool:
        """What no client can leave out takes more than the limit: missing it says nothing about a client."""
        measured = self.measured is not None and not self.reached
        return measured and self.least is not None and self.least.median > self.target.limit

    @property
    def missed(self) -> bool:
        """Not reached, and a client could."""
        return not self.reached and not self.out_of_reach

    @property
    def sign(self) -> str:
        """✓, ✗, or – for what is out of reach."""
        return "✓" if self.reached else "✗" if self.missed else "–"


Results = Mapping[str, Mapping[str, Mapping[str, Rounds]]]  # measure → peer → value → rounds


def judge(target: Target, results: Results) -> Judged:
    """What a target comes to in the results of one revision."""
    peers = results.get(target.measure, {})
    ours = peers.get("ours", {}).get(target.value, [])
    if target.to is None:
        return Judged(target, spread(ours))
    theirs = peers.get(target.to, {}).get(target.value, [])
    least = peers.get(target.bound, {}).get(target.value, []) if target.bound else []
    return Judged(
        target,
        paired(ours, theirs) if len(ours) == len(theirs) else None,
        paired(least, theirs) if least and len(least) == len(theirs) else None,
    )
