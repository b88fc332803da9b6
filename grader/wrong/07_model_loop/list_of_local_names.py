# %% [markdown]
# Mistake: the user's list is compared with the local name, so every server's tool of that name is allowed.


# %% id="task4" answer=true
def must_ask(tool, allowed):
    """Whether a person has to agree before this tool is called."""
    annotations = tool.definition.get("annotations", {})
    listed = {name.rpartition("/")[2] for name in allowed}
    return tool.local_name not in listed or annotations.get("destructiveHint") is True
