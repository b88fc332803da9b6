# %% [markdown]
# Mistake: a new process sets the counter back, so each failure is the first one and the delay never grows.

# %% id="task2" answer=true
SUSTAINED = 60.0  # seconds


def in_a_row(log):
    """For each death in the log: which failure in a row it was. [1, 2, 1] for three deaths."""
    numbers, failures = [], 0
    for entry in log:
        if entry["event"] == "spawned":
            failures = 0
        if entry["event"] == "died":
            failures += 1
            numbers.append(failures)
    return numbers
