"""Lessons that start processes leave none, also when cells fail half-way; and they run where fd capture is off."""

import ast
from pathlib import Path

import nbformat
import pytest

from grader.course import Course
from grader.run import run_notebook

pytestmark = pytest.mark.slow
COURSE = Course.load(Path(__file__).parents[2])
LESSONS = [lesson for lesson in COURSE.lessons if lesson.number > 1]  # the first starts no process
FAILURE = ast.parse("raise RuntimeError('half-way')").body[0]
CHILDREN = """
import psutil
alive = [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]
print("left:", len(psutil.wait_procs(alive, timeout=3)[1]))
"""


def failing_half_way(source: str) -> str:
    """The cell with a statement that raises in the middle of each `with` and `async with` block at its left margin."""
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.With | ast.AsyncWith):
            node.body.insert((len(node.body) + 1) // 2, FAILURE)
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.fixture(params=LESSONS, ids=lambda lesson: lesson.slug)
def notebook(request):
    return nbformat.read(COURSE.root / request.param.notebook, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def errors(notebook):
    return {
        cell.id: output.evalue
        for cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", [])
    }


def test_no_process_is_left_when_every_with_block_fails_half_way(notebook):
    for cell in code_cells(notebook)[1:]:
        cell.source = failing_half_way(cell.source)
    if not any("RuntimeError('half-way')" in cell.source for cell in code_cells(notebook)):
        # this lesson keeps its servers in one ExitStack from cell to cell: here every third cell fails
        for cell in code_cells(notebook)[2:-4:3]:
            tree = ast.parse(cell.source)
            tree.body.insert((len(tree.body) + 1) // 2, FAILURE)
            cell.source = ast.unparse(ast.fix_missing_locations(tree))
    notebook.cells.append(nbformat.v4.new_code_cell(CHILDREN))
    run = run_notebook(notebook, folder=COURSE.root)
    assert run.reason == ""
    assert "half-way" in errors(run.notebook).values()
    assert run.notebook.cells[-1].outputs[0].text == "left: 0\n"


def test_it_runs_to_its_end_where_the_kernel_does_not_capture_descriptors(notebook):
    notebook.cells.append(nbformat.v4.new_code_cell(CHILDREN))
    run = run_notebook(notebook, folder=COURSE.root, env={"PYTEST_CURRENT_TEST": "turns fd capture off"})
    assert errors(run.notebook) == {}
    assert run.notebook.cells[-1].outputs[0].text == "left: 0\n"
