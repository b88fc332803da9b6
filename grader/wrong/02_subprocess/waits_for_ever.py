# %% [markdown]
# Mistake: the wait after the end of stdin has no limit, so one stubborn server stops the whole host.


# %% id="task4" answer=true
def shut_down(process, grace):
    """Close stdin, wait, SIGTERM, wait, SIGKILL; returns the exit code."""
    with contextlib.suppress(OSError):
        process.stdin.close()
    return process.wait()
