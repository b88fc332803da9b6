# %% [markdown]
# Mistake: after the deadline the id stays in the tracker: the map grows, and a late reply finds a waiting future.


# %% id="task4" answer=true
def request(client, method, params, timeout):
    """Send one request and wait for its result, at most `timeout` seconds."""
    request_id, future = client.tracker.add()
    client.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    try:
        reply = future.result(timeout)
    except TimeoutError:
        if method != "initialize":
            cancelled = {"requestId": request_id, "reason": "no reply in time"}
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
        raise TimeoutError(f"no reply to {method} within {timeout:g} s") from None
    if "error" in reply:
        raise RpcError(reply["error"]["code"], reply["error"]["message"])
    return reply["result"]
