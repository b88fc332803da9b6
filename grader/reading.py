"""From the bytes of whatever was handed in to cells, or to a sentence that says why there are none.

Guarantees: only plain values come out. Each cell has a known type, a string as source and a
dict as metadata; outputs are left behind, because the grader makes its own. Nothing a file
holds raises anything but `Unreadable`.
"""

import json
import re
from typing import Any

import nbformat
from nbformat import NotebookNode

MAX_BYTES = 256_000_000  # of one file; a saved flood of output is still read, and dropped
KINDS = ("code", "markdown", "raw")
FORMAT = 4  # major version of the notebooks that the course works with


class Unreadable(Exception):
    """There is no notebook in the file; the message says why, as the end of a sentence."""


def read_cells(data: bytes) -> tuple[NotebookNode, list[str]]:
    """The notebook in these bytes, and what had to be mended to read it."""
    document = _document(data)
    notes = []
    major = document.get("nbformat")
    if "worksheets" in document or (isinstance(major, int) and major < FORMAT):
        document = _upgrade(document)
        notes.append(f"The file has the old notebook format {major}; it was read as format {FORMAT}.")
    elif isinstance(major, int) and major > FORMAT:
        notes.append(f"The file has the newer notebook format {major}; it was read as format {FORMAT}.")
    cells = document.get("cells")
    if not isinstance(cells, list):
        raise Unreadable("it is JSON, but not a notebook: it has no cells")
    kept = [cell for raw in cells if (cell := _cell(raw)) is not None]
    if not kept:
        raise Unreadable("it is a notebook without any cell")
    if len(kept) < len(cells):
        count = len(cells) - len(kept)
        what = (
            "1 thing in the file was no cell; it was"
            if count == 1
            else f"{count} things in the file were no cells; they were"
        )
        notes.append(f"{what} left out.")
    return NotebookNode({"nbformat": FORMAT, "nbformat_minor": 5, "metadata": NotebookNode(), "cells": kept}), notes


def _document(data: bytes) -> dict[str, Any]:
    """The JSON object in these bytes."""
    if not data.strip(b" \t\r\n\0"):
        raise Unreadable("the file is empty")
    start = data[:4000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"PK"):
        raise Unreadable("it is an archive, not a notebook; unpack it first")
    if re.match(rb"<(!doctype|html|\?xml)", start, re.IGNORECASE):
        raise Unreadable("it is a web page, not a notebook; download the notebook itself (File → Download .ipynb)")
    try:
        document = json.loads(data)
    except UnicodeDecodeError:
        raise Unreadable("it is not text in UTF-8") from None
    except RecursionError:
        raise Unreadable("its JSON is nested too deeply") from None
    except ValueError:
        half = start.startswith(b"{") and not data.rstrip().endswith(b"}")
        raise Unreadable("the file ends in the middle: half a download" if half else "it is not JSON") from None
    if not isinstance(document, dict):
        raise Unreadable("it is JSON, but not a notebook")
    return document


def _upgrade(document: dict[str, Any]) -> dict[str, Any]:
    """A notebook of an older format as one of today's."""
    try:
        return dict(nbformat.convert(nbformat.from_dict(document), FORMAT))
    except Exception:
        raise Unreadable("it has an old notebook format, and cannot be converted") from None


def _cell(raw: Any) -> NotebookNode | None:
    """A clean cell, or None for something that is not one."""
    if not isinstance(raw, dict) or raw.get("cell_type") not in KINDS:
        return None
    source = raw.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    metadata = raw.get("metadata")
    kept = {key: metadata[key] for key in ("id", "nbgrader") if key in metadata} if isinstance(metadata, dict) else {}
    make = {
        "code": nbformat.v4.new_code_cell,
        "markdown": nbformat.v4.new_markdown_cell,
        "raw": nbformat.v4.new_raw_cell,
    }
    cell = make[raw["cell_type"]](_whole(source).replace("\r\n", "\n"), metadata=kept)
    del cell["id"]
    if isinstance(raw.get("id"), str):
        cell["id"] = raw["id"]
    return cell


def _whole(text: str) -> str:
    """Text that can be written as UTF-8: half a surrogate pair becomes a replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
