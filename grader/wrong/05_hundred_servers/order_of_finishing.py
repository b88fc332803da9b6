# %% [markdown]
# Mistake: results are collected as they come, so the order, and with it a bare name, belongs to who is fast.

# %% id="task3" answer=true
from concurrent.futures import ThreadPoolExecutor, as_completed


def start_all(starters, at_once):
    """Call all starters, `at_once` at a time: ({name: result}, {name: exception}), in the order of `starters`."""
    started, failed = {}, {}
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        names = {pool.submit(start): name for name, start in starters.items()}
        for future in as_completed(names):
            try:
                started[names[future]] = future.result()
            except Exception as error:
                failed[names[future]] = error
    return started, failed
