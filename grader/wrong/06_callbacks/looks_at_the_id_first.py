# %% [markdown]
# Mistake: a message whose id is pending is taken for a reply, even if it is a request of the server with the
# same id.


# %% id="task4" answer=true
def on_message(client, message, answer):
    """Sort one message of the server. Runs on the reader thread, so it must not wait."""
    future = client.pending.pop(message.get("id"), None)
    if future is not None:
        future.set_result(message)
    elif "method" in message and "id" in message:
        threading.Thread(target=lambda: client.send(answer(message)), daemon=True).start()
