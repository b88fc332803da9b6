# %% [markdown]
# Mistake: the delay doubles without an end, so after ten failures a mended server waits for minutes.

# %% id="task1" answer=true
def delay_after(failures):
    """Seconds to wait after that many failures in a row: 1, 2, 4 … and at most 30."""
    return 2 ** (failures - 1)
