# %% [markdown]
# Mistake: every error leads to `initialize`, also -32022, which only a new server sends.


# %% id="task2" answer=true
def open_session(discover, initialize, speaks):
    """Find out which revision the server speaks: the revision to use."""

    def again(error):
        version = first_common(speaks, error.data["supported"])
        discover(version)
        return version

    try:
        result = discover(speaks[0])
    except RpcError:
        return initialize()["protocolVersion"]
    except TimeoutError:
        try:
            return initialize()["protocolVersion"]
        except RpcError as error:
            if error.code == UNSUPPORTED_VERSION:
                return again(error)
            raise
    return first_common(speaks, result["supportedVersions"])
