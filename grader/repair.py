"""From a submission to a notebook that nbgrader accepts, with a sentence for all that was mended.

The exercise's own cells come back as they were released: locked cells with their text, answers
with their marks. What the student wrote stays, and so does its order around the answers.
Repair changes no verdict: it neither adds to an answer nor takes away from one.
"""

import copy
import re
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.assignment import Assignment, is_answer, is_check, is_graded, is_locked, label
from grader.matching import Match, match, text

STUB = "raise NotImplementedError"  # stands in an answer that nobody has written
VIEW_IN_GITHUB = "view-in-github"  # the id of the badge that Colab puts on top
MARKS = ("grade", "solution", "locked", "points")  # of nbgrader, whose change is worth a sentence


@dataclass(frozen=True)
class Repaired:
    """A notebook in the form of the release. `repairs` are for everybody, `flags` ask the instructor to look."""

    notebook: NotebookNode
    repairs: tuple[str, ...]
    flags: tuple[str, ...]
    answered: int  # answers that somebody has written


def repair(cells: list[NotebookNode], assignment: Assignment) -> Repaired:
    """Mend the cells of one submission."""
    cells = [copy.deepcopy(cell) for cell in cells if cell.metadata.get("id") != VIEW_IN_GITHUB]
    release = {cell.id: cell for cell in assignment.release.cells}
    found = match(cells, assignment.release)
    repairs, flags = _marks(cells, release, found), []
    for place, name in list(found.names.items()):
        cells[place], more, flag = _restored(cells[place], release[name], assignment)
        repairs += more
        flags += flag
    answers = [(cells[place], release[name]) for place, name in found.names.items() if is_answer(release[name])]
    answered = sum(text(mine) != text(theirs) and STUB not in mine.source for mine, theirs in answers)
    ordered, more = _in_order(cells, assignment, found)
    ordered, restored = _complete(ordered, assignment)
    _name_the_rest(ordered)
    notebook = nbformat.v4.new_notebook(cells=ordered, metadata=copy.deepcopy(assignment.release.metadata))
    return Repaired(notebook, (*repairs, *more, *restored), tuple(flags), answered)


def with_hidden_checks(notebook: NotebookNode, assignment: Assignment) -> NotebookNode:
    """A repaired notebook with the checks of the source, the hidden ones too; nbgrader does so from its database."""
    made = copy.deepcopy(notebook)
    source = {cell.id: cell for cell in assignment.source.cells if is_locked(cell)}
    for cell in made.cells:
        if cell.id in source:
            cell.source = source[cell.id].source
    return made


def _marks(cells: list[NotebookNode], release: dict[str, NotebookNode], found: Match) -> list[str]:
    """Sentences about nbgrader's marks: lost, or changed."""
    lost, changed = [], []
    for place, name in sorted(found.names.items()):
        if not is_graded(release[name]):
            continue
        mine, theirs = cells[place].metadata.get("nbgrader"), release[name].metadata["nbgrader"]
        if not isinstance(mine, dict) or not mine:
            lost.append(name)
        elif any(_plain(mine.get(mark)) != _plain(theirs.get(mark)) for mark in MARKS):
            changed.append(name)
    sentences = []
    if lost:
        known = "" if not found.guessed else " They were known again by their text and their place."
        sentences.append(f"The grading marks of {_listed(lost)} were lost and were put back.{known}")
    if changed:
        sentences.append(f"The grading marks of {_listed(changed)} had changed and were put back.")
    return sentences


def _restored(
    cell: NotebookNode, theirs: NotebookNode, assignment: Assignment
) -> tuple[NotebookNode, list[str], list[str]]:
    """One cell of the exercise with its own marks, and its own text where it is locked."""
    made, repairs, flags = copy.deepcopy(theirs), [], []
    if cell.cell_type != theirs.cell_type and is_graded(theirs):
        repairs.append(f"{_upper(label(theirs.id))} was a {cell.cell_type} cell; it is {theirs.cell_type} again.")
    if not is_locked(theirs):
        made.source = cell.source
        return made, repairs, flags
    originals = [other for other in assignment.source.cells if other.id == theirs.id] + [theirs]
    if text(cell) not in [text(original) for original in originals]:
        sentence = f"{_upper(label(theirs.id))} was changed; the course's own text was used."
        (flags if is_check(theirs) else repairs).append(sentence)
        if is_check(theirs):
            repairs.append(f"{_upper(label(theirs.id))} was put back as released.")
    return made, repairs, flags


