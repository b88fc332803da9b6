# %% [markdown]
# Mistake: a notification gets a reply too, with the id null, although nobody waits for one.


# %% id="task1" answer=true
def answer(message):
    """The reply to one message of the server; None where no reply is due."""
    reply = {"jsonrpc": "2.0", "id": message.get("id")}
    if "id" not in message or message["method"] == "ping":
        return reply | {"result": {}}
    return reply | {"error": {"code": -32601, "message": f"Method not found: {message['method']}"}}
