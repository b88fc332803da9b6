"""The cell that brings the official SDK into lesson 8 and exercise 8: alone, where the SDK is missing or too old."""

import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ["notebooks/08_sdk_port.ipynb", "exercises/08_sdk_port/08_sdk_port.ipynb"]


def source(notebook: str, cell_id: str) -> str:
    cells = json.loads((ROOT / notebook).read_text(encoding="utf-8"))["cells"]
    return "".join(next(cell["source"] for cell in cells if cell["id"] == cell_id))


@pytest.mark.parametrize("notebook", NOTEBOOKS)
@pytest.mark.parametrize("old", [True, False], ids=["an old version", "none"])
def test_the_cell_installs_what_is_missing_and_the_name_is_there(notebook, old, monkeypatch, capsys):
    real = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "mcp"}
    for name in real:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", types.ModuleType("mcp") if old else None)  # None: an ImportError
    asked = []

    def pip(command, **options):  # no network: the SDK of this environment can be imported from now on
        asked.append(command)
        if not old:
            del sys.modules["mcp"]  # as after an installation: nothing was imported, and now it can be

    monkeypatch.setattr(subprocess, "run", pip)
    space = {"subprocess": subprocess, "sys": sys, "importlib": __import__("importlib")}
    try:
        exec(source(notebook, "sdk"), space)
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "mcp"]:
            del sys.modules[name]
        sys.modules.update(real)
    assert space["Client"].__name__ == "Client"
    assert [command[1:4] for command in asked] == [["-m", "pip", "install"]]
    assert "Installing" in capsys.readouterr().out
