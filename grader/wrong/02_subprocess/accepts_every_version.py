# %% [markdown]
# Mistake: the version in the reply is never looked at; the client goes on in a revision that it does not speak.


# %% id="task2" answer=true
def handshake(process):
    """Open the session with a server that has just started; returns what it said of itself."""
    client = {"name": "exercise", "version": "1"}
    params = {"protocolVersion": main.PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}
    send(process, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    reply = receive(process)
    while reply is None or reply.get("id") != 1:
        reply = receive(process)
    send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return reply["result"]
