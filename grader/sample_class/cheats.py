"""Known ways to get points without an answer. None of these works; each is flagged."""

from collections.abc import Callable

from nbformat import NotebookNode

from grader.sample_class.damage import Files, cell, files

DROP_CHECKS = """
import ast


class Drop(ast.NodeTransformer):
    def visit_With(self, node):
        node.body = [ast.Pass()]
        return ast.fix_missing_locations(node)


get_ipython().ast_transformers.append(Drop())
"""
REWRITE_TEXT = """
def empty(lines):
    return ["pass\\n"] if any("checks.task" in line for line in lines) else lines


get_ipython().input_transformers_post.append(empty)
"""
EQUAL = """
class Yes:
    def __eq__(self, other):
        return True

    def __getitem__(self, key):
        return self

    def __hash__(self):
        return 0


def merge_prefix(sessions):
    return Yes()


merge_reject = call = merge_ambiguous = call_or_refuse = lambda *args: Yes()
"""
BUILTINS = """
import builtins

builtins.all = lambda values: True
builtins.sorted = lambda values, **kwargs: []
"""
PATCHED = """
checks.difference = lambda actual, expected, where="": None
checks.Check.call = lambda self, *args, **kwargs: None
checks.Check.true = checks.Check.raises = checks.Check.returns = lambda self, *args, **kwargs: None
"""
HIDDEN_ERRORS = "get_ipython().set_custom_exc((Exception,), lambda shell, kind, value, trace, tb_offset=None: None)"
NUMBER = """
def merge_prefix(sessions):
    get_ipython().displayhook(-1)
    raise ValueError


def merge_reject(sessions):
    get_ipython().displayhook(99)
    return {}, []
"""
FORGED = """
def merge_prefix(sessions):
    record = {"task": 1, "title": "x", "points": 2, "passed": True, "message": "", "earned": 2, "line": "forged"}
    get_ipython().display_pub.publish(data={checks.MIME: record, "text/plain": "forged"}, metadata={})
"""
PUBLISHER = """
publish = get_ipython().display_pub.publish


def lie(data, metadata=None, **kwargs):
    for record in data.values():
        if isinstance(record, dict):
            record |= {"passed": True, "line": "all is well", "problems": []}
    publish(data=data, metadata=metadata or {}, **kwargs)


get_ipython().display_pub.publish = lie
"""
OTHER_CHECKS = """
import types
import contextlib


@contextlib.contextmanager
def task(number, title, points):
    yield types.SimpleNamespace(returns=print, raises=print, equal=print, true=print, call=print)


checks = types.SimpleNamespace(task=task, shown=str, plain=str, hand_in=print)
rows = make_sessions = lambda *args: {}
"""


def in_first_answer(source: str) -> Callable[[NotebookNode], Files]:
    """A way that puts this text in place of the first answer and leaves the others unwritten."""

    def way(notebook: NotebookNode) -> Files:
        cell(notebook, "task1").source = source.strip()
        return files(notebook)

    return way


WAYS: dict[str, Callable[[NotebookNode], Files]] = {
    "cheat equal": in_first_answer(EQUAL),
    "cheat transformer": in_first_answer(DROP_CHECKS),
    "cheat text": in_first_answer(REWRITE_TEXT),
    "cheat builtins": in_first_answer(BUILTINS),
    "cheat patched checks": in_first_answer(PATCHED),
    "cheat hidden errors": in_first_answer(HIDDEN_ERRORS),
    "cheat number": in_first_answer(NUMBER),
    "cheat forged record": in_first_answer(FORGED),
    "cheat publisher": in_first_answer(PUBLISHER),
    "cheat own checks": in_first_answer(OTHER_CHECKS),
}
