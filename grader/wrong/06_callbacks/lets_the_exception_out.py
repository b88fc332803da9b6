# %% [markdown]
# Mistake: only the user's refusal is caught; any other exception of a handler leaves the function.


# %% id="task3" answer=true
def outcome(handler, server, params):
    """How a handler ended: {"result": …} or {"error": …}; it never raises."""
    try:
        return {"result": handler(server, params)}
    except Refused as refusal:
        return {"error": {"code": -1, "message": str(refusal)}}
