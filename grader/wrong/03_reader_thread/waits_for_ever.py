# %% [markdown]
# Mistake: the wait for the reply has no limit: the deadline is looked at only afterwards.


# %% id="task4" answer=true
def request(client, method, params, timeout):
    """Send one request and wait for its result, at most `timeout` seconds."""
    request_id, future = client.tracker.add()
    client.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    try:
        reply = future.result()
    except TimeoutError:
        client.tracker.take(request_id)
        if method != "initialize":
            cancelled = {"requestId": request_id, "reason": "no reply in time"}
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
        raise TimeoutError(f"no reply to {method} within {timeout:g} s") from None
    if "error" in reply:
        raise RpcError(reply["error"]["code"], reply["error"]["message"])
    return reply["result"]
