# %% [markdown]
# Mistake: each start is awaited before the next one begins, so a slow server holds up all the others.


# %% id="task3" answer=true
def start_all(commands, at_once=4):
    """Start all servers, some at a time: ({name: supervisor}, {name: why it failed})."""
    running, failed = {}, {}
    for name, command in commands.items():
        try:
            running[name] = Supervisor(name, command, tell=silent).start()
        except Exception as error:
            failed[name] = str(error)
    return running, failed
