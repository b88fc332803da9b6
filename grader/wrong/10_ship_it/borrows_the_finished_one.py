# %% [markdown]
# Mistake: the finished class of the package is taken over, so nothing of the task was done.


# %% id="task4" answer=true
from mcp_harness import harness


class Harness(harness.Harness):
    """Many servers behind one table of tools."""
