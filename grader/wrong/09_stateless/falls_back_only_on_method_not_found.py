# %% [markdown]
# Mistake: only -32601 is taken for an old server; SDK 1.x answers -32602.


# %% id="task2" answer=true
def open_session(discover, initialize, speaks):
    """Find out which revision the server speaks: the revision to use."""

    def again(error):
        version = first_common(speaks, error.data["supported"])
        discover(version)
        return version

    try:
        result = discover(speaks[0])
    except RpcError as error:
        if error.code == UNSUPPORTED_VERSION:
            return again(error)
        if error.code != -32601:
            raise RuntimeError(f"the server refused: {error}") from error
        return initialize()["protocolVersion"]
    except TimeoutError:
        try:
            return initialize()["protocolVersion"]
        except RpcError as error:
            if error.code == UNSUPPORTED_VERSION:
                return again(error)
            raise
    return first_common(speaks, result["supportedVersions"])
