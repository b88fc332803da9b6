# %% [markdown]
# Mistake: a collision is reported, but the later tool still overwrites the entry of the first: the last one wins.


# %% id="task2" answer=true
def merge_reject(sessions):
    """Merge the tools of all sessions and leave out later ones: (registry, [(server name, tool name), …])."""
    registry, left_out = {}, []
    for session in sessions.values():
        for definition in session.tools:
            local = definition["name"]
            if local in registry:
                left_out.append((session.name, local))
            description = definition.get("description", "")
            registry[local] = main.MergedTool(local, session.name, local, description)
    return registry, left_out
