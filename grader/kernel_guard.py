"""Runs inside the student's kernel, in cells that the grader puts in: stubs first, then guards.

`attempt.py` sends this file's text with the names SHELL (the IPython shell) and JOB (a dict).
A guard looks whether the checks are still the course's own. It stands before the first check
and after each, and leaves a record with a word that only this guard was told.

Left out: a forger who studies this file. It runs in the same process as the answers.

Standard library only. Nothing of the course is imported under its own name.
"""

import ast
import builtins
import hashlib
import json
import sys
import types
from collections.abc import Iterator
from typing import Any

MIME = "application/vnd.mcp-course.guard+json"
CHECKS = "grader.checks"
NO_PRINTS = ("SEED",)  # constants that differ from run to run
SHELL: Any = globals().get("SHELL")  # both given by the cell that runs this text
JOB: dict[str, Any] = globals().get("JOB", {})
HOOKS = ("run_cell", "run_cell_async", "run_ast_nodes", "run_code", "transform_cell", "transform_ast", "showtraceback")
IPYTHON = ("IPython", "ipykernel", "traitlets", "matplotlib_inline")  # packages whose hooks are no student's


def stubs() -> None:
    """Answer in a sentence where a notebook asks for a person, a shell or Colab."""
    kernel = SHELL.kernel

    def nobody(*args: Any, **kwargs: Any) -> str:
        raise RuntimeError("input() was called, but in the grader nobody can answer; use a parameter instead")

    def no_shell(command: str, *args: Any, **kwargs: Any) -> None:
        print(f"[grader] The shell command !{command.split()[0] if command.split() else ''} was left out.")

    def no_install(line: str = "", cell: str | None = None) -> None:
        print("[grader] Nothing is installed here: what the exercise needs is there already.")

    kernel.raw_input = kernel.getpass = nobody
    SHELL.system = SHELL.system_raw = SHELL.system_piped = no_shell
    SHELL.getoutput = lambda command, *args, **kwargs: no_shell(command) or []
    for name in ("pip", "conda", "mamba", "uv"):
        SHELL.register_magic_function(no_install, "line", name)
    for name in ("bash", "sh", "script", "system", "sx"):
        SHELL.register_magic_function(lambda line, cell="", name=name: no_shell(name), "line_cell", name)
    if "google.colab" not in sys.modules:
        _colab()


