# %% [markdown]
# Mistake: server and tool are cut out of the model name, which may be made in another way.


# %% id="task2" answer=true
def answer(call, tools, run):
    """The message that answers one call of a model."""
    server, _, local = call["function"]["name"].partition("__")
    found = [tool for tool in tools if (tool.server_name, tool.local_name) == (server, local)]
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = None
    if not found:
        content = "error: there is no such tool; nothing was called"
    elif not isinstance(arguments, dict):
        content = "error: the arguments are not a JSON object; nothing was called"
    else:
        result = run(found[0], arguments)
        texts = [block["text"] if block["type"] == "text" else f"[{block['type']}]" for block in result["content"]]
        content = ("error: " if result.get("isError") else "") + "\n".join(texts)
    return {"role": "tool", "tool_call_id": call["id"], "content": content}
