# %% [markdown]
# Mistake: a thread for each server: all of them start at the same moment, however many there are.

# %% id="task3" answer=true
import threading


def start_all(starters, at_once):
    """Call all starters, `at_once` at a time: ({name: result}, {name: exception}), in the order of `starters`."""
    started, failed = {}, {}

    def work(name, start):
        try:
            started[name] = start()
        except Exception as error:
            failed[name] = error

    threads = [threading.Thread(target=work, args=pair) for pair in starters.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return started, failed
