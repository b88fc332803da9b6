# %% [markdown]
# Mistake: the call asks whether any server is dead, not whether its own server is.


# %% id="task3" answer=true
def call(registry, sessions, name, arguments):
    """Route one call by the registry; what goes wrong comes back as an error result."""
    entry = registry.get(name)
    if entry is None:
        return main.text_result(f"no server offers the tool {name!r}", is_error=True)
    for session in sessions.values():
        if not session.alive:
            return main.text_result(f"server {session.name!r} is dead", is_error=True)
    session = sessions[entry.server_name]
    return main.request(session.server_fn, "tools/call", {"name": entry.local_name, "arguments": arguments})
