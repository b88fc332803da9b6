"""Behaviour of the runner, on real kernels."""

import nbformat
import psutil
import pytest

from grader.run import NOT_RUN, Limits, run_notebook

pytestmark = pytest.mark.slow

FAST = Limits(cell_seconds=2, notebook_seconds=30, cell_bytes=1000)


def notebook(*sources):
    cells = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    return nbformat.v4.new_notebook(cells=cells)


def errors(cell):
    return [output.ename for output in cell.outputs if output.output_type == "error"]


def text(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def alive(pattern):
    return [p for p in psutil.process_iter(["cmdline"]) if pattern in " ".join(p.info["cmdline"] or [])]


def test_cells_run_in_order_and_the_input_stays_as_it_is():
    given = notebook("a = 1", "print(a + 1)")
    run = run_notebook(given)
    assert run.reason == ""
    assert text(run.notebook.cells[1]) == "2\n"
    assert given.cells[1].outputs == []


def test_an_error_does_not_stop_the_next_cell():
    run = run_notebook(notebook("1/0", "print('on')"))
    assert errors(run.notebook.cells[0]) == ["ZeroDivisionError"]
    assert text(run.notebook.cells[1]) == "on\n"


def test_an_exception_group_leaves_an_error_output_too():
    run = run_notebook(notebook("raise ExceptionGroup('two', [ValueError(1)])"))
    assert len(errors(run.notebook.cells[0])) == 1


def test_an_error_that_a_handler_hides_leaves_an_error_output_too():
    hide = "get_ipython().set_custom_exc((Exception,), lambda *a, **k: None)"
    run = run_notebook(notebook(hide, "raise ValueError('hidden')"))
    assert errors(run.notebook.cells[1]) == ["ValueError"]


def test_an_endless_loop_is_interrupted_and_the_next_cell_runs():
    run = run_notebook(notebook("while True: pass", "print('on')"), limits=FAST)
    assert errors(run.notebook.cells[0]) == ["KeyboardInterrupt", "CellTimeout"]
    assert text(run.notebook.cells[1]) == "on\n"


def test_a_loop_that_ignores_the_interrupt_ends_the_notebook_and_keeps_what_was_there(monkeypatch):
    monkeypatch.setattr("grader.run.GRACE_SECONDS", 1.0)
    stubborn = "import time\nwhile True:\n    try: time.sleep(1)\n    except BaseException: pass"
    run = run_notebook(notebook("print('kept')", stubborn, "print('never')"), limits=FAST)
    assert run.reason == "the notebook was stopped in cell 2 (c1): it did not end in time"
    assert text(run.notebook.cells[0]) == "kept\n"
    assert errors(run.notebook.cells[1])[-1] == errors(run.notebook.cells[2])[-1] == NOT_RUN


def test_a_kernel_that_dies_keeps_what_was_there():
    run = run_notebook(notebook("print('kept')", "import os; os._exit(3)", "print('never')"), limits=FAST)
    assert run.reason == "the kernel died in cell 2 (c1)"
    assert text(run.notebook.cells[0]) == "kept\n"
    assert errors(run.notebook.cells[2]) == [NOT_RUN]


def test_the_limit_of_the_notebook_holds():
    nap = "import time; time.sleep(1.5)"
    run = run_notebook(notebook(*[nap] * 5), limits=Limits(cell_seconds=2, notebook_seconds=4))
    assert "did not end in time" in run.reason or errors(run.notebook.cells[2]) == ["KeyboardInterrupt", "CellTimeout"]
    assert errors(run.notebook.cells[4]) == [NOT_RUN]


@pytest.mark.parametrize("source", ["print('x' * 5_000_000)", "for i in range(200_000): print(i)"])
def test_a_flood_of_output_is_cut_with_a_note(source):
    run = run_notebook(notebook(source, "print('on')"), limits=Limits(cell_bytes=1000))
    assert len(text(run.notebook.cells[0])) < 2500
    assert "the rest was dropped" in text(run.notebook.cells[0])
    assert text(run.notebook.cells[1]) == "on\n"


def test_no_process_outlives_the_run_even_in_a_session_of_its_own():
    start = "import subprocess; subprocess.Popen(['sleep', '98765'], start_new_session=True)"
    run_notebook(notebook(start, "import os; os._exit(1)"), limits=FAST)
    assert alive("98765") == []


def test_top_level_await_works_and_input_does_not_hang():
    run = run_notebook(notebook("import asyncio\nawait asyncio.sleep(0)\nprint('ok')", "input('name?')"), limits=FAST)
    assert text(run.notebook.cells[0]) == "ok\n"
    assert errors(run.notebook.cells[1]) == ["StdinNotImplementedError"]