def _colab() -> None:
    """A google.colab whose functions do nothing but say so."""

    class Colab(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return lambda *args, **kwargs: print(f"[grader] google.colab is not here: {name} did nothing.")

    google = sys.modules.setdefault("google", types.ModuleType("google"))
    names = ("files", "drive", "userdata", "output", "auth", "data_table", "widgets")
    google.colab = colab = sys.modules["google.colab"] = Colab("google.colab")  # type: ignore[attr-defined]
    colab.__path__ = []
    for name in names:
        module = sys.modules[f"google.colab.{name}"] = Colab(f"google.colab.{name}")
        setattr(colab, name, module)


def guard() -> None:
    """Look at everything that a verdict depends on, and leave a sealed record."""
    problems: list[str] = []
    for look in (_shell_hooks, _builtins, _modules, _canary, *([_fresh_canary] if JOB["last"] else [])):
        if problems and look in (_canary, _fresh_canary):
            continue  # what is wrong is known; a canary among replaced builtins says nothing more
        try:
            problems += look()
        except Exception as error:
            problems.append(f"the checks could not be looked at ({type(error).__name__}).")
    restored = [] if problems else _put_back()
    text = json.dumps({"problems": problems, "restored": restored})
    publisher = SHELL.display_pub
    type(publisher).publish(publisher, data={MIME: {"text": text, "seal": seal(JOB["word"], text)}}, metadata={})


def seal(word: str, text: str) -> str:
    """What only somebody who knows the word of this guard can add to a text."""
    return hashlib.sha256(f"{word} {text}".encode()).hexdigest()


def _shell_hooks() -> Iterator[str]:
    """What could rewrite a cell, hide an error, or forge an output."""
    if SHELL.ast_transformers:
        yield "a transformer that rewrites the cells was installed."
    manager = SHELL.input_transformer_manager
    lists = (manager.cleanup_transforms, manager.line_transforms, manager.token_transformers)
    if any(_foreign(hook) for hooks in (*lists, SHELL.input_transformers_post) for hook in hooks):
        yield "a transformer that rewrites the text of cells was installed."
    if SHELL.custom_exceptions:
        yield "a handler that can hide errors was installed (set_custom_exc)."
    callbacks = [hook for hooks in SHELL.events.callbacks.values() for hook in hooks]
    if any(_foreign(hook) for hook in callbacks):
        yield "a function that runs around each cell was installed."
    if any(_foreign(getattr(SHELL, name)) for name in HOOKS):
        yield "the way cells run was replaced."
    published = (SHELL.display_pub.publish, type(SHELL.display_pub).publish, type(SHELL.displayhook).__call__)
    if any(_foreign(hook) for hook in (*published, SHELL.kernel.session.send)):
        yield "the way results are shown was replaced."


def _foreign(hook: Any) -> bool:
    """Whether this hook comes from a cell and not from IPython."""
    function = getattr(hook, "__func__", hook)
    module = getattr(function, "__module__", None) or type(function).__module__
    code = getattr(function, "__code__", None)
    if isinstance(function, types.FunctionType) and code is not None:
        module = function.__globals__.get("__name__", "")
        if not code.co_filename.endswith(".py") or "ipykernel_" in code.co_filename:
            return True
    return str(module).split(".")[0] not in (*IPYTHON, "jupyter_client", "contextlib", "functools")


def _builtins() -> Iterator[str]:
    """Builtins that are no longer Python's own."""
    wrong = [name for name in JOB["builtins"] if not _is_pythons(vars(builtins).get(name))]
    if wrong:
        yield f"builtins were replaced: {', '.join(wrong[:5])}."


def _is_pythons(value: Any) -> bool:
    mine = isinstance(value, (types.BuiltinFunctionType, type))
    return mine and getattr(value, "__module__", None) in ("builtins", "io", "_io")


def _modules() -> Iterator[str]:
    """The course's modules in this kernel, beside what the grader knows of them."""
    for name, known in JOB["prints"].items():
        module, said = sys.modules.get(name), "the checks were" if name == CHECKS else f"the course's {name}.py was"
        if module is None:
            if name == CHECKS and "checks" in SHELL.user_ns:
                yield "the checks were taken away."
            continue
        mine = prints(module)
        changed = sorted(label for label in known.keys() | mine.keys() if known.get(label) != mine.get(label))
        if changed:
            yield f"{said} changed: {', '.join(changed[:5])}."


def _canary() -> list[str]:
    """What must fail still fails, as the checks see it; they are known to be the course's own by now."""
    return sys.modules[CHECKS].canary() if CHECKS in sys.modules else []  # type: ignore[attr-defined, no-any-return]


def _fresh_canary() -> Iterator[str]:
    """The same from a fresh copy of the checks, which no answer has seen."""
    if CHECKS in sys.modules:
        fresh = types.ModuleType(f"course_{JOB['word']}")
        sys.modules[fresh.__name__] = fresh  # dataclasses look their module up
        exec(compile(JOB["checks"], "checks.py", "exec"), vars(fresh))
        del sys.modules[fresh.__name__]
        sys.modules["course_fresh"] = fresh
        fresh.__name__ = "course_fresh"
        yield from fresh.canary()


def prints(module: types.ModuleType) -> dict[str, str]:
    """Each function, method and constant of a module as a short text: equal for equal sources."""
    found = {}
    for name, value in vars(module).items():
        mine = isinstance(value, type) and value.__module__ == module.__name__
        for label, item in [
            (name, value),
            *[(f"{name}.{key}", item) for key, item in (vars(value) if mine else {}).items()],
        ]:
            for part, function in _functions(item):
                if "." in label or function.__module__ == module.__name__:
                    found[label + part] = _short(describe(function.__code__))
            if isinstance(item, (str, int, float, tuple)) and label not in NO_PRINTS and "__" not in label:
                found[label] = _short(_value(item))
    return found


def _value(item: Any) -> str:
    """A constant as text: a number, a word, or a tuple of those and of functions."""
    if isinstance(item, tuple):
        return f"({', '.join(map(_value, item))})"
    return describe(item.__code__) if isinstance(item, types.FunctionType) else repr(item)


def _functions(item: Any) -> list[tuple[str, types.FunctionType]]:
    """The functions in an attribute: in a property, a static method or behind a decorator, too."""
    if isinstance(item, property):
        inner = [(".get", item.fget), (".set", item.fset)]
    else:
        inner = [("", getattr(item, "__func__", item)), ("", getattr(item, "__wrapped__", None))]
    return [(part, function) for part, function in inner if isinstance(function, types.FunctionType)]


def describe(code: types.CodeType) -> str:
    """What a piece of code does, wherever it stands."""
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {[_constant(item) for item in code.co_consts]}"


def _constant(item: Any) -> str:
    if isinstance(item, types.CodeType):
        return describe(item)
    return str(sorted(map(repr, item))) if isinstance(item, frozenset) else repr(item)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _put_back() -> list[str]:
    """Names of the course that an answer took for itself; before a check uses them they are the course's again."""
    space, taken = SHELL.user_ns, []
    for name, module in (("checks", "grader.checks"), ("main", "main")):
        if module in sys.modules and space.get(name) is not sys.modules[module]:
            space[name] = sys.modules[module]
            taken.append(name)
    for text in JOB["stage"]:
        for name, value in _imports(text):
            if space.get(name) is not value:
                space[name] = value
                taken.append(name)
        changed = list(_changed(text, space))
        if changed:
            for node in ast.parse(text).body:
                exec(_compiled(node), space)
            taken += changed
    return taken


def _imports(text: str) -> Iterator[tuple[str, Any]]:
    """Each name that a text imports, with what it stands for."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = sys.modules.get(alias.name if alias.asname else alias.name.split(".")[0])
                if module is not None:
                    yield alias.asname or module.__name__, module
        elif isinstance(node, ast.ImportFrom):
            module = sys.modules.get(node.module or "")
            for alias in node.names:
                if hasattr(module, alias.name):
                    yield alias.asname or alias.name, getattr(module, alias.name)


def _changed(text: str, space: dict[str, Any]) -> Iterator[str]:
    """Functions and classes of a text that are no longer as the text defines them."""
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name in space:
            scratch = dict(space)
            exec(_compiled(node), scratch)
            if _looks(scratch[node.name]) != _looks(space[node.name]):
                yield node.name


def _compiled(node: ast.stmt) -> types.CodeType:
    """One statement by itself, as IPython compiles it: Python 3.11 makes other code where it sees the imports."""
    return compile(ast.Module([node], []), "stage", "exec")


def _looks(value: Any) -> dict[str, str]:
    """The functions of a value, or of the attributes of a class: equal for equal sources."""
    items = [("", value), *(vars(value).items() if isinstance(value, type) else ())]
    found = {}
    for label, item in items:
        for number, (part, function) in enumerate(_functions(item)):
            found[f"{label}{part} {number}"] = describe(function.__code__)
    return found


if JOB:
    {"stubs": stubs, "guard": guard}[JOB["do"]]()
