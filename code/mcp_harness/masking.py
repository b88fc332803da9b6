"""What a transcript shows of secrets: nothing, unless it is asked for.

Three things become "***": the value under a key that looks secret (`token`, `api_key`,
`Authorization` …), at any depth and in both directions; every value of a server's configured
environment, wherever it turns up; and a value that was seen under a secret key, wherever it
comes back (a tool may echo it). On a command line also what follows `--token` or a like option.

What it leaves out: a secret in free text that was never under such a key. Nobody can know it;
so look at a transcript before you publish it.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .wire import Message

MASK = "***"
SHORTEST = 4  # characters: a shorter value ("1", "yes") is no secret, and its letters are everywhere
SECRET_WORDS = {
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "token",
    "apikey",
    "auth",
    "authorization",
}
SECRET_WORDS |= {"bearer", "credential", "credentials", "cookie", "pin", "otp", "jwt"}
SECRET_PAIRS = {("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key"), ("session", "id")}
INNOCENT = frozenset({"progressToken", "maxTokens"})  # keys of the protocol
SCHEMAS = frozenset({"inputSchema", "outputSchema", "requestedSchema"})  # their keys are names, not values
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
URL_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^/\s@]+@")


def looks_secret(key: str) -> bool:
    """True if a value under this key should not be shown: one of its words says so."""
    if key in INNOCENT:
        return False
    words = [word.lower() for word in WORD.findall(key)]
    return not SECRET_WORDS.isdisjoint(words) or not SECRET_PAIRS.isdisjoint(itertools.pairwise(words))


class Masker:
    """Knows the secrets that were seen so far. With `show` it changes nothing."""

    def __init__(self, known: Iterable[str] = (), show: bool = False) -> None:
        self._known = {text for text in known if len(text) >= SHORTEST}
        self._show = show

    def message(self, message: Message) -> Message:
        """A copy of a message without its secrets."""
        if self._show:
            return message
        masked = self._value(message, secret=False)
        return masked if isinstance(masked, dict) else {}

    def text(self, text: str) -> str:
        """A text without the secrets that are known."""
        if self._show:
            return text
        for secret in sorted(self._known, key=len, reverse=True):
            text = text.replace(secret, MASK)
        return URL_PASSWORD.sub(rf"\1{MASK}@", text)

    def command(self, words: Sequence[str]) -> list[str]:
        """A command line: an option that looks secret loses its value."""
        if self._show:
            return list(words)
        shown: list[str] = []
        for before, word in zip(["", *words], words, strict=False):
            option, equals, _ = word.partition("=")
            if before.startswith("-") and "=" not in before and looks_secret(before):
                shown.append(MASK)
            elif equals and looks_secret(option):
                shown.append(f"{option}={MASK}")
            else:
                shown.append(self.text(word))
        return shown

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """The names, and no value."""
        return dict(env) if self._show else dict.fromkeys(env, MASK)

    def learn(self, value: Any, secret: bool = False) -> None:
        """Remember the values under keys that look secret, to know them where they come back."""
        if isinstance(value, dict):
            for key, inner in value.items():
                if key not in SCHEMAS:
                    self.learn(inner, secret or looks_secret(key))
        elif isinstance(value, list):
            for inner in value:
                self.learn(inner, secret)
        elif secret and isinstance(value, str) and len(value) >= SHORTEST:
            self._known.add(value)

    def _value(self, value: Any, secret: bool) -> Any:
        if isinstance(value, dict):
            return {
                key: inner if key in SCHEMAS else self._value(inner, secret or looks_secret(key))
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._value(inner, secret) for inner in value]
        if secret and value is not None:
            return MASK
        return self.text(value) if isinstance(value, str) else value
