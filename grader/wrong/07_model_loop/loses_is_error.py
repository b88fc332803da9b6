# %% [markdown]
# Mistake: `isError` is never read, so a failure looks like a result and the model reports success.


# %% id="task2" answer=true
def answer(call, tools, run):
    """The message that answers one call of a model."""
    table = {tool.model_name: tool for tool in tools}
    name, content = call["function"]["name"], ""
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = None
    if name not in table:
        content = f"error: there is no tool {name!r}"
    elif not isinstance(arguments, dict):
        content = "error: the arguments are not a JSON object"
    else:
        result = run(table[name], arguments)
        content = "\n".join(
            block["text"] if block["type"] == "text" else f"[{block['type']}]" for block in result["content"]
        )
    return {"role": "tool", "tool_call_id": call["id"], "content": content}
