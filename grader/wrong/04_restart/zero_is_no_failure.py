# %% [markdown]
# Mistake: an exit with code 0 is taken for success and ends the row, but nobody had asked the server to end.

# %% id="task2" answer=true
SUSTAINED = 60.0  # seconds


def in_a_row(log):
    """For each death in the log: which failure in a row it was. [1, 2, 1] for three deaths."""
    numbers, failures = [], 0
    for entry in log:
        if entry["event"] != "died":
            continue
        if entry["uptime"] >= SUSTAINED or entry["code"] == 0:
            failures = 0
        failures += 1
        numbers.append(failures)
    return numbers
