# %% [markdown]
# Mistake: the client declares all three capabilities, whatever handlers it has.


# %% id="task2" answer=true
CAPABILITY = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}


def capabilities(handlers):
    """What the client declares: a capability for each handler, and nothing else."""
    return {name: {} for name in CAPABILITY.values()}


def answer_with(handlers, server, message):
    """The reply to a request of the server, by the handler for its method."""
    reply, method = {"jsonrpc": "2.0", "id": message["id"]}, message["method"]
    if method not in handlers:
        return reply | {"error": {"code": -32601, "message": f"Method not found: {method}"}}
    return reply | {"result": handlers[method](server, message.get("params", {}))}
