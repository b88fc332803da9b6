"""The environments of the benchmark, made once: `work/bench/bare`, `work/bench/mcp`, `work/bench/fastmcp`.

Each client has its own, so that none brings another's packages in; `bare` has none at all, and
is ours. All use the Python that runs this script.
"""

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "work" / "bench"
PACKAGES = {"bare": (), "mcp": ("mcp>=2.3,<3",), "fastmcp": ("fastmcp>=4.2,<5",)}
SHOWN = {"mcp": ("mcp",), "fastmcp": ("fastmcp", "mcp")}  # whose versions the table gives
INSTALL_LIMIT = 540  # seconds


class Missing(Exception):
    """An environment is not there and could not be made; the message says what to do."""


def python_of(environment: str) -> Path:
    """The interpreter of an environment."""
    return TARGET / environment / "bin" / "python"


def stamp(environment: str) -> str:
    """What an environment was made from: another Python or other versions ask for a new one."""
    return f"{sys.version}\n{PACKAGES[environment]}\n"


def ensure(environment: str) -> bool:
    """Make an environment unless it is there; True if it was made. Raises Missing."""
    ready = TARGET / environment / ".ready"
    if ready.exists() and ready.read_text() == stamp(environment):
        return False
    packages = PACKAGES[environment]
    venv.create(TARGET / environment, with_pip=bool(packages), clear=True)
    if packages:
        pip = [str(python_of(environment)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        try:
            subprocess.run([*pip, *packages], check=True, timeout=INSTALL_LIMIT, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError) as error:
            words = " ".join(packages)
            raise Missing(f"pip could not install {words}, which the benchmark measures: {error}") from error
    ready.write_text(stamp(environment))
    return True


def versions() -> dict[str, str]:
    """The versions of the packages that are measured."""
    code = "import sys, importlib.metadata as m; print(*(m.version(name) for name in sys.argv[1:]))"
    found = {}
    for environment, names in SHOWN.items():
        command = [str(python_of(environment)), "-c", code, *names]
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
        for name, version in zip(names, told, strict=True):
            found[name if name == environment else f"{name} below {environment}"] = version
    return found
