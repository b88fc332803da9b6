# %% [markdown]
# Mistake: the command is inserted into the list of the document, which belongs to somebody else.


# %% id="task2" answer=true
def plan(document, allowed):
    """What to start: ({name: [program, argument, …]}, {name: why it is refused})."""
    commands, refused = {}, {}
    for name, entry in document["mcpServers"].items():
        command = entry.get("command")
        reason = "it has no command" if command is None else refusal(command, allowed)
        if reason is not None:
            refused[name] = reason
        else:
            commands[name] = entry.setdefault("args", [])
            commands[name].insert(0, command)
    return commands, refused
