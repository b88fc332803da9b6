# %% [markdown]
# Mistake: after silence the server counts as old for good, even if it refuses `initialize` with -32022.


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
        return initialize()["protocolVersion"]
    except TimeoutError:
        return initialize()["protocolVersion"]
    return first_common(speaks, result["supportedVersions"])
