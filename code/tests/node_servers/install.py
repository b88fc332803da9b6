"""Install the npm servers that `test_real_servers.py` starts: `python code/tests/node_servers/install.py`.

They go to `work/node_servers` below the root of the repository, or to the folder that the
variable MCP_NODE_SERVERS names. A second run does nothing. It needs npm, and the network once.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WANTED = Path(__file__).with_name("package.json")
TARGET = Path(os.environ.get("MCP_NODE_SERVERS") or ROOT / "work" / "node_servers")


def is_installed() -> bool:
    """npm writes its hidden lock file last; a changed package.json asks for a new run."""
    copy = TARGET / "package.json"
    finished = TARGET / "node_modules" / ".package-lock.json"
    return finished.exists() and copy.exists() and copy.read_bytes() == WANTED.read_bytes()


def main() -> int:
    """Returns the exit code: npm's own, or 1 where there is no npm."""
    if is_installed():
        print(f"already installed: {TARGET}")
        return 0
    npm = shutil.which("npm")
    if npm is None:
        print("npm was not found on PATH: install Node.js 20 or newer, then run this again", file=sys.stderr)
        return 1
    TARGET.mkdir(parents=True, exist_ok=True)
    # npm adds nothing to the file it reads, so the copy stays equal to the original
    shutil.copyfile(WANTED, TARGET / "package.json")
    command = [npm, "install", "--prefix", str(TARGET), "--no-audit", "--no-fund"]
    code = subprocess.run(command, check=False).returncode
    if code != 0:
        (TARGET / "package.json").unlink()  # else the next run would take the rest for an installation
    return code


if __name__ == "__main__":
    sys.exit(main())
