"""The checks inside an exercise: one line for each task, one sentence for each failure.

    with checks.task(1, "merge with a prefix", points=2) as check:
        check.returns(merge, sessions, expected=[...], why="nothing is lost")

A task that fails raises `CheckFailed`, an AssertionError, so nbgrader sees it. The same
sentence is shown as text, as HTML and as a small JSON record that the grader reads.

Guarantees: an answer that hangs fails after some seconds, and processes started inside a
task are stopped with it. What the answer writes to stderr cannot cost points. Values are
compared as plain data, never by a method of the student's objects.

Left out: protection from a student who rewrites this module inside the same process. The
grader looks for the known ways (`verify`) and gives nothing for them; it cannot know all.

Standard library only: a student's runtime has nothing else of the grader.
"""

import ast
import builtins
import contextlib
import dataclasses
import enum
import html
import json
import linecache
import os
import random as random_module
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any, NoReturn

MIME = "application/vnd.mcp-course.check+json"  # the record that the grader reads
CALL_SECONDS = 10.0  # an answer that needs longer hangs
ALARM_AGAIN = 0.2  # seconds; an answer that swallows the first alarm gets the next one
SHOWN = 160  # characters of a value that a sentence still bears
WIRE = 4  # lines of the wire that stand behind a sentence
BRIEF = 100  # characters; a longer value is left out if the place of the difference says enough
OURS = "# This cell belongs to the exercise: run it, change nothing."  # the first line of what is set up for the tasks
SEED = os.environ.get("COURSE_SEED") or secrets.token_hex(8)  # of the hidden data
TRUSTED_BUILTINS = dict(vars(builtins))  # as they were before any answer ran


class CheckFailed(AssertionError):
    """A task is not solved yet; the text is the sentence for the student."""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints in place of a stack trace; the sentence itself stands above it."""
        return ["CheckFailed: this task is not solved yet. The sentence above says why."]


class TimeLimit(BaseException):
    """Raised by `limit`. A BaseException, so that `except Exception` in an answer lets it pass."""


# --- Values as plain data --------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Record:
    """An object as plain data: the name of its class and its fields."""

    kind: str
    fields: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Opaque:
    """An object that is no data: a function, a generator, a class with a life of its own."""

    kind: str


def plain(value: Any, depth: int = 50) -> Any:
    """The value in the checker's own types, so that no `__eq__` or `__repr__` of an answer is ever called."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes):
        return value
    if depth == 0:
        return Opaque("too deep")
    if issubclass(kind, enum.Enum):
        return Record(kind.__name__, {"name": plain(value._name_, depth - 1)})
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        return Record(kind.__name__, {name: plain(getattr(value, name, None), depth - 1) for name in names})
    if issubclass(kind, dict):
        return {_key(key): plain(item, depth - 1) for key, item in dict.items(value)}
    if issubclass(kind, list):
        return [plain(item, depth - 1) for item in list.__iter__(value)]
    if issubclass(kind, tuple):
        return tuple(plain(item, depth - 1) for item in tuple.__iter__(value))
    if issubclass(kind, set):
        return {_key(item) for item in set.__iter__(value)}
    if issubclass(kind, frozenset):
        return {_key(item) for item in frozenset.__iter__(value)}
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        return int.__int__(value)
    return Opaque(kind.__name__)


def _key(value: Any) -> Any:
    """A dict key or set member as plain, hashable data."""
    data = plain(value)
    return shown(data) if isinstance(data, (dict, list, set, Record)) else data


