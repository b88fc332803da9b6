"""The REPL's lines in a terminal: editing, completion and history, by prompt_toolkit.

The only module that imports prompt_toolkit. Answers to questions are not kept in the history:
an argument may be a secret.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, WordCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory


class Terminal:
    """Reads lines; `completions(line)` says what its last word can become."""

    def __init__(self, history: Path | None) -> None:
        kept: History = FileHistory(str(history)) if history else InMemoryHistory()
        self.completions: Callable[[str], Iterable[str]] = lambda line: ()
        self._session: PromptSession[str] = PromptSession(
            history=kept, completer=Names(self), complete_while_typing=False
        )
        self._questions: PromptSession[str] = PromptSession(history=InMemoryHistory())

    def line(self, prompt: str) -> str:
        """The next command. Raises KeyboardInterrupt for Ctrl-C, EOFError for Ctrl-D."""
        return self._session.prompt(prompt)

    def answer(self, prompt: str, choices: Sequence[str]) -> str:
        """The answer to a question; Tab offers the choices."""
        return self._questions.prompt(prompt, completer=among(choices))


class Names(Completer):
    """Completes the last word of the line, names with a slash or a dash in them too."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        line = document.text_before_cursor
        typed = line.lstrip().partition(" ")[2] if " " in line.lstrip() else line.lstrip()
        for choice in self._terminal.completions(line):
            yield Completion(choice, start_position=-len(typed))


def among(choices: Sequence[str]) -> Completer:
    """Completes a whole answer: a choice may have spaces in it."""
    return WordCompleter(list(choices), sentence=True)
