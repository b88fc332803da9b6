"""Run notebooks as Google Colab would.

The first notebook is alone in an empty content folder; each has a kernel with Colab's versions of
IPython and ipykernel, whose stdout and stderr have no file number. The course can only be
had by cloning its public address, which git maps to the working tree as it is now.
"""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
SECONDS = 120  # for one cell, the clone included


@dataclass(frozen=True)
class ColabRun:
    """What came of it: errors (cell id, name, text), all printed text, downloaded files, and the content folder."""

    errors: list[tuple[str, str, str]]
    text: str
    downloads: list[Path]
    content: Path


class SimulatedColab:
    """One runtime: a content folder that stays between notebooks, and a kernel of its own for each of them."""

    def __init__(self, *, python: Path, root: Path, slug: str, folder: Path) -> None:
        """`python` is the interpreter with Colab's packages, `root` the course, `folder` an empty one for all files."""
        self.python, self.folder, self.content = python, folder, folder / "content"
        self.downloads, self.home = folder / "downloads", folder / "home"
        for path in (self.content / "sample_data", self.downloads, self.home):
            path.mkdir(parents=True)
        remote = commit_working_tree(root, folder / "remote")
        address = f"https://github.com/{slug}"
        config = f'[url "{remote.as_uri()}"]\n\tinsteadOf = {address}.git\n\tinsteadOf = {address}\n'
        (self.home / ".gitconfig").write_text(config + "[safe]\n\tdirectory = *\n")

    def run(self, notebook: Path) -> ColabRun:
        """Run a notebook file from its first cell to its last, over errors too."""
        executed = nbformat.read(notebook, as_version=4)
        executed.cells = [cell for cell in executed.cells if cell.cell_type == "markdown" or cell.source.strip()]
        client = NotebookClient(executed, km=self._manager(notebook), timeout=SECONDS, allow_errors=True)
        client.resources = {"metadata": {"path": str(self.content)}}
        client.execute()
        outputs = [(cell.id, output) for cell in executed.cells for output in cell.get("outputs", [])]
        errors = [(name, out.ename, out.evalue) for name, out in outputs if out.output_type == "error"]
        text = "".join(out.get("text", "") or out.get("data", {}).get("text/plain", "") for _, out in outputs)
        return ColabRun(errors, text, sorted(self.downloads.iterdir()), self.content)

    def _manager(self, notebook: Path) -> AsyncKernelManager:
        spec = self.folder / "kernels" / "python3"
        spec.mkdir(parents=True, exist_ok=True)
        written = kernel_spec(self.python, notebook, self.downloads, self.home)
        spec.joinpath("kernel.json").write_text(json.dumps(written))
        connection = str(self.folder / "k.json")
        manager = AsyncKernelManager(kernel_name="python3", transport="ipc", connection_file=connection)
        kernels = [str(self.folder / "kernels")]
        manager.kernel_spec_manager = KernelSpecManager(kernel_dirs=kernels, ensure_native_kernel=False)
        return manager


def commit_working_tree(root: Path, remote: Path) -> Path:
    """A repository whose only commit is the working tree as it is now, uncommitted files included."""
    remote.mkdir()
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "init.defaultBranch=main"]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    for name in sorted(set(os.fsdecode(listed.stdout).split("\0")) - {""}):
        if (root / name).is_file():
            (remote / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, remote / name)
    for words in (["init", "-q"], ["add", "-Af"], ["commit", "-qm", "the working tree"]):
        subprocess.run([*git, *words], cwd=remote, check=True, capture_output=True)
    return remote


def kernel_spec(python: Path, notebook: Path, downloads: Path, home: Path) -> dict[str, object]:
    """Colab's kernel: no captured file numbers, its own kernel class, and google.colab on the path."""
    options = ["--IPKernelApp.capture_fd_output=False", "--HistoryManager.enabled=False"]
    options += ["--IPKernelApp.kernel_class=google.colab._kernel.Kernel"]
    env = {
        "COLAB_RELEASE_TAG": "release-simulated",
        "PYTHONPATH": str(HERE / "stub"),
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_TERMINAL_PROMPT": "0",
        "SIMULATED_NOTEBOOK": str(notebook),
        "SIMULATED_DOWNLOADS": str(downloads),
        "VIRTUAL_ENV": "",
        "MPLBACKEND": "agg",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PATH": f"{python.parent}:{os.environ['PATH']}",
    }
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}", *options]
    return {"argv": argv, "display_name": "Python 3", "language": "python", "env": env}
