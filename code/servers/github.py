"""The `github` server of main.py as a process of its own, behind stdin and stdout."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from main import make_github_server
from servers.stdio_loop import run

if __name__ == "__main__":
    run(make_github_server(), "A code host with issues and pull requests.")
