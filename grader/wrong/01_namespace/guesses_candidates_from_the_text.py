# %% [markdown]
# Mistake: the candidates are the names that end in "/search"; a tool whose own name ends so is listed as well.


# %% id="task4" answer=true
def merge_ambiguous(sessions):
    """Merge the tools of all sessions; a shared name is only there with its prefix: dict[str, main.MergedTool]."""
    names = [definition["name"] for session in sessions.values() for definition in session.tools]
    registry = {}
    for session in sessions.values():
        for definition in session.tools:
            local = definition["name"]
            canonical = local if names.count(local) == 1 else f"{session.name}/{local}"
            if canonical in registry:
                raise ValueError(f"the name {canonical!r} is already taken")
            description = definition.get("description", "")
            registry[canonical] = main.MergedTool(canonical, session.name, local, description)
    return registry


def call_or_refuse(registry, sessions, name, arguments):
    """Call by the registry; a bare name that several servers share is refused with the candidates."""
    candidates = [canonical for canonical in registry if canonical.endswith(f"/{name}")]
    if name not in registry and candidates:
        return main.text_result(f"{name!r} is ambiguous: use one of {', '.join(candidates)}", is_error=True)
    return main.call(registry, sessions, name, arguments)
