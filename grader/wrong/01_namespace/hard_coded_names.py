# %% [markdown]
# Mistake: the prefix is typed for the servers of the example instead of built from the session's name.


# %% id="task1" answer=true
def merge_prefix(sessions):
    """Merge the tools of all sessions: dict[canonical name, main.MergedTool]."""
    registry = {}
    for session in sessions.values():
        for definition in session.tools:
            local = definition["name"]
            canonical = local
            if local in registry:
                canonical = "files/search" if session.name == "files" else "github/search"
            if canonical in registry:  # nothing is ever overwritten in silence
                owner = registry[canonical].server_name
                raise ValueError(f"the name {canonical!r} is already taken by {owner!r}")
            description = definition.get("description", "")
            registry[canonical] = main.MergedTool(canonical, session.name, local, description)
    return registry
