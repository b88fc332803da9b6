"""What editors, browsers, downloads and people do to a solved notebook. Each way gives file names and contents."""

import json
from collections.abc import Callable
from typing import Any

import nbformat
from nbformat import NotebookNode

NAME = "01_namespace.ipynb"
Files = dict[str, bytes]


def files(notebook: NotebookNode | dict[str, Any], name: str = NAME) -> Files:
    return {name: json.dumps(notebook, indent=1, ensure_ascii=False).encode()}


def cell(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.id == name)


def place(notebook: NotebookNode, name: str) -> int:
    return [cell.id for cell in notebook.cells].index(name)


def with_answer(notebook: NotebookNode, name: str, source: str) -> Files:
    """The notebook with another answer."""
    cell(notebook, name).source = source
    return files(notebook)


def colab(notebook: NotebookNode) -> Files:
    """As Google Colab saves it: ids in the metadata, a badge on top, its own marks everywhere."""
    link = "https://colab.research.google.com/github/someone/somewhere/blob/main/01_namespace.ipynb"
    badge = (
        f'<a href="{link}" target="_parent"><img src="https://colab.research.google.com/assets/colab-badge.svg"/></a>'
    )
    cells = [{"cell_type": "markdown", "metadata": {"id": "view-in-github", "colab_type": "text"}, "source": [badge]}]
    for number, one in enumerate(notebook.cells):
        made = {"cell_type": one.cell_type, "metadata": {**one.metadata, "id": one.id}}
        made["source"] = one.source.splitlines(keepends=True)
        if one.cell_type == "code":
            made["metadata"] |= {"outputId": f"0f1e2d3c-{number:04}", "colab": {"base_uri": "https://localhost:8080/"}}
            text = ["The course's code is ready.\n"]
            made |= {"execution_count": number, "outputs": [{"output_type": "stream", "name": "stdout", "text": text}]}
        cells.append(made)
    top = {"colab": {"provenance": [], "include_colab_link": True}, "kernelspec": {"name": "python3"}}
    document = {"nbformat": 4, "nbformat_minor": 0, "metadata": top, "cells": cells}
    return files(document, "Copy of 01_namespace.ipynb")


def jupyterlite(notebook: NotebookNode) -> Files:
    """As JupyterLite downloads it: its own kernel's name, older cells without ids."""
    notebook.metadata["kernelspec"] = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    notebook.metadata["language_info"] = {"name": "python", "codemirror_mode": {"name": "python", "version": 3}}
    notebook.nbformat_minor = 4
    for one in notebook.cells:
        del one["id"]
        if not one.metadata.get("nbgrader"):
            one.metadata["trusted"] = True
    return files(notebook, "01_namespace (1).ipynb")


def copied_cell(notebook: NotebookNode) -> Files:
    """An answer and a check copied, marks and all."""
    for name in ("task1", "task1_check"):
        copy = nbformat.from_dict({**cell(notebook, name), "id": f"{name}-copy"})
        notebook.cells.insert(place(notebook, "task1_check") + 1, copy)
    return files(notebook)


def deleted_test(notebook: NotebookNode) -> Files:
    del notebook.cells[place(notebook, "task2_check")]
    return files(notebook)


def deleted_answer(notebook: NotebookNode) -> Files:
    """An answer moved into a cell of the student's own."""
    at = place(notebook, "task2")
    notebook.cells[at] = nbformat.v4.new_code_cell(notebook.cells[at].source, id="my-own-cell")
    return files(notebook)


def stripped(notebook: NotebookNode) -> Files:
    """All names and marks lost, as some converters leave a notebook."""
    for one in notebook.cells:
        one.metadata = NotebookNode()
        del one["id"]
    notebook.nbformat_minor = 4
    notebook.metadata = NotebookNode()
    return files(notebook)


