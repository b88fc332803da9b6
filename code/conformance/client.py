"""The client of threads under test: `client.py URL`, started by the conformance suite, one scenario a run.

It is `mcp_harness.Host` and nothing else; the bridge makes an HTTP server look like a stdio server
to it. What a scenario wants to see done is in `scenarios.py`.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.scenarios import LIMIT, SERVER, Plan, accept_defaults, is_ready, no_roots, read_task, resume, sample
from mcp_harness import Host, ServerError


def play(host: Host, plan: Plan) -> None:
    """Do what the plan says."""
    answer: Any = None
    while (step := resume(plan, answer)) is not None:
        try:
            answer = getattr(host, step.method)(*step.arguments, timeout=LIMIT)
        except ServerError as error:
            answer = error


def main() -> int:
    """Play one scenario. Returns the exit code."""
    task = read_task()
    with Host([task.config], sampling=sample, elicitation=accept_defaults, roots=no_roots) as host:
        if not is_ready(host.status()[SERVER]):
            return 1
        play(host, task.plan(host.tools()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
