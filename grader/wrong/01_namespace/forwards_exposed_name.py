# %% [markdown]
# Mistake: the canonical name is sent to the server unchanged, but the server only knows its local name.


# %% id="task3" answer=true
def call(registry, sessions, name, arguments):
    """Route one call by the registry; what goes wrong comes back as an error result."""
    entry = registry.get(name)
    if entry is None:
        return main.text_result(f"no server offers the tool {name!r}", is_error=True)
    session = sessions[entry.server_name]
    if not session.alive:
        return main.text_result(f"server {session.name!r} is dead", is_error=True)
    return main.request(session.server_fn, "tools/call", {"name": name, "arguments": arguments})
