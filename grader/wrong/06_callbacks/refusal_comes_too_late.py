# %% [markdown]
# Mistake: `except Exception` stands first, so a refusal of the user looks like a broken client.


# %% id="task3" answer=true
def outcome(handler, server, params):
    """How a handler ended: {"result": …} or {"error": …}; it never raises."""
    try:
        result = handler(server, params)
        if not isinstance(result, dict):
            raise TypeError(f"the handler returned no dict but {type(result).__name__}")
        return {"result": result}
    except Exception as error:
        return {"error": {"code": -32603, "message": f"{type(error).__name__}: {error}"}}
    except Refused as refusal:
        return {"error": {"code": -1, "message": str(refusal)}}
