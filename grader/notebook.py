"""What every notebook of the course has in common: its form, and the bytes it is kept as."""

import copy
from typing import Any

import nbformat
from nbformat import NotebookNode

OURS = "mcp_course"  # our own key in a notebook's metadata


def new_notebook(cells: list[NotebookNode], name: str, **ours: Any) -> NotebookNode:
    """A notebook in the one form we use: nbformat 4.5, a fixed kernel, a name for Colab."""
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(
        {
            "colab": {"name": name, "provenance": []},
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    if ours:
        notebook.metadata[OURS] = nbformat.from_dict(ours)
    return notebook


def markdown_cell(cell_id: str, source: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(source, id=cell_id)


def code_cell(cell_id: str, source: str, **metadata: Any) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, id=cell_id, metadata=nbformat.from_dict(metadata))


def to_bytes(notebook: NotebookNode) -> bytes:
    """The bytes of a notebook, the same for the same notebook. Raises if it is not valid."""
    nbformat.validate(copy.deepcopy(notebook))
    return (nbformat.writes(notebook, version=4).rstrip("\n") + "\n").encode("utf-8")
