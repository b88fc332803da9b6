# %% [markdown]
# Mistake: it asks for the cap before it doubles, so the last step goes past it: 32 seconds.

# %% id="task1" answer=true
def delay_after(failures):
    """Seconds to wait after that many failures in a row: 1, 2, 4 … and at most 30."""
    delay = 1
    for _ in range(failures - 1):
        if delay < 30:
            delay *= 2
    return delay
