# %% [markdown]
# Mistake: the server is killed at once and cannot put anything in order.


# %% id="task4" answer=true
def shut_down(process, grace):
    """Close stdin, wait, SIGTERM, wait, SIGKILL; returns the exit code."""
    process.kill()
    return process.wait()
