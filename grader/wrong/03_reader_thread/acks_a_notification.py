# %% [markdown]
# Mistake: each notification gets an answer, but it has no id to answer under.


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
        if "method" not in message:
            future = tracker.take(message.get("id"))
            if future is not None:
                future.set_result(message)
        elif "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"]}
            if message["method"] == "ping":
                send(reply | {"result": {}})
            else:
                send(reply | {"error": {"code": -32601, "message": f"Method not found: {message['method']}"}})
        else:
            inbox.put(message)
            send({"jsonrpc": "2.0", "id": None, "result": {}})
    tracker.end("its output has ended")
    inbox.put(None)
