# %% [markdown]
# Mistake: the client is content with the reply and never says `notifications/initialized`.


# %% id="task2" answer=true
def handshake(process):
    """Open the session with a server that has just started; returns what it said of itself."""
    client = {"name": "exercise", "version": "1"}
    params = {"protocolVersion": main.PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}
    send(process, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    reply = receive(process)
    while reply is None or reply.get("id") != 1:
        reply = receive(process)
    if reply["result"]["protocolVersion"] != main.PROTOCOL_VERSION:
        raise ValueError("another revision")
    return reply["result"]
