"""Which cell of the exercise each cell of a submission is, and which exercise a notebook belongs to.

A cell is known by its id, by the id that Colab moves into the metadata, by nbgrader's grade_id,
by its text, and last by its place. File names say nothing: people and browsers change them.
"""

import ast
import difflib
from dataclasses import dataclass, field

from nbformat import NotebookNode

from grader.assignment import Assignment, is_answer, is_graded, is_locked

LIKE = 0.6  # from this similarity on, a changed text is still taken for the same cell
ENOUGH = 2  # cells that must be alike before a notebook without names counts as an exercise


@dataclass
class Match:
    """What was found. Numbers are places in the submission, names are ids of the exercise's cells."""

    names: dict[int, str] = field(default_factory=dict)
    copies: dict[int, str] = field(default_factory=dict)  # further cells that bear a name already given
    guessed: list[str] = field(default_factory=list)  # found by text or place, because all names were lost

    def place(self, name: str) -> int | None:
        return next((place for place, given in self.names.items() if given == name), None)


def names_of(cell: NotebookNode) -> list[str | None]:
    """The names that a cell bears, the most trustworthy first."""
    mark = cell.metadata.get("nbgrader")
    names = [cell.get("id"), cell.metadata.get("id"), mark.get("grade_id") if isinstance(mark, dict) else None]
    return [name if isinstance(name, str) else None for name in names]


def find_assignment(cells: list[NotebookNode], assignments: list[Assignment]) -> Assignment | None:
    """The exercise that shares most cells with this notebook; None if none shares enough."""
    best, most = None, 0
    for assignment in assignments:
        theirs = {cell.id for cell in assignment.release.cells if is_graded(cell)}
        shared = sum(any(name in theirs for name in names_of(cell)) for cell in cells)
        texts = {text(cell) for cell in assignment.release.cells if cell.source.strip()}
        alike = sum(text(cell) in texts for cell in cells)
        if max(shared, alike if alike >= ENOUGH else 0) and shared + alike > most:
            best, most = assignment, shared + alike
    return best


def match(cells: list[NotebookNode], release: NotebookNode) -> Match:
    """Find the exercise's cells among these."""
    found = Match()
    _by_name(cells, release, found)
    _by_text(cells, release, found)
    _by_place(cells, release, found)
    return found


def text(cell: NotebookNode) -> str:
    """The source without what editors change on their own."""
    return "\n".join(line.rstrip() for line in cell.source.replace("\r\n", "\n").strip().splitlines())


def _by_name(cells: list[NotebookNode], release: NotebookNode, found: Match) -> None:
    """Match by the three kinds of names, the most trustworthy kind first over the whole notebook."""
    known = {cell.id for cell in release.cells}
    for kind in range(3):
        for place, cell in enumerate(cells):
            name = names_of(cell)[kind]
            if place not in found.names and name in known and name not in found.names.values():
                found.names[place] = name
    for place, cell in enumerate(cells):
        name = next((name for name in names_of(cell) if name in known), None)
        if place not in found.names and name is not None:
            found.copies[place] = name


def _by_text(cells: list[NotebookNode], release: NotebookNode, found: Match) -> None:
    """Match cells without a name whose text is the exercise's own."""
    for theirs in release.cells:
        if found.place(theirs.id) is not None or not theirs.source.strip():
            continue
        place = next((p for p in _free(cells, found) if text(cells[p]) == text(theirs)), None)
        if place is not None:
            _guess(found, place, theirs)


def _by_place(cells: list[NotebookNode], release: NotebookNode, found: Match) -> None:
    """Match changed cells without a name: between the same neighbours, and alike."""
    order = [cell.id for cell in release.cells]
    for position, theirs in enumerate(release.cells):
        if not is_graded(theirs) or found.place(theirs.id) is not None:
            continue
        before = [p for name in order[:position] if (p := found.place(name)) is not None]
        after = [p for name in order[position + 1 :] if (p := found.place(name)) is not None]
        low, high = max(before, default=-1), min(after, default=len(cells))
        near = [p for p in _free(cells, found) if low < p < high and cells[p].cell_type == "code"]
        place = _most_alike(cells, near, theirs)
        if place is not None:
            _guess(found, place, theirs)


def _most_alike(cells: list[NotebookNode], near: list[int], theirs: NotebookNode) -> int | None:
    """The place of the cell that defines the same names, or else has the most similar text."""
    wanted = defined(theirs.source)
    if is_answer(theirs) and wanted:
        return next((place for place in near if wanted & defined(cells[place].source)), None)
    scores = {p: difflib.SequenceMatcher(None, cells[p].source, theirs.source, False).ratio() for p in near}
    best = max(scores, key=scores.__getitem__, default=None)
    needed = LIKE if is_locked(theirs) else 0.0
    return best if best is not None and scores[best] >= needed else None


def defined(source: str) -> set[str]:
    """The functions and classes that a text defines at its top; empty if it is no valid Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}


def _free(cells: list[NotebookNode], found: Match) -> list[int]:
    """The places of cells that nobody has claimed."""
    return [place for place in range(len(cells)) if place not in found.names and place not in found.copies]


def _guess(found: Match, place: int, theirs: NotebookNode) -> None:
    found.names[place] = theirs.id
    if is_graded(theirs):
        found.guessed.append(theirs.id)
