# %% [markdown]
# Mistake: the reply carries an id that the client has counted, not the id of the server's request.


# %% id="task1" answer=true
own_ids = itertools.count(1)


def answer(message):
    """The reply to one message of the server; None where no reply is due."""
    if "id" not in message:
        return None
    reply = {"jsonrpc": "2.0", "id": next(own_ids)}
    if message["method"] == "ping":
        return reply | {"result": {}}
    return reply | {"error": {"code": -32601, "message": f"Method not found: {message['method']}"}}
