# %% [markdown]
# Mistake: each result is asked for in the loop that submits, so the next start waits for this one.

# %% id="task3" answer=true
from concurrent.futures import ThreadPoolExecutor


def start_all(starters, at_once):
    """Call all starters, `at_once` at a time: ({name: result}, {name: exception}), in the order of `starters`."""
    started, failed = {}, {}
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        for name, start in starters.items():
            future = pool.submit(start)
            try:
                started[name] = future.result()
            except Exception as error:
                failed[name] = error
    return started, failed