def _in_order(cells: list[NotebookNode], assignment: Assignment, found: Match) -> tuple[list[NotebookNode], list[str]]:
    """The cells with those of the exercise in its order; what a student added stays behind the cell it followed."""
    order = {cell.id: number for number, cell in enumerate(assignment.release.cells)}
    graded = [found.names[p] for p in sorted(found.names) if is_graded(_of(assignment, found.names[p]))]
    segments: list[tuple[int, list[NotebookNode]]] = [(-1, [])]
    repairs = []
    for place, cell in enumerate(cells):
        if place in found.names:
            segments.append((order[found.names[place]], []))
        elif place in found.copies:
            theirs = _of(assignment, found.copies[place])
            if is_graded(theirs):
                kept = "it ran as it stands, without points" if is_answer(theirs) else "it was left out"
                repairs.append(f"There was a copy of {label(theirs.id)}; {kept}.")
            if is_locked(theirs):
                continue
        if place not in found.names:
            cell = _own(cell)
        segments[-1][1].append(cell)
    if graded != sorted(graded, key=order.__getitem__):
        repairs.append("Cells stood in another order; they were put back in the order of the exercise.")
        segments.sort(key=lambda segment: segment[0])
    return [cell for _, segment in segments for cell in segment], list(dict.fromkeys(repairs))


def _complete(cells: list[NotebookNode], assignment: Assignment) -> tuple[list[NotebookNode], list[str]]:
    """Put missing cells back: locked ones as released, answers empty, for their work may stand in another cell."""
    repairs = []
    known = {cell.id for cell in assignment.release.cells}
    previous = None
    for theirs in assignment.release.cells:
        places = {cell.get("id"): number for number, cell in enumerate(cells)}
        if theirs.id in places:
            previous = theirs.id
        elif is_graded(theirs):
            made = copy.deepcopy(theirs)
            at = 0 if previous is None else places[previous] + 1
            while at < len(cells) and cells[at].get("id") not in known:
                at += 1
            if is_answer(theirs):
                made.source = ""
            cells.insert(at, made)
            previous = theirs.id
            repairs.append(f"{_upper(label(theirs.id))} was missing and was put back{' empty' * is_answer(theirs)}.")
    return cells, repairs


def _own(cell: NotebookNode) -> NotebookNode:
    """A cell that the student added: its text, and nothing that nbgrader would take for its own."""
    cell.metadata = NotebookNode()
    cell.pop("id", None)
    return cell


def _name_the_rest(cells: list[NotebookNode]) -> None:
    """Give each added cell an id that no other has."""
    taken = {cell.get("id") for cell in cells}
    for number, cell in enumerate(cells, 1):
        if not cell.get("id"):
            name = f"added-{number}"
            while name in taken:
                name += "x"
            cell["id"] = name
            taken.add(name)


def _of(assignment: Assignment, name: str) -> NotebookNode:
    return next(cell for cell in assignment.release.cells if cell.id == name)


def _plain(mark: Any) -> Any:
    """A mark without the difference between 2 and 2.0, nor between false and absent."""
    return float(mark) if isinstance(mark, (int, float)) and not isinstance(mark, bool) else mark or False


def _listed(names: list[str]) -> str:
    """The names of some cells, as a person reads them."""
    texts = [label(name) for name in names]
    return ", ".join(texts[:3]) + (f" and {len(texts) - 3} more" if len(texts) > 3 else "")


def _upper(sentence: str) -> str:
    return re.sub(r"^\w", lambda first: first[0].upper(), sentence)
