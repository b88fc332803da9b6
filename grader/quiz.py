"""The quiz in a terminal: one question at a time, and what was missed comes back next time.

Works on the keyboard alone, through a pipe (one answer a line), and leaves at any moment
without losing an answer: each one is written down when it is given.

    $ grader quiz 01
    $ printf 'C\\nA\\nq\\n' | grader quiz 01

What is remembered lies in one small JSON file outside the repository:
`$XDG_STATE_HOME/build-an-mcp-client/quiz.json`, without that variable
`~/.local/state/build-an-mcp-client/quiz.json`; `MCP_COURSE_STATE` or `--state` name another
folder. Form: {"01_namespace": {"bare-search-goes": "missed", "call-read": "right"}}.
"""

import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader import quiz_format, quiz_setup
from grader.course import Course, CourseError
from grader.quiz_format import LETTERS, Question, Quiz, QuizError

FINISHED, LEFT_EARLY, UNUSABLE, INTERRUPTED = 0, 1, 2, 130  # exit codes; 130 is what a shell gives for Ctrl-C
FOLDER, FILE = "build-an-mcp-client", "quiz.json"
STATE_VARIABLE = "MCP_COURSE_STATE"
WIDTH = 88  # columns; longer lines are hard to read
MISSED, RIGHT = "missed", "right"


class Memory:
    """What was missed and what was right, for each quiz; written after every answer.

    A file that cannot be read is set aside, a folder that cannot be written is reported:
    the quiz goes on, without a memory if need be.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._warnings: list[str] = []
        self._told: set[str] = set()
        self.answers: dict[str, dict[str, str]] = {}
        try:
            self.answers = _checked(json.loads(self.path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            pass
        except OSError as error:
            self._warnings.append(f"{self.path} cannot be read ({error.strerror}): nothing is remembered from before.")
        except ValueError:
            self._set_aside()

    def news(self) -> list[str]:
        """What went wrong with the file, each sentence once."""
        news = [warning for warning in dict.fromkeys(self._warnings) if warning not in self._told]
        self._told.update(news)
        return news

    def of(self, slug: str) -> dict[str, str]:
        """Question id → "missed" or "right", as last answered."""
        return self.answers.setdefault(slug, {})

    def note(self, slug: str, question: str, right: bool) -> None:
        self.of(slug)[question] = RIGHT if right else MISSED
        self._write()

    def forget(self, slug: str) -> None:
        self.answers.pop(slug, None)
        self._write()

    def _write(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=FILE)
            try:
                with open(handle, "w", encoding="utf-8") as file:
                    json.dump(self.answers, file, indent=1, sort_keys=True)
                os.replace(name, self.path)  # at once: an interrupted write leaves the old file
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            self._warnings.append(
                f"{self.path} cannot be written ({error.strerror}): this quiz goes on and remembers nothing."
            )

    def _set_aside(self) -> None:
        aside = self.path.with_suffix(".broken")
        try:
            os.replace(self.path, aside)
        except OSError:
            aside = self.path
        self._warnings.append(f"{self.path} held no answers that we can read. We start anew; the old file is {aside}.")


def _checked(answers: object) -> dict[str, dict[str, str]]:
    if not isinstance(answers, dict) or not all(isinstance(of, dict) for of in answers.values()):
        raise ValueError("not the form of quiz.json")
    return {slug: {q: word for q, word in of.items() if word in (MISSED, RIGHT)} for slug, of in answers.items()}


def state_folder(given: str | Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the answers are kept: the one given, else by variable, else the user's state folder."""
    if given or environ.get(STATE_VARIABLE):
        return Path(given or environ[STATE_VARIABLE])
    base = environ.get("XDG_STATE_HOME", "")
    # The XDG specification says that a relative path in there is to be ignored.
    return (Path(base) if os.path.isabs(base) else Path("~/.local/state").expanduser()) / FOLDER


def find_quiz(name: str, course: Course) -> Path:
    """The quiz for "1", "01" or "01_namespace". Raises QuizError with the ones that there are."""
    there = [lesson for lesson in course.lessons if course.quiz_ready(lesson)]
    for lesson in there:
        if name.removesuffix(".yaml") == lesson.slug or (name.isdecimal() and int(name) == lesson.number):
            return course.root / lesson.quiz_source
    listed = ", ".join(f"{lesson.slug[:2]} ({lesson.title})" for lesson in there) or "none yet"
    raise QuizError([f"There is no quiz {name!r}. There are: {listed}."])


def run_quiz(
    name: str,
    *,
    ask_all: bool = False,
    reset: bool = False,
    state: str | Path | None = None,
    course: Course | None = None,
    source: TextIO | None = None,
    console: Console | None = None,
) -> int:
    """Ask the quiz called `name`; returns the exit code.

    0: every question of this round was answered. 1: left before that. 2: no such quiz, or one
    that cannot be read. 130: Ctrl-C.
    """
    if console is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal without UTF-8 gets ? for a line of a figure
        console = Console(highlight=False)
        console.width = min(console.width, WIDTH)
    try:
        quiz = quiz_format.load(find_quiz(name, course or Course.load()))
    except (QuizError, CourseError) as error:
        console.print(str(error), markup=False, soft_wrap=True)
        return UNUSABLE
    memory = Memory(state_folder(state))
    if reset:
        memory.forget(quiz.slug)
    try:
        return _ask_round(quiz, memory, ask_all, console, source or sys.stdin)
    except KeyboardInterrupt:
        console.print("\nStopped. Your answers so far are kept.")
        return INTERRUPTED


