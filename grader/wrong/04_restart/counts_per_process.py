# %% [markdown]
# Mistake: failures are counted for each process, and a process can only die once.

# %% id="task2" answer=true
SUSTAINED = 60.0  # seconds


def in_a_row(log):
    """For each death in the log: which failure in a row it was. [1, 2, 1] for three deaths."""
    numbers, failures = [], {}
    for entry in log:
        if entry["event"] == "died":
            pid = entry["pid"]
            failures[pid] = 1 if entry["uptime"] >= SUSTAINED else failures.get(pid, 0) + 1
            numbers.append(failures[pid])
    return numbers