def edited_test(notebook: NotebookNode) -> Files:
    """A wrong answer, and its check made to say yes."""
    cell(notebook, "task2").source = "def merge_reject(sessions):\n    return {}, []"
    cell(notebook, "task2_check").source = 'with checks.task(2, "merge with reject", points=2) as check:\n    pass'
    return files(notebook)


def flipped_flags(notebook: NotebookNode) -> Files:
    cell(notebook, "task1_check").metadata["nbgrader"] |= {"points": 100, "locked": False}
    cell(notebook, "task2_check").metadata["nbgrader"] |= {"grade": False}
    cell(notebook, "task3").metadata["nbgrader"] |= {"locked": True, "solution": False}
    return files(notebook)


def reordered(notebook: NotebookNode) -> Files:
    """The last task moved to the top, above the setup."""
    moved = notebook.cells[place(notebook, "task4_prompt") : place(notebook, "task4_check") + 1]
    notebook.cells = [*moved, *[one for one in notebook.cells if one not in moved]]
    return files(notebook)


def old_format(notebook: NotebookNode) -> Files:
    """Notebook format 3, with worksheets."""
    cells = []
    for one in notebook.cells:
        made: dict[str, Any] = {"cell_type": one.cell_type, "metadata": one.metadata}
        made |= {"input": one.source, "language": "python", "outputs": []} if one.cell_type == "code" else {}
        made |= {"source": one.source} if one.cell_type != "code" else {}
        cells.append(made)
    sheets = [{"cells": cells, "metadata": {}}]
    return files({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": sheets})


def asks(notebook: NotebookNode) -> Files:
    """Cells that want a person, a package, a shell and Colab."""
    sources = [
        "%pip install numpy",
        "!rm -rf somewhere",
        "from google.colab import drive, files\ndrive.mount('/content/drive')",
        "name = input('Your name? ')",
    ]
    at = place(notebook, "task1")
    notebook.cells[at:at] = [nbformat.v4.new_code_cell(source, id=f"mine{n}") for n, source in enumerate(sources)]
    return files(notebook)


def children(notebook: NotebookNode) -> Files:
    """Processes left behind: one in a session of its own, one that also dropped its environment."""
    source = "import subprocess\nnap = ['sleep', '86399']\nsubprocess.Popen(nap, start_new_session=True)\n"
    source += (
        "subprocess.Popen(['sh', '-c', 'sleep 86399 & exit'], start_new_session=True, env={'PATH': '/usr/bin:/bin'})"
    )
    return with_answer(notebook, "task1", f"{cell(notebook, 'task1').source}\n\n{source}")


def twice(notebook: NotebookNode) -> Files:
    """Two notebooks: one finished, one begun later."""
    finished = files(notebook)
    for number in (2, 3, 4):
        cell(notebook, f"task{number}").source = "raise NotImplementedError"
    return finished | files(notebook, "01_namespace (1).ipynb")


WAYS: dict[str, Callable[[NotebookNode], Files]] = {
    "colab": colab,
    "jupyterlite": jupyterlite,
    "copied cell": copied_cell,
    "deleted test": deleted_test,
    "deleted answer": deleted_answer,
    "stripped metadata": stripped,
    "edited test": edited_test,
    "flipped flags": flipped_flags,
    "reordered": reordered,
    "old format": old_format,
    "asks and installs": asks,
    "handed in twice": twice,
    "endless loop": lambda nb: with_answer(nb, "task2", "while True:\n    pass"),
    "kernel killer": lambda nb: with_answer(nb, "task3", "import os\n\nos._exit(0)"),
    "floods": lambda nb: with_answer(nb, "task1", cell(nb, "task1").source + "\n\nprint('x' * 100_000_000)"),
    "children": children,
    "empty file": lambda nb: {NAME: b""},
    "web page": lambda nb: {NAME: b"<!DOCTYPE html>\n<html><body>Sign in to continue</body></html>"},
    "half a download": lambda nb: {NAME: files(nb)[NAME][:9000]},
    "other json": lambda nb: {NAME: b'{"name": "01_namespace", "version": 1}'},
}
