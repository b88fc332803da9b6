# %% [markdown]
# Mistake: the answer is made while the lock for writing is held, so nothing else can be sent meanwhile.


# %% id="task4" answer=true
def on_message(client, message, answer):
    """Sort one message of the server. Runs on the reader thread, so it must not wait."""

    def work():
        with client.lock:
            reply = answer(message)
        client.send(reply)

    if "method" not in message:
        future = client.pending.pop(message["id"], None)
        if future is not None:
            future.set_result(message)
    elif "id" in message:
        threading.Thread(target=work, daemon=True).start()
