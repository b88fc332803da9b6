# %% [markdown]
# Mistake: a server that says `readOnlyHint` spares itself the question.


# %% id="task4" answer=true
def must_ask(tool, allowed):
    """Whether a person has to agree before this tool is called."""
    annotations = tool.definition.get("annotations", {})
    if annotations.get("readOnlyHint"):
        return False
    return tool.canonical_name not in allowed or annotations.get("destructiveHint") is True