def to_ask(quiz: Quiz, answers: Mapping[str, str], ask_all: bool = False) -> list[Question]:
    """What was missed, then what was never answered; with `ask_all` the rest behind it."""
    ranks = {MISSED: 0, None: 1, RIGHT: 2}
    ranked = sorted(quiz.questions, key=lambda question: ranks[answers.get(question.id)])
    return [question for question in ranked if ask_all or answers.get(question.id) != RIGHT]


def _ask_round(quiz: Quiz, memory: Memory, ask_all: bool, console: Console, source: TextIO) -> int:
    title, _ = quiz_format.title_and_revision(quiz)
    questions = to_ask(quiz, memory.of(quiz.slug), ask_all)
    again = sum(memory.of(quiz.slug).get(question.id) == MISSED for question in questions)
    console.print(Text(f"Quiz {quiz.number}: {title}", style="bold"))
    if not questions:
        _warn(memory, console)
        console.print(
            f"You have answered all {len(quiz.questions)} questions, and missed none the last time. "
            "To answer them again: --all keeps what is remembered, --reset forgets it."
        )
        return FINISHED
    first = (
        f", first the {again} that you missed" if 0 < again < len(questions) else " that you missed" if again else ""
    )
    console.print(f"{_count(len(questions), 'question')}{first}. A letter and Enter answers, q leaves.")
    right, missed = 0, []
    for number, question in enumerate(questions, 1):
        _warn(memory, console)
        _show(quiz, question, f"Question {number} of {len(questions)}", console)
        chosen = _answer(question, console, source)
        if chosen is None:
            left = len(questions) - number + 1
            console.print(f"\n{_count(left, 'question')} left for the next time. Your answers so far are kept.")
            _warn(memory, console)
            return LEFT_EARLY
        is_right = chosen == question.key
        memory.note(quiz.slug, question.id, is_right)
        right += is_right
        if not is_right:
            missed.append(quiz.topics[question.part][question.topic])
        _feedback(question, chosen, console)
    _warn(memory, console)
    console.print()
    console.print(Text(f"{right} of {len(questions)} right.", style="bold"))
    if missed:
        console.print(_markdown("Asked again first the next time: " + "; ".join(missed) + ".", console))
    return FINISHED


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _warn(memory: Memory, console: Console) -> None:
    for warning in memory.news():
        console.print(Text(warning, style="yellow"), soft_wrap=True)


def _show(quiz: Quiz, question: Question, heading: str, console: Console) -> None:
    console.print()
    console.rule(f"{heading} · {question.part} · {question.level}", align="left", style="dim")
    console.print()
    console.print(_markdown(question.prompt, console))
    if question.setup is not None:
        console.print()
        figure = Text(quiz_setup.as_text(question.setup))
        console.print(Padding(figure, (0, 0, 0, 2)), soft_wrap=True)
    console.print()
    if question.keys > 1:
        console.print(f"{question.keys} of these are right.", style="italic")
    rows = [(letter, option.text) for letter, option in zip(LETTERS, question.options, strict=False)]
    console.print(_lettered(rows, console))


def _markdown(text: str, console: Console) -> Markdown:
    """Markdown for this console: one without colour keeps the backticks, since nothing else marks code."""
    return Markdown(text if console.color_system else re.sub(r"`([^`]+)`", r"`` `\1` ``", text))


def _lettered(rows: Iterable[tuple[str, str]], console: Console) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for letter, text in rows:
        table.add_row(f" {letter}", _markdown(text, console))
    return table


def _answer(question: Question, console: Console, source: TextIO) -> str | None:
    """The chosen letters in order, as in "B" or "AD"; None for q and for the end of the input."""
    offered = LETTERS[: len(question.options)]
    wanted = "one letter" if question.keys == 1 else f"{question.keys} letters, as in {offered[: question.keys]}"
    while True:
        console.print("\nYour answer: ", end="")
        console.file.flush()
        line = source.readline()
        if not source.isatty():
            console.print(line.strip(), markup=False)  # what came through the pipe, as a terminal would show it
        if not line:
            return None
        letters = sorted(set(line.upper()) - set(" ,;+&.\r\n\t"))
        if letters == ["Q"] or line.strip().lower() == "quit":
            return None
        if len(letters) == question.keys and set(letters) <= set(offered):
            return "".join(letters)
        console.print(f"Type {wanted} of {', '.join(offered)}, then Enter; or q to leave.")


def _feedback(question: Question, chosen: str, console: Console) -> None:
    """Feedback for each option that was chosen, then why the right ones are right."""
    verdict = Text("✓ Right.", style="green") if chosen == question.key else Text("✗ Not quite.", style="yellow")
    console.print()
    console.print(verdict)
    shown = [letter for letter in LETTERS if letter in chosen or letter in question.key]
    shown.sort(key=lambda letter: letter not in chosen)
    rows = []
    for letter in shown:
        option = question.options[LETTERS.index(letter)]
        lead = f"**Right is: {option.text}**\\\n" if option.correct and letter not in chosen else ""
        rows.append((letter, lead + quiz_format.in_full(option)))
    console.print(_lettered(rows, console))