def difference(actual: Any, expected: Any, where: str = "") -> str | None:
    """Where two plain values differ first, as a sentence without its stop; None where they are equal.

    An empty sentence says: they differ as a whole, there is nothing to add to the two values.
    """
    if isinstance(expected, Record) and isinstance(actual, Record) and actual.kind == expected.kind:
        return difference(actual.fields, expected.fields, where)
    at = f" at {where}" if where else ""
    if isinstance(expected, dict) and isinstance(actual, dict):
        missing, extra = [key for key in expected if key not in actual], [key for key in actual if key not in expected]
        if missing or extra:
            gaps = [f"missing{at}: {_few(missing)}"] * bool(missing) + [f"not expected{at}: {_few(extra)}"] * bool(
                extra
            )
            return "; ".join(gaps)
        pairs = [(f"{where}[{shown(key)}]", actual[key], expected[key]) for key in expected]
    elif type(actual) is type(expected) and isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            count = "there is 1 item" if len(actual) == 1 else f"there are {len(actual)} items"
            return f"{count}{at} where {len(expected)} {'was' if len(expected) == 1 else 'were'} expected"
        pairs = [(f"{where}[{i}]", a, e) for i, (a, e) in enumerate(zip(actual, expected, strict=True))]
    elif type(actual) is type(expected) and actual == expected:
        return None
    else:
        return f"{where} is {shown(actual)} where {shown(expected)} was expected" if where else ""
    return next((gap for place, a, e in pairs if (gap := difference(a, e, place)) is not None), None)


def _few(keys: list[Any]) -> str:
    """The first five keys, with dots where there are more."""
    return ", ".join(shown(key) for key in keys[:5]) + (", …" if len(keys) > 5 else "")


def shown(value: Any) -> str:
    """A plain value as Python would write it, cut to what a sentence bears."""
    if isinstance(value, Record):
        text = f"{value.kind}({', '.join(f'{name}={shown(item)}' for name, item in value.fields.items())})"
    elif isinstance(value, Opaque):
        text = f"<{value.kind}>"
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{shown(key)}: {shown(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, list):
        text = "[" + ", ".join(map(shown, value)) + "]"
    else:
        text = repr(value)
    return _cut(text, 16)


def _cut(text: str, tail: int) -> str:
    """The text, or its head and as many characters of its tail as told."""
    return text if len(text) <= SHOWN else text[: SHOWN - tail - 4] + " … " + text[-tail:]


def shown_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The call as the student would write it; a long argument is cut."""
    texts = [shown(plain(arg)) for arg in args] + [f"{name}={shown(plain(item))}" for name, item in kwargs.items()]
    short = [text if len(text) <= 60 else text[:50] + " …" for text in texts]
    return f"{getattr(function, '__name__', 'your function')}({', '.join(short)})"


# --- Bounds: time, processes, stderr ---------------------------------------------------


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Stop the block with `TimeLimit` after this many seconds; children that it started die with it.

    Works by an alarm in the main thread, where a notebook's cells run. In another thread,
    and where there is no alarm (Windows), it cannot interrupt: use `limited` there.
    """
    with _children() as children:
        if not _alarm_works():
            yield
            return

        def ring(number: int, frame: FrameType | None) -> NoReturn:
            _kill(children)  # only kill: the answer may stand in the middle of a wait for them
            raise TimeLimit(f"no answer within {seconds:g} seconds")

        before = signal.signal(signal.SIGALRM, ring)
        timer = signal.setitimer(signal.ITIMER_REAL, seconds, ALARM_AGAIN)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            signal.setitimer(signal.ITIMER_REAL, *timer)  # a limit around this one goes on


def limited(function: Callable[[], Any], seconds: float) -> Any:
    """Call the function with a limit in any thread: an alarm in the main one, a daemon thread elsewhere."""
    if _alarm_works():
        with limit(seconds):
            return function()
    outcome: list[tuple[bool, Any]] = []

    def work() -> None:
        try:
            outcome.append((True, function()))
        except BaseException as error:
            outcome.append((False, error))

    with _children():
        thread = threading.Thread(target=work, daemon=True, name="answer under a limit")
        thread.start()
        thread.join(seconds)
    if not outcome:
        raise TimeLimit(f"no answer within {seconds:g} seconds")
    good, value = outcome[0]
    if good:
        return value
    raise value


def _alarm_works() -> bool:
    """An alarm can only interrupt the main thread, and only where the system has one."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


@contextlib.contextmanager
def _children() -> Iterator[list["subprocess.Popen[Any]"]]:
    """The processes started inside the block; those still alive at its end are killed."""
    started: list[subprocess.Popen[Any]] = []
    original = subprocess.Popen.__init__

    def remember(self: "subprocess.Popen[Any]", *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        started.append(self)

    subprocess.Popen.__init__ = remember  # type: ignore[method-assign]
    try:
        yield started
    finally:
        subprocess.Popen.__init__ = original  # type: ignore[method-assign]
        _kill(started)
        for child in started:
            with contextlib.suppress(Exception):
                child.wait(1)


def _kill(children: list["subprocess.Popen[Any]"]) -> None:
    """Kill each child that still lives, with its process group where it leads one."""
    for child in children:
        if child.returncode is not None:
            continue
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg") and os.getpgid(child.pid) == child.pid:
                os.killpg(child.pid, signal.SIGKILL)
            else:
                os.kill(child.pid, signal.SIGKILL)  # Popen.kill would reap it, and wait for a lock to do so


@contextlib.contextmanager
def _captured_stderr() -> Iterator[Any]:
    """Keep what the block, its threads and its children write to stderr; nbgrader gives 0 points for any of it."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", buffering=1) as kept:
        stream, saved = sys.stderr, None
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
        with contextlib.suppress(OSError):
            saved = os.dup(2)
            os.dup2(kept.fileno(), 2)
        sys.stderr = kept
        try:
            yield kept
        finally:
            sys.stderr = stream
            if saved is not None:
                os.dup2(saved, 2)
                os.close(saved)


