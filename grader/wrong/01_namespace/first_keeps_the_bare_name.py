# %% [markdown]
# Mistake: the first server keeps the bare name, as with the prefix policy, so `search` is never refused.


# %% id="task4" answer=true
def merge_ambiguous(sessions):
    """Merge the tools of all sessions; a shared name is only there with its prefix: dict[str, main.MergedTool]."""
    registry = {}
    for session in sessions.values():
        for definition in session.tools:
            local = definition["name"]
            canonical = local if local not in registry else f"{session.name}/{local}"
            if canonical in registry:
                owner = registry[canonical].server_name
                raise ValueError(f"the name {canonical!r} is already taken by {owner!r}")
            description = definition.get("description", "")
            registry[canonical] = main.MergedTool(canonical, session.name, local, description)
    return registry


def call_or_refuse(registry, sessions, name, arguments):
    """Call by the registry; a bare name that several servers share is refused with the candidates."""
    candidates = [entry.canonical_name for entry in registry.values() if entry.local_name == name]
    if name not in registry and candidates:
        return main.text_result(f"{name!r} is ambiguous: use one of {', '.join(candidates)}", is_error=True)
    return main.call(registry, sessions, name, arguments)
