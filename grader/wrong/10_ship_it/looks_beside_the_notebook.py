# %% [markdown]
# Mistake: it looks for the program as a file in the working folder, and PATH is never asked.


# %% id="task1" answer=true
def refusal(command, allowed):
    """Why this command is not started: a sentence, or None if it can be."""
    if command not in allowed:
        return f"its command {command!r} is not on the allow-list"
    found = Path(command).exists()
    return None if found else f"its command {command!r} was not found on PATH"
