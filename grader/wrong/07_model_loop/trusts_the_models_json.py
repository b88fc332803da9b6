# %% [markdown]
# Mistake: the arguments are read without care, so a model that stops in the middle brings the host down.


# %% id="task2" answer=true
def answer(call, tools, run):
    """The message that answers one call of a model."""
    table = {tool.model_name: tool for tool in tools}
    name = call["function"]["name"]
    if name not in table:
        content = f"error: there is no tool {name!r}"
    else:
        result = run(table[name], json.loads(call["function"]["arguments"]))
        texts = [block["text"] if block["type"] == "text" else f"[{block['type']}]" for block in result["content"]]
        content = ("error: " if result.get("isError") else "") + "\n".join(texts)
    return {"role": "tool", "tool_call_id": call["id"], "content": content}
