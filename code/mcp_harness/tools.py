"""Tool definitions as a server sends them: which can be used, and what a call gives back.

Guarantees: a list is read tool by tool. One that cannot be used is set aside by name with a
reason, and the others stay. What it leaves out: names for them (namespace.py), and the check
of arguments against a schema, which is the server's work.

Source: revision 2025-11-25, tools. The specification's rule for names is a SHOULD, so a name
outside its character set is accepted; only what cannot be a name at all is not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .wire import Message

TYPES = ("null", "boolean", "object", "array", "number", "string", "integer")  # of JSON Schema
SUBSCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
MAX_DEPTH = 60  # of a schema: no person nests deeper, and recursion has to end


@dataclass(frozen=True)
class SetAside:
    """A tool that is not offered, and why."""

    tool: str
    reason: str


@dataclass(frozen=True)
class ToolResult:
    """What a tool gave back. `is_error` is the tool's own failure: give it to the model.

    `content` is a list of content blocks, `structured` the structuredContent or None,
    `raw` the whole result as it came.
    """

    content: list[Message]
    structured: Any
    is_error: bool
    server: str
    raw: Message

    @property
    def text(self) -> str:
        """The text blocks, one below the other."""
        blocks = [block for block in self.content if isinstance(block, dict) and block.get("type") == "text"]
        return "\n".join(str(block.get("text", "")) for block in blocks)


def read_tools(definitions: Iterable[Any]) -> tuple[list[Message], list[SetAside]]:
    """The definitions that can be used, in order, and those that cannot."""
    tools: list[Message] = []
    aside: list[SetAside] = []
    for number, definition in enumerate(definitions, 1):
        name = definition.get("name") if isinstance(definition, dict) else None
        problem = name_problem(name) if isinstance(definition, dict) else "it is no object"
        problem = problem or schema_problem(definition.get("inputSchema"))
        if problem:
            aside.append(SetAside(name if isinstance(name, str) and name else f"#{number}", problem))
        else:
            tools.append(definition)
    return tools, aside


def name_problem(name: object) -> str | None:
    """Why this can be no tool's name, None if it can."""
    if not isinstance(name, str) or not name:
        return f"its name is {name!r}, not a text"
    return None if name.isprintable() else "its name has control characters in it"


def schema_problem(schema: object) -> str | None:
    """Why this can be no tool's inputSchema, None if it can. A missing `type` counts as object."""
    if not isinstance(schema, dict):
        return f"its inputSchema is {type(schema).__name__}, not an object"
    if schema.get("type", "object") != "object":
        return f"its inputSchema has type {schema['type']!r}, not 'object'"
    return part_problem(schema, "inputSchema", 0)


def part_problem(schema: object, where: str, depth: int) -> str | None:
    """The first thing in a schema, or in one below it, that is no JSON Schema."""
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, dict):
        return f"{where} is {type(schema).__name__}, not a schema"
    if depth > MAX_DEPTH:
        return f"its inputSchema is nested deeper than {MAX_DEPTH}"
    kinds = schema.get("type", [])
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind not in TYPES:
            return f"{where} has type {kind!r}, which JSON Schema does not know"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(item, str) for item in required):
        return f"{where} has 'required' {required!r}, not a list of names"
    for below, part in parts(schema):
        problem = part_problem(part, f"{where}.{below}", depth + 1)
        if problem:
            return problem
    return None


def parts(schema: Message) -> Iterable[tuple[str, object]]:
    """The schemas directly below a schema, with their keys."""
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        group = schema.get(key, {})
        yield from group.items() if isinstance(group, dict) else [(key, group)]
    for key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        choices = schema.get(key, [])
        yield from (
            ((f"{key}[{i}]", part) for i, part in enumerate(choices)) if isinstance(choices, list) else [(key, choices)]
        )
    for key in SUBSCHEMAS:
        if key in schema and not (key == "items" and isinstance(schema[key], list)):  # a list: old drafts
            yield key, schema[key]
