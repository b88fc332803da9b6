# %% [markdown]
# Mistake: a server that is ready once sets the counter back, although it may die a second later.

# %% id="task2" answer=true
SUSTAINED = 60.0  # seconds


def in_a_row(log):
    """For each death in the log: which failure in a row it was. [1, 2, 1] for three deaths."""
    numbers, failures = [], 0
    for entry in log:
        if entry["event"] == "ready":
            failures = 0
        if entry["event"] == "died":
            failures += 1
            numbers.append(failures)
    return numbers
