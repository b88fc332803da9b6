# %% [markdown]
# Mistake: a request without a handler gets no reply at all, and the server waits.


# %% id="task2" answer=true
CAPABILITY = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}


def capabilities(handlers):
    """What the client declares: a capability for each handler, and nothing else."""
    return {CAPABILITY[method]: {} for method in handlers}


def answer_with(handlers, server, message):
    """The reply to a request of the server, by the handler for its method."""
    if message["method"] in handlers:
        result = handlers[message["method"]](server, message.get("params", {}))
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return None
