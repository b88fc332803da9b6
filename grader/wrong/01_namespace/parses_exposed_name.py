# %% [markdown]
# Mistake: server and tool are cut out of the exposed name; a tool whose own name has a slash goes astray.


# %% id="task3" answer=true
def call(registry, sessions, name, arguments):
    """Route one call by the registry; what goes wrong comes back as an error result."""
    if name not in registry:
        return main.text_result(f"no server offers the tool {name!r}", is_error=True)
    if "/" in name:
        server, local = name.split("/")
    else:
        server, local = registry[name].server_name, name
    session = sessions[server]
    if not session.alive:
        return main.text_result(f"server {server!r} is dead", is_error=True)
    return main.request(session.server_fn, "tools/call", {"name": local, "arguments": arguments})
