# %% [markdown]
# Mistake: the host marks a server as dead, but the call never looks at the flag.


# %% id="task3" answer=true
def call(registry, sessions, name, arguments):
    """Route one call by the registry; what goes wrong comes back as an error result."""
    entry = registry.get(name)
    if entry is None:
        return main.text_result(f"no server offers the tool {name!r}", is_error=True)
    session = sessions[entry.server_name]
    return main.request(session.server_fn, "tools/call", {"name": entry.local_name, "arguments": arguments})
