# %% [markdown]
# Mistake: the last step is SIGTERM, which a process may ignore; it stays.


# %% id="task4" answer=true
def shut_down(process, grace):
    """Close stdin, wait, SIGTERM, wait, SIGKILL; returns the exit code."""
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        return process.wait(grace)
    except subprocess.TimeoutExpired:
        process.terminate()
    try:
        return process.wait(grace)
    except subprocess.TimeoutExpired:
        return None
