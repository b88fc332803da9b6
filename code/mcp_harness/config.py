"""What to start and how: ServerConfig, and the `mcpServers` JSON that other clients read too.

Guarantees: a configuration that loads can be used. A mistake is a ConfigError that names the
server and the key; a key that we do not know is a warning, never silence. An entry with a URL
becomes a server that fails with a sentence, so that the rest of the file still works.

What it leaves out: whether the command exists. Only a start can tell.
"""

import json
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import ConfigError

SERVER_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")  # no "/": it separates server and tool in canonical names
RESTARTS = ("on-failure", "never")
ERAS = ("auto", "2025-11-25", "2026-07-28")
REMOTE_TYPES = ("http", "sse", "streamable-http", "streamableHttp")
ENTRY_KEYS = ("command", "args", "env", "cwd", "type", "start_timeout", "call_timeout", "restart", "era")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
LONGEST_TIMEOUT = 7 * 24 * 3600.0  # seconds, a week: nothing waits for ever
NO_URL = "it is configured with a URL, and this client speaks stdio only: give a command instead"


@dataclass(frozen=True)
class ServerConfig:
    """How to start one server. Timeouts are in seconds; `problem` marks an entry that cannot be started."""

    name: str
    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | os.PathLike[str] | None = None
    start_timeout: float = 30.0
    call_timeout: float = 60.0
    restart: str = "on-failure"
    era: str = "auto"
    problem: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not SERVER_NAME.fullmatch(self.name):
            raise ConfigError(f"server name {self.name!r}: use 1 to 32 letters, digits, '_' or '-'")
        if not isinstance(self.command, str | os.PathLike) or not (os.fspath(self.command) or self.problem):
            raise self._mistake("command", self.command, "a program to start")
        object.__setattr__(self, "command", os.fspath(self.command))
        if isinstance(self.args, str) or not isinstance(self.args, Sequence):
            raise self._mistake("args", self.args, "a list of strings")
        args = tuple(os.fspath(arg) if isinstance(arg, os.PathLike) else arg for arg in self.args)
        if not all(isinstance(arg, str) for arg in args):
            raise self._mistake("args", self.args, "a list of strings")
        object.__setattr__(self, "args", args)
        if not isinstance(self.env, Mapping) or not all(
            isinstance(key, str) and isinstance(value, str) for key, value in self.env.items()
        ):
            raise self._mistake("env", self.env, "an object of strings")
        object.__setattr__(self, "env", dict(self.env))
        self._check_options()

    def _check_options(self) -> None:
        if self.cwd is not None and not isinstance(self.cwd, str | os.PathLike):
            raise self._mistake("cwd", self.cwd, "a folder")
        for key in ("start_timeout", "call_timeout"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_TIMEOUT:
                raise self._mistake(key, value, f"a number of seconds above 0, at most {LONGEST_TIMEOUT:g}")
        if self.restart not in RESTARTS:
            raise self._mistake("restart", self.restart, f"one of {', '.join(RESTARTS)}")
        if self.era not in ERAS:
            raise self._mistake("era", self.era, f"one of {', '.join(ERAS)}")

    def _mistake(self, key: str, value: object, wanted: str) -> ConfigError:
        return ConfigError(f"server {self.name!r}: {key!r} is {value!r}, but it has to be {wanted}")


def load_config(
    source: str | os.PathLike[str] | Mapping[str, Any], *, environ: Mapping[str, str] | None = None
) -> list[ServerConfig]:
    """The servers of an `mcpServers` file, or of a dict of the same shape, in file order.

    `${VAR}` and `${VAR:-default}` are replaced from `environ` (default: os.environ) in command,
    args, env, cwd and url. Raises ConfigError; warns (UserWarning) of keys it does not know.
    """
    document = source if isinstance(source, Mapping) else read_json(Path(source))
    servers = document.get("mcpServers")
    if not isinstance(servers, Mapping):
        keys = ", ".join(map(repr, document)) or "none"
        raise ConfigError(f"the configuration needs an object 'mcpServers'; its keys are: {keys}")
    ignored = [key for key in document if key != "mcpServers"]
    if ignored:
        warnings.warn(f"configuration: ignored unknown keys {', '.join(map(repr, ignored))}", stacklevel=2)
    variables = os.environ if environ is None else environ
    return [read_entry(name, entry, variables) for name, entry in servers.items()]


def read_json(path: Path) -> Mapping[str, Any]:
    """The JSON object in a file. A key that stands twice in one object is an error, not a silent loss."""
    try:
        document = json.loads(path.read_text("utf-8-sig"), object_pairs_hook=without_duplicates)
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {str(path)!r}: {error.strerror or error}") from error
    except ConfigError:
        raise
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the configuration {str(path)!r} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ConfigError(f"the configuration {str(path)!r} has to be a JSON object with 'mcpServers' in it")
    return document


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dict; raises ConfigError for a repeated key, for instance two servers of one name."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ConfigError(f"the configuration has {key!r} twice in one object: give each a name of its own")
        result[key] = value
    return result


def read_entry(name: str, entry: object, environ: Mapping[str, str]) -> ServerConfig:
    """One entry of `mcpServers`."""
    if not isinstance(entry, Mapping):
        raise ConfigError(f"server {name!r}: the entry is {entry!r}, but it has to be an object with a 'command'")
    if "url" in entry or entry.get("type") in REMOTE_TYPES:
        return ServerConfig(name, "", problem=NO_URL)
    unknown = [key for key in entry if key not in ENTRY_KEYS]
    if unknown:
        warnings.warn(f"server {name!r}: ignored unknown keys {', '.join(map(repr, unknown))}", stacklevel=3)
    if "command" not in entry:
        raise ConfigError(f"server {name!r}: 'command' is missing")
    if entry.get("type", "stdio") != "stdio":
        raise ConfigError(f"server {name!r}: 'type' is {entry['type']!r}, but this client speaks 'stdio'")
    options = {
        key: expand(value, name, key, environ) for key, value in entry.items() if key in ENTRY_KEYS and key != "type"
    }
    for key in ("args", "env"):
        if options.get(key, ()) is None:
            del options[key]
    return ServerConfig(name, **options)


def expand(value: Any, server: str, key: str, environ: Mapping[str, str]) -> Any:
    """`value` with its variables replaced, in strings at any depth. Raises ConfigError for an undefined one."""
    if isinstance(value, Mapping):
        return {inner: expand(item, server, f"{key}.{inner}", environ) for inner, item in value.items()}
    if isinstance(value, list | tuple):
        return [expand(item, server, f"{key}[{index}]", environ) for index, item in enumerate(value)]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        variable, default = match.groups()
        found = environ.get(variable)
        if default is not None:
            return found or default
        if found is None:
            raise ConfigError(
                f"server {server!r}: {key!r} uses ${{{variable}}}, which is not set in the environment; "
                f"set it, or write ${{{variable}:-default}}"
            )
        return found

    return VARIABLE.sub(replace, value)


def check_configs(configs: Sequence[ServerConfig]) -> None:
    """Raises ConfigError unless these are ServerConfigs with a name of its own each."""
    names: set[str] = set()
    for config in configs:
        if not isinstance(config, ServerConfig):
            raise ConfigError(f"expected a ServerConfig, got {config!r}; load_config() makes them from a file or dict")
        if config.name in names:
            raise ConfigError(f"server name {config.name!r} is used twice: give each server a name of its own")
        names.add(config.name)
