# %% [markdown]
# Mistake: the arguments are joined to a line and split again, so one with a space becomes two.


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
            commands[name] = " ".join([command, *entry.get("args", [])]).split()
    return commands, refused
