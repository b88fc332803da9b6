# %% [markdown]
# Mistake: the id is looked at first, so a request of the server is taken for the reply with the same number.


# %% id="task2" answer=true
def read(stdout, send, tracker, inbox):
    """Sort every message of one server, until its output ends. Runs in a thread of its own."""
    for line in stdout:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict):
            continue
        future = tracker.take(message.get("id"))
        if future is not None:
            future.set_result(message)
        elif "method" in message and "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"]}
            if message["method"] == "ping":
                send(reply | {"result": {}})
            else:
                send(reply | {"error": {"code": -32601, "message": f"Method not found: {message['method']}"}})
        else:
            inbox.put(message)
    tracker.end("its output has ended")
    inbox.put(None)
