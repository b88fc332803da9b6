# %% [markdown]
# Mistake: the local name gets the prefix too, so the entry no longer knows what the server calls its tool.


# %% id="task1" answer=true
def merge_prefix(sessions):
    """Merge the tools of all sessions: dict[canonical name, main.MergedTool]."""
    registry = {}
    for session in sessions.values():
        for definition in session.tools:
            local = definition["name"]
            canonical = local
            if local in registry:
                canonical = local = f"{session.name}/{local}"
            if canonical in registry:  # nothing is ever overwritten in silence
                owner = registry[canonical].server_name
                raise ValueError(f"the name {canonical!r} is already taken by {owner!r}")
            description = definition.get("description", "")
            registry[canonical] = main.MergedTool(canonical, session.name, local, description)
    return registry
