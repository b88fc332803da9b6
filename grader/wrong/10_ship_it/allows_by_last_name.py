# %% [markdown]
# Mistake: it compares the last part of the command, so a program of an allowed name may be started from anywhere.


# %% id="task1" answer=true
def refusal(command, allowed):
    """Why this command is not started: a sentence, or None if it can be."""
    if Path(command).name not in [Path(one).name for one in allowed]:
        return f"its command {command!r} is not on the allow-list"
    found = shutil.which(command) or shutil.which(Path(command).name)
    return None if found else f"its command {command!r} was not found on PATH"
