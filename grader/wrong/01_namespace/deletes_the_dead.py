# %% [markdown]
# Mistake: a call to a dead server takes the session away, so nothing can bring the server back.


# %% id="task3" answer=true
def call(registry, sessions, name, arguments):
    """Route one call by the registry; what goes wrong comes back as an error result."""
    entry = registry.get(name)
    if entry is None:
        return main.text_result(f"no server offers the tool {name!r}", is_error=True)
    session = sessions.get(entry.server_name)
    if session is None or not session.alive:
        sessions.pop(entry.server_name, None)
        return main.text_result(f"server {entry.server_name!r} is dead", is_error=True)
    return main.request(session.server_fn, "tools/call", {"name": entry.local_name, "arguments": arguments})
