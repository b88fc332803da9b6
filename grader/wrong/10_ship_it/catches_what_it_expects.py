# %% [markdown]
# Mistake: it catches the errors that it expects, and a server that answers nonsense raises another one.


# %% id="task3" answer=true
def start_all(commands, at_once=4):
    """Start all servers, some at a time: ({name: supervisor}, {name: why it failed})."""
    running, failed = {}, {}
    with ThreadPoolExecutor(at_once) as pool:
        starts = {name: pool.submit(Supervisor(name, command, tell=silent).start) for name, command in commands.items()}
    for name, start in starts.items():
        try:
            running[name] = start.result()
        except (OSError, RuntimeError) as error:
            failed[name] = str(error)
    return running, failed
