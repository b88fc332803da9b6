# %% [markdown]
# Mistake: an entry without a command raises KeyError, and no server of the list is planned.


# %% id="task2" answer=true
def plan(document, allowed):
    """What to start: ({name: [program, argument, …]}, {name: why it is refused})."""
    commands, refused = {}, {}
    for name, entry in document["mcpServers"].items():
        command = entry["command"]
        reason = refusal(command, allowed)
        if reason is not None:
            refused[name] = reason
        else:
            commands[name] = [command, *entry.get("args", [])]
    return commands, refused
