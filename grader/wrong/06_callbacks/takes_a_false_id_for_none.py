# %% [markdown]
# Mistake: `message.get("id")` is asked for its truth, so a request with the id 0 is taken for a notification.


# %% id="task1" answer=true
def answer(message):
    """The reply to one message of the server; None where no reply is due."""
    if not message.get("id"):
        return None
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "ping":
        return reply | {"result": {}}
    return reply | {"error": {"code": -32601, "message": f"Method not found: {message['method']}"}}