def _last_line(kept: Any) -> str:
    """The last line in a captured stderr, or an empty string."""
    with contextlib.suppress(OSError, ValueError):
        kept.flush()
        size = os.fstat(kept.fileno()).st_size
        kept.seek(max(0, size - 4000))
        lines = [line.strip() for line in kept.read(4000).splitlines() if line.strip()]
        return lines[-1][:SHOWN] if lines else ""
    return ""


# --- A task ----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of a task. `message` is the sentence of a failure; `note` says what a passed task should know."""

    task: int
    title: str
    points: float
    passed: bool
    message: str = ""
    note: str = ""
    hidden: bool = False  # whether the hidden checks ran too

    @property
    def earned(self) -> float:
        """The points: all or none."""
        return self.points if self.passed else 0

    def line(self) -> str:
        """The one line that a student, a terminal and a feedback page show."""
        head = f"{'✓' if self.passed else '✗'} Task {self.task} ({self.title}): "
        head += f"{self.earned:g} of {self.points:g} points"
        if self.passed:
            return head + (", hidden checks too." if self.hidden else " before the hidden checks.") + self.note
        return f"{head}. {self.message}"


RESULTS: dict[int, Result] = {}  # task number → the newest result in this notebook


class Check:
    """The facts asked of one task. Each method raises `CheckFailed` at the first that does not hold."""

    def __init__(self, task: int) -> None:
        self.task, self.hidden_title, self.hidden_ran, self.draws = task, "", False, 0
        self.wire_lines: Sequence[str] = ()

    def call(
        self,
        function: Callable[..., Any],
        *args: Any,
        why: str = "",
        called: str = "",
        seconds: float = CALL_SECONDS,
        **kwargs: Any,
    ) -> Any:
        """Call the answer under a time limit and hand on what it returns; an exception becomes a sentence.

        `called` is how a sentence shows the call where the arguments are long.
        """
        called = called or shown_call(function, args, kwargs)
        try:
            return limited(lambda: function(*args, **kwargs), seconds)
        except (Exception, SystemExit, TimeLimit) as error:
            self._stopped(error, called, why)

    def returns(
        self,
        function: Callable[..., Any],
        *args: Any,
        expected: Any,
        why: str = "",
        called: str = "",
        seconds: float = CALL_SECONDS,
        **kwargs: Any,
    ) -> Any:
        """The call gives this value."""
        called = called or shown_call(function, args, kwargs)
        actual = self.call(function, *args, why=why, called=called, seconds=seconds, **kwargs)
        self._same(f"Called {called}. It returned", plain(actual), plain(expected), why)
        return actual

    def raises(
        self,
        function: Callable[..., Any],
        *args: Any,
        error: type[Exception],
        why: str = "",
        called: str = "",
        seconds: float = CALL_SECONDS,
        **kwargs: Any,
    ) -> None:
        """The call raises this kind of exception; a stub's NotImplementedError never counts."""
        called = called or shown_call(function, args, kwargs)
        try:
            actual = limited(lambda: function(*args, **kwargs), seconds)
        except (Exception, SystemExit, TimeLimit) as caught:
            if isinstance(caught, error) and not isinstance(caught, NotImplementedError):
                return
            self._stopped(caught, called, why, f" {error.__name__} was expected.")
        self._fail(f"Called {called}. It returned {shown(plain(actual))}, but {error.__name__} was expected.", why)

    def equal(self, actual: Any, expected: Any, what: str, why: str = "") -> None:
        """A value that the answer made is this one; `what` names it, as in "the registry"."""
        self._same(f"{what[:1].upper()}{what[1:]} is", plain(actual), plain(expected), why)

    def true(self, condition: bool, sentence: str, why: str = "") -> None:
        """The condition holds, else the sentence is the message. In a hidden block `why` stands in its place."""
        if condition is not True:
            self._fail(sentence, why)

    def fail(self, sentence: str, why: str = "") -> NoReturn:
        """The task fails with this sentence."""
        self._fail(sentence, why)

    def wire(self, lines: Sequence[str]) -> None:
        """What passed between client and server, as in `→ {"id": 1, …}`: a failure shows the newest lines.

        The list is read when a check fails, so it may grow after this call. Hidden checks show none of it.
        """
        self.wire_lines = lines

    @contextlib.contextmanager
    def hidden(self, title: str) -> Iterator[None]:
        """Checks with other data. Their sentences say what is asked (`why`) and show no values."""
        self.hidden_title, self.hidden_ran = title, True
        yield
        self.hidden_title = ""

    def random(self) -> random_module.Random:
        """A source of random data: the same again for the same COURSE_SEED, else new in each kernel."""
        self.draws += 1
        return random_module.Random(f"{SEED}:{self.task}:{self.draws}")

    def _same(self, start: str, actual: Any, expected: Any, why: str) -> None:
        """Fail unless the two plain values are equal."""
        gap = difference(actual, expected)
        if gap is None:
            return
        left, right = shown(actual), shown(expected)
        if gap and max(len(left), len(right)) > BRIEF:
            self._fail(f"{start} another value than was expected: {gap}.", why)
        detail = f" {gap[0].upper()}{gap[1:]}." if gap else ""
        self._fail(f"{start} {left}, but {right} was expected.{detail}", why)

    def _stopped(self, error: BaseException, called: str, why: str, wanted: str = "") -> NoReturn:
        """The failure of a call that did not return."""
        if isinstance(error, CheckFailed):
            raise error
        if isinstance(error, NotImplementedError):
            line = _answer_line(error)
            raise CheckFailed(
                "This task is not written yet" + (f": the line `{line}` is still there." if line else ".")
            )
        if isinstance(error, TimeLimit):
            line = _answer_line(error)
            stood = f", and stood at the line `{line}`" if line else ""
            self._fail(f"Called {called}. It gave {error}{stood}.{wanted}", why, "the answer hangs")
        self._fail(f"Called {called}. {_raised(error)}{wanted}", why, f"the answer raised {type(error).__name__}")

    def _fail(self, sentence: str, why: str, happened: str = "the answer is not as asked") -> NoReturn:
        """Raise the sentence; in a hidden block one that shows no values, only `why` or what happened."""
        if self.hidden_title:
            sentence = f"Hidden check ({self.hidden_title}): {why or happened}."
        elif why:
            sentence = f"{sentence} Remember: {why}."
        if self.wire_lines and not self.hidden_title:
            newest = [line if len(line) <= SHOWN else line[: SHOWN - 2] + " …" for line in self.wire_lines[-WIRE:]]
            sentence += "\n".join([" The last lines of the wire:", *newest])
        raise CheckFailed(sentence)


