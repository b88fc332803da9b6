"""Write down the wire of both revisions: `python code/traces/record.py` → outputs/traces/.

One host for each revision, with the notes server, the asking server and one that never answers:
opening, listing, calls, an error, questions in both directions, a cancelled call. The lines are
grouped by server. They are the same in each run; `--check` says whether the files still are.
"""

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mcp_harness import HarnessError, Host, ServerConfig
from mcp_harness.eras import LEGACY, MODERN
from mcp_harness.trace import Recorder

ROOT = Path(__file__).resolve().parents[2]
SERVERS = ROOT / "code" / "servers"
OUTPUT = ROOT / "outputs" / "traces"
ERAS = (LEGACY[0], MODERN[0])
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
GIVE_UP = 0.5  # seconds: the call that is cancelled


def sampling(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """A model that knows one answer."""
    return {"role": "assistant", "content": {"type": "text", "text": "Come to tea, Ada."}, "model": "none"}


def elicitation(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """A user who is called Ada."""
    return {"action": "accept", "content": {"name": "Ada"}}


def roots(server: str, params: dict[str, Any]) -> dict[str, Any]:
    """One folder."""
    return {"roots": [{"uri": "file:///project", "name": "project"}]}


def configs(era: str) -> list[ServerConfig]:
    """The servers, each told to speak this revision; the client finds out by itself."""

    def config(name: str, script: str, *args: str) -> ServerConfig:
        return ServerConfig(name, sys.executable, (str(SERVERS / script), *args, "--era", era))

    return [config("notes", "notes.py"), config("asker", "asker.py"), config("silent", "faulty.py", "never-answers")]


def record(era: str) -> Recorder:
    """Run the same program in one revision."""
    recorder = Recorder()
    host = Host(configs(era), sampling=sampling, elicitation=elicitation, roots=roots)
    with recorder.attach(host):
        host.call("search", {"query": "plan"})
        host.call("create", {"title": "today"})  # an argument is missing: the tool says so
        host.call("echo", {"text": "a secret", "api_key": "never shown"})
        host.call("invite", {"topic": "tea"})
        host.call("folders")
        with contextlib.suppress(HarnessError):
            host.call("never", timeout=GIVE_UP)
    return recorder


def in_order(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """By server; an acknowledgement right behind its request, since what we send meanwhile overtakes it by chance."""
    ordered: list[dict[str, Any]] = []
    for line in sorted(lines, key=lambda line: str(line["server"])):
        place = len(ordered)
        if line["message"].get("method") == ACKNOWLEDGED:
            while ordered[place - 1]["message"].get("method") != "subscriptions/listen":
                place -= 1
        ordered.insert(place, line)
    return ordered


def main() -> int:
    """Write the files, or with --check compare them; 1 if they differ."""
    check = sys.argv[1:] == ["--check"]
    OUTPUT.mkdir(parents=True, exist_ok=True)
    different = []
    for era in ERAS:
        lines = in_order(record(era).lines())
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path = OUTPUT / f"{era}.jsonl"
        if check and (not path.exists() or path.read_text("utf-8") != text):
            different.append(path)
            with tempfile.NamedTemporaryFile("w", suffix=path.name, delete=False, encoding="utf-8") as file:
                file.write(text)
            print(f"{path} is not what a run gives: see {file.name}, or run python code/traces/record.py")
        elif not check:
            path.write_text(text, "utf-8")
            print(f"{path.relative_to(ROOT)}: {len(lines)} lines")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
