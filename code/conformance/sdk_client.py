"""The client on the official SDK under test: `sdk_client.py URL`, as `client.py`, with `SdkHost`.

It stands behind the same bridge: what is judged is `SdkHost` on the SDK's stdio, not the SDK's own HTTP.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.scenarios import LIMIT, SERVER, Plan, accept_defaults, is_ready, no_roots, read_task, resume, sample
from mcp_harness import ServerError
from mcp_harness.sdk_host import SdkHost


async def play(host: SdkHost, plan: Plan) -> None:
    """Do what the plan says."""
    answer: Any = None
    while (step := resume(plan, answer)) is not None:
        try:
            answer = await getattr(host, step.method)(*step.arguments, timeout=LIMIT)
        except ServerError as error:
            answer = error


async def main() -> int:
    """Play one scenario. Returns the exit code."""
    task = read_task()
    async with SdkHost([task.config], sampling=sample, elicitation=accept_defaults, roots=no_roots) as host:
        if not is_ready(host.status()[SERVER]):
            return 1
        await play(host, task.plan(host.tools()))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