def _raised(error: BaseException) -> str:
    """The sentence for an exception in an answer, with the line of the answer where it happened."""
    line, text = _answer_line(error), _cut(str(error), SHOWN // 2)  # the reason often stands at the end
    return f"It raised {type(error).__name__}{f': {text}' if text else ''}{f' at the line `{line}`' if line else ''}."


def _answer_line(error: BaseException) -> str:
    """The last line of the student's own cells on the way to the exception."""
    line, traceback = "", error.__traceback__
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        cell = "ipykernel_" in name or name.startswith("<ipython-input")
        if cell and not _is_ours(linecache.getlines(name)):
            line = linecache.getline(name, traceback.tb_lineno).strip()
        traceback = traceback.tb_next
    return line


def _is_ours(lines: list[str]) -> bool:
    """Whether a cell with these lines is a check, or sets the tasks up."""
    return bool(lines) and (lines[0].startswith(OURS) or any("checks.task(" in line for line in lines))


class task:
    """One task of an exercise: shows its line at the end, keeps its result, raises if it failed."""

    def __init__(self, number: int, title: str, points: float) -> None:
        self.number, self.title, self.points = number, title, points

    def __enter__(self) -> Check:
        self.check, self.bounds = Check(self.number), contextlib.ExitStack()
        self.stderr = self.bounds.enter_context(_captured_stderr())
        self.bounds.enter_context(_children())
        return self.check

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        written = _last_line(self.stderr)
        self.bounds.close()
        if error is not None and not isinstance(error, (Exception, SystemExit, TimeLimit)):
            return False  # an interrupt by the person or the grader is not a verdict
        seen = f" Standard error said: {written}" if written and not self.check.hidden_title else ""
        message = "" if error is None else self._sentence(error) + seen
        note = seen if error is None else ""
        result = Result(self.number, self.title, self.points, error is None, message, note, self.check.hidden_ran)
        RESULTS[self.number] = result
        show(result)
        if error is not None:
            raise CheckFailed(message) from None
        return False

    def _sentence(self, error: BaseException) -> str:
        """The sentence for whatever left the block."""
        if isinstance(error, CheckFailed):
            return str(error)
        if isinstance(error, NameError) and error.name:
            return f"{error.name!r} is not defined: run the cells above, from the top, and try again."
        if self.check.hidden_title:
            return f"Hidden check ({self.check.hidden_title}): the answer led to {type(error).__name__}."
        if isinstance(error, TimeLimit):
            return f"The checks gave {error}."
        return f"The check could not go on. {_raised(error)}"


# --- What a person sees ----------------------------------------------------------------


def points_so_far() -> str:
    """The sum over the tasks checked in this notebook."""
    earned, known = sum(result.earned for result in RESULTS.values()), sum(r.points for r in RESULTS.values())
    return f"Points so far: {earned:g} of {known:g} in the tasks checked."


def show(result: Result) -> None:
    """Show a result: in a notebook as HTML with a text beside it, in a terminal as text."""
    text = f"{result.line()}\n{points_so_far()}"
    shell = _shell()
    if shell is None or not hasattr(shell, "kernel"):
        print(text)
        return
    record = {**dataclasses.asdict(result), "earned": result.earned, "line": result.line()}
    shell.display_pub.publish(data={"text/plain": text, "text/html": as_html(result), MIME: record}, metadata={})


def as_html(result: Result) -> str:
    """The line as HTML: readable without colour, in light and dark, and by a screen reader."""
    role, colour = ("status", "#0072B2") if result.passed else ("alert", "#D55E00")
    style = f"border-left:6px solid {colour};padding:.4em .8em;margin:.3em 0;max-width:48em;white-space:pre-wrap"
    return (
        f'<div role="{role}" style="{style}"><div>{html.escape(result.line())}</div>'
        f'<div style="font-size:90%">{html.escape(points_so_far())}</div></div>'
    )


def _shell() -> Any:
    """The IPython shell of this kernel, or None outside of one."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def hand_in(slug: str, points: float | None = None) -> None:
    """The last cell of an exercise: the result of each task, the sum, and how to hand the notebook in."""
    for number in sorted(RESULTS):
        print(RESULTS[number].line())
    print(points_so_far() + (f" The exercise has {points:g}." if points is not None else ""))
    for problem in canary():
        print(f"Take care: {problem} The grader gives no points for a notebook that does this.")
    print(f"Hand in one file, {slug}.ipynb, with all cells run.")
    if "google.colab" in sys.modules and "NBGRADER_EXECUTION" not in os.environ:
        _download_from_colab(f"{slug}.ipynb")
    else:
        print("Save the notebook first; then give the file to your instructor as your course says.")


def _download_from_colab(name: str) -> None:
    """Ask Colab for this notebook and let the browser download it; say what to do where that fails."""
    try:
        from google.colab import _message, files  # type: ignore[import-not-found]

        reply = _message.blocking_request("get_ipynb", request="", timeout_sec=10)
        Path(name).write_text(json.dumps(reply["ipynb"]), encoding="utf-8")
        files.download(name)
        print(f"Your browser downloads {name} now. If not: File → Download → Download .ipynb.")
    except Exception as error:
        print(f"Download it by hand: File → Download → Download .ipynb ({type(error).__name__}: {error}).")


# --- Is the checker still itself? ------------------------------------------------------


def canary() -> list[str]:
    """Sentences about what in this kernel keeps checks from failing; an empty list is good."""
    problems = []
    if not _assert_still_fails():
        problems.append("an `assert False` in a cell does not fail any more.")
    try:
        Check(0).equal(EqualToAll(), 1, "the canary")
        problems.append("a check that must fail does not fail any more.")
    except CheckFailed:
        pass
    ours = {"_", "get_ipython", "display", "input"}  # IPython sets these itself, `input` for each cell
    changed = [name for name, value in TRUSTED_BUILTINS.items() if vars(builtins).get(name) is not value]
    if set(changed) - ours:
        problems.append(f"builtins were replaced: {', '.join(sorted(set(changed) - ours)[:5])}.")
    return problems


class EqualToAll:
    """An object that claims to be equal to everything: an honest check refuses it."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def _assert_still_fails() -> bool:
    """Run `assert False` the way a cell runs: through the shell's own transformers."""
    source, shell = "assert False, 'canary'", _shell()
    try:
        tree = ast.parse(source) if shell is None else shell.transform_ast(ast.parse(shell.transform_cell(source)))
        exec(compile(tree, "<canary>", "exec"), {})
    except AssertionError:
        return shell is None or not shell.custom_exceptions  # a handler of its own could hide the error
    except Exception:
        return False
    return False


def fingerprint(module: ModuleType) -> dict[str, str]:
    """Each function and method of a module as a text of its code: equal for equal sources."""
    prints = {}
    for name, value in vars(module).items():
        mine = isinstance(value, type) and value.__module__ == module.__name__
        inner = [(f"{name}.{label}", item) for label, item in vars(value).items()] if mine else []
        for label, item in [(name, value), *inner]:
            function = getattr(item, "__wrapped__", item)
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                code = function.__code__
                prints[label] = f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {len(code.co_consts)}"
    return prints


def verify(module: ModuleType) -> list[str]:
    """Compare another copy of this module with this one. The grader calls it on a fresh copy, after the answers ran."""
    ours, theirs = fingerprint(sys.modules[__name__]), fingerprint(module)
    changed = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    return [f"the checks were changed: {', '.join(changed[:5])}."] if changed else []
