"""Step 1 of the small client: merge, routing table, dead flag.

Made by `grader build` from lessons/01_namespace.md.
"""

from dataclasses import dataclass

from main import request, text_result


@dataclass(frozen=True)
class MergedTool:
    """One entry of the dispatch table: the name we show, and where the call really goes."""

    canonical_name: str
    server_name: str
    local_name: str
    description: str


def merge(sessions):
    """Merge the tools of all sessions: dict[canonical name, MergedTool].

    The first server keeps a name, a later one gets <server>/<name>.
    """
    registry = {}
    for session in sessions.values():
        for definition in session.tools:
            local = definition["name"]
            canonical = local if local not in registry else f"{session.name}/{local}"
            if canonical in registry:  # nothing is ever overwritten in silence
                owner = registry[canonical].server_name
                raise ValueError(f"the name {canonical!r} is already taken by {owner!r}")
            description = definition.get("description", "")
            registry[canonical] = MergedTool(canonical, session.name, local, description)
    return registry


def call(registry, sessions, name, arguments):
    """Route one call by the table; whatever goes wrong comes back as an error result."""
    entry = registry.get(name)
    if entry is None:
        return text_result(f"no server offers the tool {name!r}", is_error=True)
    session = sessions[entry.server_name]
    if not session.alive:
        reason = f"server {session.name!r} is dead: {name!r} was not called"
        return text_result(reason, is_error=True)
    params = {"name": entry.local_name, "arguments": arguments}
    try:
        return request(session.server_fn, "tools/call", params)
    except RuntimeError as error:
        return text_result(f"server {session.name!r} {error}", is_error=True)
