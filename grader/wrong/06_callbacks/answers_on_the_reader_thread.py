# %% [markdown]
# Mistake: the answer is made on the reader thread; a reply that it waits for can then never be read.


# %% id="task4" answer=true
def on_message(client, message, answer):
    """Sort one message of the server. Runs on the reader thread, so it must not wait."""
    if "method" not in message:
        future = client.pending.pop(message["id"], None)
        if future is not None:
            future.set_result(message)
    elif "id" in message:
        client.send(answer(message))
