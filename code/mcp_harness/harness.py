"""From a declarative list of servers to a running harness, in one call.

    with Harness(json.load(open("servers.json")), allowed=["npx", "python3"]) as harness:
        print(harness.summary())
        print(harness.call("files/search", {"query": "plan"}))

Guarantees: no command runs that is not on the allow-list, word for word, or not on PATH; such a
server fails with a sentence, and the others start. What goes wrong in a call is an error result
that names server and reason, as a model can read it. The rest is the Host's.

What it leaves out: events, handlers, refreshes. Whoever needs them uses the Host itself.
"""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from .config import ServerConfig, load_config
from .errors import ConfigError, HarnessError
from .events import ServerStatus
from .host import Host
from .namespace import MergedTool, Policy
from .wire import Message


def plan(configs: Iterable[ServerConfig], allowed: Sequence[str]) -> list[ServerConfig]:
    """The same servers; one whose command may not or cannot be started has its `problem` said."""
    return [replace(config, problem=config.problem or refusal(config, allowed)) for config in configs]


def refusal(config: ServerConfig, allowed: Sequence[str]) -> str | None:
    """Why this command is not started; None if it can be. The allow-list is asked before the disk."""
    if config.command not in allowed:
        return f"its command {config.command!r} is not on the allow-list"
    if shutil.which(config.command, path=config.env.get("PATH")) is None:
        return f"its command {config.command!r} was not found on PATH"
    return None


def read_policy(policy: str) -> Policy:
    """The policy of that name. Raises ConfigError, which lists the names."""
    try:
        return Policy(policy)
    except ValueError:
        names = ", ".join(repr(one.value) for one in Policy)
        raise ConfigError(f"unknown policy {policy!r}: use one of {names}") from None


def summary_line(status: Mapping[str, ServerStatus], tools: int) -> str:
    """`6 of 7 servers ready, 31 tools; not ready: github (its command … was not found on PATH)`."""
    absent = [f"{one.name} ({first_line(one)})" for one in status.values() if one.state != "ready"]
    line = f"{len(status) - len(absent)} of {len(status)} servers ready, {tools} tools"
    return f"{line}; not ready: {', '.join(absent)}" if absent else line


def first_line(one: ServerStatus) -> str:
    return (one.reason or one.state).partition("\n")[0]


class Harness:
    """A running harness. `document` is an `mcpServers` object, `allowed` the commands that may be started."""

    def __init__(self, document: Mapping[str, Any], allowed: Sequence[str], policy: str = "prefix") -> None:
        self._host = Host(plan(load_config(document), allowed), policy=read_policy(policy))
        self._host.__enter__()

    def tools(self) -> dict[str, MergedTool]:
        """Canonical name → where a call of it goes."""
        return self._host.tools()

    def call(self, name: str, arguments: dict[str, Any], timeout: float = 60.0) -> Message:
        """The result of the tool, or an error result with the reason."""
        try:
            return self._host.call(name, arguments, timeout).raw
        except HarnessError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}

    def status(self) -> dict[str, str]:
        """Each server → "ready", or why it is not."""
        status = self._host.status()
        return {name: "ready" if one.state == "ready" else f"{one.state}: {one.reason}" for name, one in status.items()}

    def summary(self) -> str:
        """One line for a log or a status bar."""
        return summary_line(self._host.status(), len(self._host.tools()))

    def close(self) -> None:
        """End all servers. May be called twice."""
        self._host.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
