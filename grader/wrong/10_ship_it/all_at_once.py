# %% [markdown]
# Mistake: the bound is not used: every server starts at the same moment, however many there are.


# %% id="task3" answer=true
def start_all(commands, at_once=4):
    """Start all servers, some at a time: ({name: supervisor}, {name: why it failed})."""
    running, failed = {}, {}
    with ThreadPoolExecutor(max(1, len(commands))) as pool:
        starts = {name: pool.submit(Supervisor(name, command, tell=silent).start) for name, command in commands.items()}
    for name, start in starts.items():
        try:
            running[name] = start.result()
        except Exception as error:
            failed[name] = str(error)
    return running, failed
