"""A tool's definition in the form that every provider takes, and a model's arguments back.

A provider that refuses one definition refuses the whole request, with all other tools in it. So
what any of them is known to refuse is changed here, for all alike: a long description, a choice
at the top of a schema, an odd name of a parameter, half a character. What the server itself
listed is never changed, and it checks the arguments against its own schema.
"""

import itertools
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .namespace import MergedTool

Message = dict[str, Any]

DESCRIPTION_CHARS = 1024  # some models refuse the request with a longer one
AT_THE_TOP = ("anyOf", "oneOf", "allOf", "not", "enum")  # refused there by OpenAI or Anthropic, taken below it
NOT_SENT = (*AT_THE_TOP, "$schema", "$id", "type", "properties")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")  # a name at the top of a schema that every provider takes


def about(tool: "MergedTool") -> str:
    """The description, cut to what every provider takes."""
    text = tool.description.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate would break the request
    return text if len(text) <= DESCRIPTION_CHARS else text[: DESCRIPTION_CHARS - 1] + "…"


def parameters(tool: "MergedTool") -> Message:
    """The inputSchema in the form that every provider takes: an object with properties, no choice at its top.

    A choice there (anyOf and the like) is dropped and the properties of its branches are offered; the
    server still checks, and its error tells the model. A property whose name no provider takes, such as
    "filter[id]", gets another one: see `parameter_names`. The server's own schema is not changed.
    """
    given = tool.definition.get("inputSchema")
    schema: Message = given if isinstance(given, dict) else {}
    properties = all_properties(schema)
    ours = {theirs: name for name, theirs in parameter_names(properties).items()}
    whole: Message = {"type": "object", "properties": {ours[key]: part for key, part in properties.items()}}
    whole |= {key: value for key, value in schema.items() if key not in NOT_SENT}
    if isinstance(whole.get("required"), list):
        whole["required"] = [ours.get(key, key) for key in whole["required"]]
    return whole if can_be_sent(whole) else {"type": "object", "properties": {}}


def all_properties(schema: Message) -> Message:
    """The properties of a schema and of the branches of a choice at its top."""
    own = schema.get("properties")
    properties = dict(own) if isinstance(own, dict) else {}
    for key in ("allOf", "anyOf", "oneOf"):
        for branch in dicts(schema.get(key)):
            for name, part in as_dict(branch.get("properties")).items():
                properties.setdefault(name, part)
    return properties


def parameter_names(properties: Iterable[str]) -> dict[str, str]:
    """Name for the model → the server's own name, for each parameter. Most are the same."""
    properties = list(properties)
    names = {key: key for key in properties if PARAMETER.fullmatch(key)}
    for key in properties:
        if not PARAMETER.fullmatch(key):
            plain = "p_" * (not key[:1].isalpha()) + re.sub(r"[^A-Za-z0-9_]", "_", key)[:50]
            numbered = (f"{plain}_{number}" for number in itertools.count(2))
            names[next(name for name in itertools.chain([plain], numbered) if name not in names)] = key
    return names


def own_arguments(tool: "MergedTool", arguments: Message) -> Message:
    """A model's arguments under the names that the server knows."""
    names = parameter_names(all_properties(as_dict(tool.definition.get("inputSchema"))))
    return {names.get(key, key): value for key, value in arguments.items()}


def can_be_sent(value: Message) -> bool:
    """False for a lone surrogate or NaN: JSON readers let both in, and no request can carry them."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        return False
    return True


def sendable(messages: list[Message]) -> list[Message]:
    """The messages, without a lone surrogate that a model may have written: it would break every request to come."""
    if all(can_be_sent(message) for message in messages):
        return messages
    text = json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace")
    return dicts(json.loads(text))


def dicts(value: Any) -> list[Message]:
    """The objects in a list; nothing for what is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_dict(value: Any) -> Message:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}
