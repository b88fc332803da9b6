# %% [markdown]
# Mistake: arguments that are JSON but no object are sent to the server.


# %% id="task2" answer=true
def answer(call, tools, run):
    """The message that answers one call of a model."""
    table = {tool.model_name: tool for tool in tools}
    name = call["function"]["name"]
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        return {"role": "tool", "tool_call_id": call["id"], "content": "error: the arguments are not JSON"}
    if name not in table:
        content = f"error: there is no tool {name!r}"
    else:
        result = run(table[name], arguments)
        texts = [block["text"] if block["type"] == "text" else f"[{block['type']}]" for block in result["content"]]
        content = ("error: " if result.get("isError") else "") + "\n".join(texts)
    return {"role": "tool", "tool_call_id": call["id"], "content": content}
