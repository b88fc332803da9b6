"""Install the PyPI servers that `test_real_servers.py` starts: `python code/tests/pypi_servers/install.py`.

They get an environment of their own, `work/pypi_servers` below the root of the repository, or the
folder that the variable MCP_PYPI_SERVERS names: what they need must not decide what the course
needs. A second run does nothing. It needs the network once.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WANTED = Path(__file__).with_name("requirements.txt")
TARGET = Path(os.environ.get("MCP_PYPI_SERVERS") or ROOT / "work" / "pypi_servers")


def is_installed() -> bool:
    """The copy of the requirements is written last; changed requirements ask for a new run."""
    copy = TARGET / "requirements.txt"
    return copy.exists() and copy.read_bytes() == WANTED.read_bytes()


def main() -> int:
    """Returns the exit code: pip's own."""
    if is_installed():
        print(f"already installed: {TARGET}")
        return 0
    venv.create(TARGET, with_pip=True, clear=True)
    python = TARGET / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-r", str(WANTED)]
    code = subprocess.run(command, check=False).returncode
    if code == 0:
        shutil.copyfile(WANTED, TARGET / "requirements.txt")
        print(f"installed: {TARGET}")
    return code


if __name__ == "__main__":
    sys.exit(main())
